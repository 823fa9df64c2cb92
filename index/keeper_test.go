package index

import "testing"

// memKeeper keeps a table in memory.
type memKeeper struct {
	known Known
	table *Table
	saved func(t *Table, d *Delta, c Changes)
}

func (k *memKeeper) Known() (Known, bool, error) { return k.known, k.table != nil, nil }
func (k *memKeeper) Load() (*Table, error)       { return k.table, nil }
func (k *memKeeper) Note(known Known) error      { k.known = known; return nil }
func (k *memKeeper) Save(t *Table, d *Delta, known Known, c Changes) error {
	k.saved(t, d, c)
	k.table, k.known = t, known
	return nil
}

// The table that Save gets is the one of Load, with the change already made.
func TestFollow_savesTheLoadedTable(t *testing.T) {
	src := newMemSource()
	src.deliver("1.a.h")
	src.deliver("2.b.h")
	var track Tracker
	none := func() *UIDListData { return nil }
	saves := 0
	keep := &memKeeper{saved: func(got *Table, d *Delta, c Changes) {
		if saves++; got.Len() != 2 || !c.Rebuilt || len(d.Added) != 2 {
			t.Errorf("first: %d rows, %+v, %+v", got.Len(), d, c)
		}
	}}
	if _, err := track.Follow(src, keep, none); err != nil {
		t.Fatal(err)
	}
	loaded := keep.table
	delete(src.msgs, "1.a.h")
	src.deliver("3.c.h")
	src.tick++
	keep.saved = func(got *Table, d *Delta, c Changes) {
		saves++
		if got != loaded {
			t.Error("another table than Load's")
		}
		if got.Len() != 2 || string(got.Key(0)) != "2.b.h" || string(got.Key(1)) != "3.c.h" {
			t.Errorf("%d rows: the change is not made", got.Len())
		}
		if len(d.Added) != 1 || d.Added[0] != 1 || len(d.Removed) != 1 || d.Removed[0] != 1 {
			t.Errorf("%+v", d)
		}
	}
	if _, err := track.Follow(src, keep, none); err != nil || saves != 2 {
		t.Fatal(saves, err)
	}
}
