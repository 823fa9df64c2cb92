package indextest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"mailbench/index"
)

// checked: Check yields nothing of an index that is well or not there yet. Of
// a design that detects damage it is not the asking alone that does: a bit that
// makes Sync build anew, or anything return an error, Check tells of when it
// is called in place of Sync, if Open has not told already. Damage that is
// repaired without a word, as that of a cache may be, and bytes that nothing
// depends on need not be told of.
func checked(t T, k *kit) {
	root := t.TempDir()
	dir := filepath.Join(root, "index")
	m := newMailbox(t, k.rand(650))
	box := k.mustOpen(t, m, dir)
	mustCheck(t, box, "opened, nothing is there yet")
	mustClose(t, box)
	m = k.small(t, 650, dir)
	box = k.mustOpen(t, m, dir)
	mustCheck(t, box, "opened, all is well")
	mustClose(t, box)
	if k.d.Integrity() != index.DetectsDamage {
		return
	}
	good := readDir(t, dir)
	for _, name := range slices.Sorted(maps.Keys(good)) {
		step := max(1, len(good[name])/50)
		if k.o.Exhaustive {
			step = 1
		}
		tried, matter := 0, 0
		for at := m.r.IntN(step); at < len(good[name]); at += step {
			b := []byte(good[name])
			b[at] ^= 1 << m.r.IntN(8)
			f := maps.Clone(good)
			f[name] = string(b)
			tried++
			how := k.noticed(t, m, f, root)
			if how == "" {
				continue
			}
			matter++
			if !k.tells(t, m, f, root) {
				t.Fatalf("%s, byte %d of %d damaged: Check yields nothing, though after Sync %s", name, at, len(b), how)
			}
		}
		t.Logf("%s: %d of %d flipped bits matter, and are told of", name, matter, tried)
	}
}

// noticed says how the damage of an index that opens was noticed by syncing and
// asking, if it was.
func (k *kit) noticed(t T, m *mailbox, f files, root string) (how string) {
	t.Helper()
	dir := f.write(t, root)
	defer os.RemoveAll(dir)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			how = fmt.Sprintf("there is a panic: %v", p)
		}
	}()
	box, err := k.open(m, dir, quick)
	if err != nil {
		return ""
	}
	defer box.Close()
	c, err := box.Sync()
	if err == nil && c.Rebuilt {
		return "it is built anew"
	}
	if err == nil {
		_, err = m.answersWrong(box, true)
	}
	if err != nil {
		return "there is an error: " + err.Error()
	}
	return ""
}

// tells says whether Open or Check tell of a damaged index.
func (k *kit) tells(t T, m *mailbox, f files, root string) (told bool) {
	t.Helper()
	dir := f.write(t, root)
	defer os.RemoveAll(dir)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			told = true
		}
	}()
	box, err := k.open(m, dir, quick)
	if err != nil {
		return true
	}
	defer box.Close()
	for range box.Check() {
		return true
	}
	return false
}
