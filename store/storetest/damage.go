package storetest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// torn: of the last append, a crash may leave any part: all earlier messages are
// there, and of its messages whole ones, the first of them.
func torn(t *testing.T, k *kit) {
	r := k.rand(400)
	cfg := k.config(t)
	st, m := k.open(t, cfg), newModel()
	for range 8 {
		k.walk(t, r, st, m)
	}
	old, was := readFiles(t, cfg.Dir), m.clone()
	msgs := []store.Message{k.newMessage(r), k.newMessage(r)}
	keys, err := st.Append(msgs)
	if err == nil {
		err = m.append(msgs, keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	now := readFiles(t, cfg.Dir)
	t.Cleanup(func() { st.Close() })
	tried := 0
	for _, name := range slices.Sorted(maps.Keys(now)) {
		from, grown := old[name]
		text := now[name]
		if slices.Contains(k.o.Behind, name) || !grown || !strings.HasPrefix(text, from) || text == from {
			continue // a new file is made to last before anything tells of it
		}
		step := max(1, (len(text)-len(from))/400)
		if long() {
			step = 1
		}
		for n := len(from); n < len(text); n += 1 + r.IntN(2*step-1) {
			f := maps.Clone(now)
			f[name] = text[:n]
			for _, behind := range k.o.Behind {
				f[behind] = old[behind]
			}
			dir := f.write(t, cfg.Dir)
			if wrong := k.judge(t, at(cfg, dir, quick), was, m); wrong != "" {
				t.Fatalf("%s cut at %d of %d, it had %d before: %s", name, n, len(text), len(from), wrong)
			}
			os.RemoveAll(dir)
			tried++
		}
	}
	if tried == 0 {
		for name := range now {
			if _, there := old[name]; !there {
				return // a file for each message, and nothing else
			}
		}
		t.Error("the append changed no file")
	}
	t.Logf("cut at %d places", tried)
}

// Damage is what became of a mailbox of which one byte was changed.
type Damage struct {
	Tried, Right, Errors, LostFlags, Wrong int
	First                                  string // wrong answer
}

func (d Damage) String() string {
	return fmt.Sprintf("flipped %d bytes: %d right, %d errors, %d lost flags, %d silently wrong %s", d.Tried, d.Right, d.Errors, d.LostFlags, d.Wrong, d.First)
}

// flipped: a changed byte of any file gives an error that names the file, or the
// right answer; or what Options allow.
func flipped(t *testing.T, k *kit) {
	r := k.rand(500)
	cfg := k.config(t)
	st, m := k.open(t, cfg), newModel()
	for range 10 {
		k.walk(t, r, st, m)
	}
	mustClose(t, st)
	good := readFiles(t, cfg.Dir)
	all := Damage{}
	for _, name := range slices.Sorted(maps.Keys(good)) {
		var d Damage
		step := max(1, len(good)*len(good[name])/300)
		if long() {
			step = 1
		}
		for off := r.IntN(step); off < len(good[name]); off += step {
			f := maps.Clone(good)
			b := []byte(good[name])
			b[off] ^= 1 << r.IntN(8)
			f[name] = string(b)
			dir := f.write(t, cfg.Dir)
			k.look(t, at(cfg, dir, quick), m, &d, fmt.Sprintf("%s, byte %d of %d", name, off, len(b)))
			os.RemoveAll(dir)
		}
		if d.Wrong > 0 && all.First == "" {
			all.First = d.First
		}
		all.Tried, all.Right, all.Errors = all.Tried+d.Tried, all.Right+d.Right, all.Errors+d.Errors
		all.LostFlags, all.Wrong = all.LostFlags+d.LostFlags, all.Wrong+d.Wrong
	}
	t.Log(all)
	if all.Tried == 0 {
		t.Error("nothing was tried")
	}
	if all.Wrong > 0 && !k.o.TrustsDisk || all.LostFlags > 0 && !k.o.LosesFlags {
		t.Error("damage changes answers without a word")
	}
}

// look opens a damaged mailbox and reads everything.
func (k *kit) look(t *testing.T, cfg store.Config, m *model, d *Damage, where string) {
	t.Helper()
	d.Tried++
	wrong := func(format string, args ...any) {
		d.Wrong++
		if d.First == "" {
			d.First = where + ": " + fmt.Sprintf(format, args...)
		}
	}
	clear := func(err error) {
		if !strings.Contains(err.Error(), filepath.Base(cfg.Dir)) && !strings.Contains(err.Error(), "message") {
			t.Errorf("%s: the error names no file and no message: %v", where, err)
		}
		d.Errors++
	}
	st, err := store.Open(k.f, cfg)
	if err != nil {
		clear(err)
		return
	}
	defer st.Close()
	src := st.Source()
	var l index.Listing
	if err := src.List(&l); err != nil {
		clear(err)
		return
	}
	if len(l.Problems) > 0 {
		clear(l.Problems[0])
		return
	}
	src.Order(l.Entries)
	flags, failed := false, error(nil)
	seen := map[string]bool{}
	for i := range l.Entries {
		e := &l.Entries[i]
		seen[strings.Clone(e.Key)] = true
		want, there := m.ever[e.Key]
		at := m.find(e.Key)
		if !there || at < 0 && !k.o.LosesFlags {
			wrong("message %s was not there", e.Key)
			return
		}
		b, err := src.ReadMessage(e, nil)
		if err != nil {
			failed = err
			continue
		}
		if string(b) != string(want.body) {
			wrong("message %s is another", e.Key)
			return
		}
		flags = flags || at < 0 || e.Flags != m.msgs[at].flags || e.Keywords != m.msgs[at].keywords
	}
	missing := slices.ContainsFunc(m.msgs, func(x message) bool { return !seen[x.key] })
	if failed == nil && missing {
		for err := range st.Check() { // a message that is left out is told of
			failed = err
			break
		}
	}
	switch {
	case failed != nil:
		clear(failed)
	case missing:
		wrong("%d messages of %d", len(seen), len(m.msgs))
	case flags:
		d.LostFlags++
	default:
		d.Right++
	}
}
