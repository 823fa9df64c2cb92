package catalog

import (
	"path/filepath"
	"testing"

	"mailbench/internal/fsys"
)

// TestList_lateIDsLast: a message that comes into the list behind one with a
// higher id, or behind a compaction that knew of its id, is on disk when Add
// returns. Lost from the list, its file would be taken for left over.
func TestList_lateIDsLast(t *testing.T) {
	counted := fsys.Counting(fsys.Unsynced(fsys.OS))
	cat := New("sdbox", "x", nil)
	l, err := CreateList(counted, filepath.Join(t.TempDir(), "list"), cat, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Reserve(3)
	add := func(id uint64, want int64) {
		t.Helper()
		before := counted.Counts().Syncs
		if err := l.Add([]Row{{Key: IDKey(id), Size: 1, VSize: 1}}, false); err != nil {
			t.Fatal(err)
		}
		if got := counted.Counts().Syncs - before; got != want {
			t.Errorf("id %d: %d syncs, want %d", id, got, want)
		}
	}
	add(2, 0)
	add(1, 1)
	add(3, 0)
	late := l.Reserve(1)
	if err := l.Compact(); err != nil {
		t.Fatal(err)
	}
	add(late, 1)
	add(l.Reserve(1), 0)
}
