package storetest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// Cut: the file of that name, which tells what mail there is, loses its end, at
// any byte. It is opened with what is left, or an error tells it; either way the
// bytes of every message that was there stay in the directory, also after appends,
// Purge and openings, and no message gets the key of one of them.
func Cut(t *testing.T, f store.Format, o Options, list string) {
	k := &kit{f: f, o: o, seed: 1, base: memory(t)}
	if *seedFlag != 0 {
		k.seed = *seedFlag
	}
	opened, refused := 0, 0
	for _, closed := range []bool{true, false} {
		r := k.rand(700)
		cfg := k.config(t)
		st, m := k.open(t, cfg), newModel()
		for i := range 24 {
			k.walk(t, r, st, m)
			if i%9 == 8 {
				mustClose(t, st)
				st = k.open(t, cfg)
			}
		}
		if closed {
			mustClose(t, st)
		} else {
			t.Cleanup(func() { st.Close() })
		}
		good := readFiles(t, cfg.Dir)
		step := max(1, len(good[list])/400)
		if long() {
			step = 1
		}
		for n := len(good[list]) - 1; n >= 0; n -= step {
			fs := readFiles(t, cfg.Dir)
			fs[list] = fs[list][:n]
			dir := k.write(t, fs, cfg.Dir)
			if k.cut(t, at(cfg, dir, quick), m, n) {
				opened++
			} else {
				refused++
			}
			os.RemoveAll(dir)
		}
	}
	t.Logf("opened %d, refused %d", opened, refused)
	if opened == 0 {
		t.Error("nothing was opened: this test cannot fail")
	}
}

// cut opens a mailbox whose list was cut at n, goes on with it, and looks for the
// bytes of the messages of m. opened false: it was refused.
func (k *kit) cut(t *testing.T, cfg store.Config, m *model, n int) (opened bool) {
	t.Helper()
	for range 3 { // append and purge; the same; look
		st, err := store.Open(k.f, cfg)
		if err != nil {
			if opened || !strings.Contains(err.Error(), cfg.Dir) {
				t.Fatalf("cut at %d, opened %v before: %v", n, opened, err)
			}
			break
		}
		opened = true
		var l index.Listing
		if err := st.Source().List(&l); err != nil {
			t.Fatal(err)
		}
		msg := store.Message{Body: []byte("Subject: new\n\nnew\n"), Date: 1}
		keys, err := st.Append([]store.Message{msg, msg})
		if err != nil {
			t.Fatalf("cut at %d: append: %v", n, err)
		}
		if slices.ContainsFunc(keys, func(key string) bool { return m.find(key) >= 0 }) {
			t.Fatalf("cut at %d: keys %v are those of other mail", n, keys)
		}
		st.Purge() // may tell what is missing
		mustClose(t, st)
	}
	after := strings.Builder{}
	for _, text := range readFiles(t, cfg.Dir) {
		after.WriteString(text)
	}
	for _, x := range m.msgs {
		if !strings.Contains(after.String(), string(x.body)) {
			t.Fatalf("cut at %d: the bytes of message %s are gone", n, x.key)
		}
	}
	return opened
}
