package column

import (
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/fsys"
	"mailbench/thread"
)

// Strings that get their numbers are compared, and Counts tells.
func TestCounts_compares(t *testing.T) {
	d := &delivering{t: t, shelf: indextest.NewShelf()}
	d.open(t.TempDir(), fsys.Unsynced(fsys.OS), "envelope")
	defer d.box.Close()
	d.deliver(50)
	if n := d.box.Counts()["compares"]; n != 0 {
		t.Errorf("%d comparisons before anybody asked", n)
	}
	if _, err := d.box.Thread(thread.References, index.Search{}); err != nil {
		t.Fatal(err)
	}
	if n := d.box.Counts()["compares"]; n < 10 {
		t.Errorf("%d comparisons of the subjects of 50 messages", n)
	}
}
