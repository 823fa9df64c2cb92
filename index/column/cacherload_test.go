package column

import (
	"testing"

	"mailbench/index/indextest"
	"mailbench/internal/fsys"
)

// A delivery that makes rows leaves columns of the others alone that it does not
// need, before and after somebody has asked for them, and the answers are right.
func TestCache_loadsLittle(t *testing.T) {
	d := &delivering{t: t, shelf: indextest.NewShelf()}
	dir := t.TempDir()
	d.open(dir, fsys.Unsynced(fsys.OS), "envelope")
	d.follow()
	d.shelf.Mute = true
	d.deliver(40)
	d.answers() // rows in all columns
	for round := range 3 {
		d.box.Close()
		d.open(dir, fsys.Unsynced(fsys.OS), "envelope")
		d.box.tailRows = 5
		for range 3 {
			d.deliver(6)
			st := d.box.st
			if st == nil || st.rows != d.n {
				t.Fatalf("round %d: no rows were made of what was delivered", round)
			}
			if st.hasDates || st.arrival != nil || st.size != nil || st.address[0].hasVal {
				t.Errorf("round %d: a delivery has loaded dates %t, arrival %t, size %t, senders %t", round, st.hasDates, st.arrival != nil, st.size != nil, st.address[0].hasVal)
			}
		}
		if got, want := d.answers(), d.want(); got != want {
			t.Fatalf("round %d:\ngot  %s\nwant %s", round, got, want)
		}
		d.deliver(6) // now they are loaded, and have to grow
		if st := d.box.st; st.hasDates && len(st.cols.date) != st.rows || st.arrival != nil && len(st.arrival) != st.rows {
			t.Fatalf("round %d: %d dates of %d rows", round, len(st.cols.date), st.rows)
		}
		if got, want := d.answers(), d.want(); got != want {
			t.Fatalf("round %d, with columns loaded:\ngot  %s\nwant %s", round, got, want)
		}
	}
	for err := range d.box.Check() {
		t.Error(err)
	}
	d.box.Close()
	d.ref.box.Close()
}
