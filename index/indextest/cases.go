package indextest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// history: whatever happens, a Sync makes the answers those of the oracle.
func history(t *testing.T, k *kit) {
	for round := range uint64(4) {
		r := k.rand(round)
		m := newMailbox(t, r)
		dir := filepath.Join(t.TempDir(), "index")
		box := k.mustOpen(t, m, dir)
		seen := uidsSeen{}
		for step := range 40 {
			what := fmt.Sprintf("round %d step %d:", round, step)
			for range r.IntN(5) {
				what += " " + m.mutate()
			}
			switch r.IntN(8) {
			case 0:
				what += " compact"
				mustSync(t, box)
				if err := box.Compact(); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			case 1, 2:
				what += " reopen"
				if err := box.Close(); err != nil {
					t.Fatal(err)
				}
				box = k.mustOpen(t, m, dir)
			case 3:
				what += " settle"
				m.settle()
			}
			c := mustSync(t, box)
			if c.Rebuilt && step > 0 {
				t.Fatalf("%s: rebuilt", what)
			}
			m.mustAnswer(t, box, r.IntN(3) > 0, what)
			if wrong := seen.wrong(box); wrong != "" {
				t.Fatalf("%s: %s", what, wrong)
			}
			mustCheck(t, box, what)
		}
		if err := box.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// rebuilt: an index that has grown answers like one that is built from nothing.
func rebuilt(t *testing.T, k *kit) {
	m := newMailbox(t, k.rand(100))
	dir := filepath.Join(t.TempDir(), "index")
	for range 8 {
		for range 10 {
			m.mutate()
		}
		k.build(t, m, dir)
	}
	k.build(t, m, filepath.Join(t.TempDir(), "fresh"))
}

// reopened: ten times opening, asking and closing changes no byte on disk.
func reopened(t *testing.T, k *kit) {
	m := newMailbox(t, k.rand(200))
	for range 30 {
		m.deliver()
	}
	dir := filepath.Join(t.TempDir(), "index")
	k.build(t, m, dir)
	for range 10 {
		m.mutate()
	}
	m.settle()
	k.build(t, m, dir)
	k.build(t, m, dir)
	before := readDir(t, dir)
	for i := range 10 {
		k.build(t, m, dir)
		if after := readDir(t, dir); !maps.Equal(before, after) {
			for name := range after {
				if before[name] != after[name] {
					t.Errorf("%s has changed: %d bytes, before %d", name, len(after[name]), len(before[name]))
				}
			}
			t.Fatalf("reopening %d wrote", i)
		}
	}
}

// sameSecond: mail that comes without a change of the directory's time, as on
// file systems with coarse times, is noticed when the time was young.
func sameSecond(t *testing.T, k *kit) {
	m := newMailbox(t, k.rand(300))
	dir := filepath.Join(t.TempDir(), "index")
	m.deliver()
	for i := range 5 {
		now := time.Now()
		stamp := func() {
			for _, d := range []string{"cur", "new"} {
				if err := os.Chtimes(filepath.Join(m.path, d), now, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		stamp()
		box := k.mustOpen(t, m, dir)
		mustSync(t, box)
		if i%2 == 0 {
			m.deliver()
		} else {
			m.setFlags(m.msgs[m.r.IntN(len(m.msgs))], "FS")
		}
		stamp()
		mustSync(t, box)
		m.mustAnswer(t, box, true, fmt.Sprintf("change %d under the same directory time", i))
		box.Close()
		// Time that goes back is a change like any other.
		m.deliver()
		m.settle()
		k.build(t, m, dir)
	}
}

// swapped: files that are missing, empty, from another mailbox or older than
// the others are noticed.
func swapped(t *testing.T, k *kit) {
	m := newMailbox(t, k.rand(400))
	for range 12 {
		m.deliver()
	}
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	k.build(t, m, dir)
	older := readDir(t, dir)
	for range 6 {
		m.mutate()
	}
	m.settle()
	k.build(t, m, dir)
	good := readDir(t, dir)
	other := newMailbox(t, k.rand(401))
	for range 9 {
		other.deliver()
	}
	otherDir := filepath.Join(root, "other")
	k.build(t, other, otherDir)
	foreign := readDir(t, otherDir)

	for name := range good {
		for what, with := range map[string]*string{"missing": nil, "empty": new(string), "another mailbox's": ptr(foreign, name), "an older one": ptr(older, name)} {
			f := maps.Clone(good)
			delete(f, name)
			if with != nil {
				f[name] = *with
			}
			k.mustSurvive(t, m, f.write(t, root), name+" is "+what)
		}
	}
}

func ptr(f files, name string) *string {
	s, ok := f[name]
	if !ok {
		return nil
	}
	return &s
}

// mustSurvive opens a damaged index: after a Sync, answers are right, perhaps
// after an error and another attempt.
func (k *kit) mustSurvive(t *testing.T, m *mailbox, dir, when string) {
	t.Helper()
	var last error
	for range 3 {
		box, err := k.open(m, dir, quick)
		if err != nil {
			last = err
			continue
		}
		_, err = box.Sync()
		wrong := ""
		if err == nil {
			wrong, err = m.answersWrong(box, true)
		}
		box.Close()
		if wrong != "" {
			t.Fatalf("%s: %s", when, wrong)
		}
		if err == nil {
			return
		}
		last = err
	}
	t.Fatalf("%s: never usable again: %v", when, last)
}

// twoReaders: a reader that was open before another compacts or syncs stays
// right, or says that it is stale and is right when opened again.
func twoReaders(t *testing.T, k *kit) {
	m := newMailbox(t, k.rand(500))
	for range 20 {
		m.deliver()
	}
	dir := filepath.Join(t.TempDir(), "index")
	k.build(t, m, dir)
	for i := range 6 {
		a, b := k.mustOpen(t, m, dir), k.mustOpen(t, m, dir)
		if i%2 == 0 {
			mustSync(t, a)
			m.mustAnswer(t, a, true, "before the other compacts")
		}
		mustSync(t, b)
		if err := b.Compact(); err != nil {
			t.Fatal(err)
		}
		if wrong, err := m.answersWrong(a, true); wrong != "" {
			t.Fatalf("while another compacts: %s (%v)", wrong, err)
		}
		m.mutate()
		mustSync(t, b)
		m.mustAnswer(t, b, true, "the one that compacted")
		if _, err := a.Sync(); err == nil {
			m.mustAnswer(t, a, true, "the one that did not compact")
		}
		a.Close()
		b.Close()
		k.mustSurvive(t, m, dir, "after two readers")
	}
}
