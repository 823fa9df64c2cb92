package indextest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// tail: the last write of a Sync, and of the asking after it, to each file is
// cut at every byte. Whatever a design says of its integrity, what a crash
// leaves gives right answers, under the UIDs of before, or a clear error.
func tail(t T, k *kit) {
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	m := k.small(t, 720, dir)
	promised := k.promises(t, m, dir)
	before := readDir(t, dir)
	m.deliver()
	m.expunge(m.msgs[1])
	m.setFlags(m.msgs[2], "F", "b")
	m.settle()
	if index.AxesOf(k.d).OwnIO {
		k.tailOfFiles(t, m, root, dir, before, promised)
		return
	}
	log, err := fsys.NewLog(fsys.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	box, err := k.open(m, dir, fsys.Recording(quick, log))
	if err != nil {
		t.Fatal(err)
	}
	mustSync(t, box)
	m.mustAnswer(t, box, false, "before any cut")
	mustClose(t, box)
	last := map[string]int{}
	for i, e := range log.Events() {
		if e.Op == fsys.OpWrite {
			last[e.Name] = i
		}
	}
	if len(last) == 0 {
		t.Fatalf("a Sync that found changes wrote nothing")
	}
	w := k.wounds(t, "tail", m, root, nil, promised)
	for _, name := range slices.Sorted(maps.Keys(last)) {
		e := log.Events()[last[name]]
		x := filepath.Join(root, "before")
		if err := log.Replay(x, last[name], fsys.Crash{}); err != nil {
			t.Fatal(err)
		}
		w.good = readDir(t, x)
		os.RemoveAll(x)
		old := w.good[name]
		for _, n := range k.places(len(e.Data), k.o.sample(240)) {
			b := []byte(old)
			if missing := int(e.Off) + n - len(b); missing > 0 {
				b = append(b, make([]byte, missing)...)
			}
			copy(b[e.Off:], e.Data[:n])
			w.cut(t, name, string(b), fmt.Sprintf("the write of %d bytes to %s cut at %d", len(e.Data), name, n))
		}
	}
	t.Logf("%v", w.Damage)
}

// tailOfFiles does what can be done to a design whose engine writes: each file
// that has grown, as it is after the Sync while its handle is open and after
// Close, is cut at every byte of what it has grown by.
func (k *kit) tailOfFiles(t T, m *mailbox, root, dir string, before files, promised *uidsSeen) {
	t.Helper()
	box := k.mustOpen(t, m, dir)
	mustSync(t, box)
	open := readDir(t, dir)
	m.mustAnswer(t, box, true, "before any cut")
	mustClose(t, box)
	w := k.wounds(t, "tail", m, root, nil, promised)
	for _, after := range []files{open, readDir(t, dir)} {
		w.good = after
		for _, name := range slices.Sorted(maps.Keys(after)) {
			b, from := after[name], len(before[name])
			for _, n := range k.places(len(b)-from, k.o.sample(150)) {
				w.cut(t, name, b[:from+n], fmt.Sprintf("%s, grown from %d to %d bytes, cut at %d", name, from, len(b), from+n))
			}
		}
	}
	t.Logf("%v", w.Damage)
}

// cut is try, for every design.
func (w *wounds) cut(t T, name, with, when string) {
	t.Helper()
	wrong := w.Wrong + w.Panics
	w.strict = true
	if w.try(t, name, with, when); w.Wrong+w.Panics > wrong {
		t.Fatalf("%s", w.First)
	}
}

// places are the numbers below n, or most of them evenly spread and all of the
// last 32; Exhaustive has all.
func (k *kit) places(n, most int) (out []int) {
	step := max(1, n/most)
	if k.o.Exhaustive {
		step = 1
	}
	for i := 0; i < n; i++ {
		if i%step == 0 || n-i <= 32 {
			out = append(out, i)
		}
	}
	return out
}
