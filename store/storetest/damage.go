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
	"mailbench/internal/fsys"
	"mailbench/store"
)

// torn: a crash cuts any write of the last append at any byte: all earlier
// messages are there, and of its own whole ones.
func torn(t *testing.T, k *kit) {
	s := k.tell(t, 400, 9, false)
	r := k.rand(401)
	st, m := k.open(t, s.cfg), s.after[len(s.after)-1].clone()
	t.Cleanup(func() { st.Close() })
	from, was := s.log.Len(), m.clone()
	msgs := []store.Message{k.newMessage(r), k.newMessage(r)}
	keys, err := st.Append(msgs)
	if err == nil {
		err = m.append(msgs, keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	writes, tried := 0, 0
	for n, e := range s.log.Events()[from:] {
		if e.Op != fsys.OpWrite {
			continue
		}
		writes++
		step := 1
		if !long() {
			step = 1 + len(e.Data)/120
		}
		for cut := 0; cut < len(e.Data); cut += step {
			dir, err := os.MkdirTemp(k.temp(t), "torn")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.log.Replay(dir, from+n, fsys.Crash{}); err != nil {
				t.Fatal(err)
			}
			part(t, filepath.Join(dir, filepath.FromSlash(e.Name)), e.Off, e.Data[:cut])
			if wrong := k.judge(t, at(s.cfg, dir, quick), was, m); wrong != "" {
				t.Fatalf("write of %d bytes at %d of %s, cut at %d: %s", len(e.Data), e.Off, e.Name, cut, wrong)
			}
			os.RemoveAll(dir)
			tried++
		}
	}
	if tried == 0 {
		t.Error("the append wrote nothing")
	}
	t.Logf("%d writes, cut at %d places", writes, tried)
}

// part writes the first bytes of a write.
func part(t *testing.T, name string, off int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		if _, err = f.WriteAt(b, off); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
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
			dir := k.write(t, f, cfg.Dir)
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
