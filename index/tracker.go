package index

import (
	"fmt"
	"math"
	"slices"
)

// A change of a source while it is listed may hide a name that is there. Names
// are expunged after one listing around which the source stood still, or when
// they were missing in maxScans of them.
const maxScans = 4

// A Tracker holds a table and the listing that belongs to it. It is what
// assigns UIDs; where the table is kept is its owner's business.
type Tracker struct {
	table *Table
	list  Listing
	again Listing // a second look, see lookAgain
	rec   reconciler
	fresh bool // list and rec.entryOf belong to table

	glanced Glancer // its Fill completes list; nil: list is complete
	namer   Namer   // EntryInto asks it
	part    bool    // list and rec.entryOf belong to table, but have the newest rows only

	news News    // what a Journal told last
	rows []int32 // of news.Removed
}

// glance lists src, leaving out what Glancer.Fill can do later.
func (k *Tracker) glance(src Source) (err error) {
	k.fresh, k.part = false, false
	k.glanced, _ = src.(Glancer)
	if k.glanced == nil {
		return src.List(&k.list)
	}
	if err = k.glanced.Glance(&k.list); err != nil {
		k.glanced = nil
	}
	return err
}

// fill completes what glance left out.
func (k *Tracker) fill() {
	if k.glanced != nil {
		k.glanced.Fill(&k.list)
		k.glanced = nil
	}
}

// relist lists src completely.
func (k *Tracker) relist(src Source) error {
	k.fresh, k.part, k.glanced = false, false, nil
	return src.List(&k.list)
}

// Scanned is what a Tracker.Scan saw.
type Scanned struct {
	Changes
	State  State // to keep: the source was like this, or is to be listed again
	Digest Digest
}

// set makes t the table.
func (k *Tracker) set(t *Table) {
	k.table, k.rec.t, k.fresh, k.part = t, t, false, false
}

// Adopt starts a table from a uidlist (nil: an empty one) for a first Scan.
func (k *Tracker) Adopt(u *UIDListData) {
	t := &Table{UIDNext: 1, HighestModSeq: 1}
	if u != nil {
		t.UIDValidity, t.UIDNext = u.UIDValidity, u.UIDNext
		bytes := 0
		for i := range u.Entries {
			bytes += len(u.Entries[i].Key)
		}
		t.grow(len(u.Entries), bytes)
		for i := range u.Entries {
			t.add(&row{uid: u.Entries[i].UID, key: u.Entries[i].Key, modseq: 1})
		}
	}
	k.set(t)
}

// Table is the table.
func (k *Tracker) Table() *Table { return k.table }

// LastDelta tells the rows that the last Scan changed.
func (k *Tracker) LastDelta() *Delta { return &k.rec.delta }

// ErrNoUIDs: the 32-bit UIDs are used up. Only a new UIDVALIDITY helps.
var ErrNoUIDs = fmt.Errorf("index: no UIDs are left under this UIDVALIDITY")

// Scan lists src and brings the table up to date; before is src's State taken
// just now.
func (k *Tracker) Scan(src Source, before State) (s Scanned, err error) {
	if err := k.relist(src); err != nil {
		return s, err
	}
	return k.update(src, before)
}

// update is Scan after the listing.
func (k *Tracker) update(src Source, before State) (s Scanned, err error) {
	k.fresh = false
	k.table.settle()
	known := k.match(src)
	before, gone, known, err := k.settle(src, before, known)
	if err != nil {
		return s, err
	}
	if uint64(k.table.UIDNext)+uint64(len(k.list.Entries)-known) > math.MaxUint32 {
		return s, ErrNoUIDs
	}
	hidden := len(k.rec.gone) > len(gone)
	d := k.rec.apply(&k.list, known, gone, src)
	k.fresh, k.part = !k.rec.walked, k.rec.walked
	if k.rec.walked {
		k.glanced = src.(Glancer) // its Fill is still to come, if it is needed
	}
	s.Changes = Changes{Added: len(d.Added), Removed: len(d.Removed), Flagged: len(d.Flagged), Moved: len(d.Moved), Scanned: true}
	s.State, s.Digest = before, k.list.Digest
	if hidden { // something of the table was not in this listing: look again next time
		s.State.Racy, s.Digest = true, Digest{}
	}
	s.State.Busy = false // it matters only around a listing
	return s, nil
}

// match brings the listing, which may be a glance, and the table together.
func (k *Tracker) match(src Source) (known int) {
	if k.glanced != nil {
		w, ok := src.(Walker)
		_, named := src.(Namer)
		if ok && named && k.rec.walk(w, &k.list) {
			k.glanced = nil
			return 0
		}
		k.fill()
	}
	return k.rec.match(&k.list)
}

// settle decides which of the rows that were not seen are gone. It lists again
// while that is in doubt, so it returns the state and the number of known
// entries that go with k.list.
func (k *Tracker) settle(src Source, before State, known int) (State, []int32, int, error) {
	gone := slices.Clone(k.rec.gone)
	for scan := 1; len(gone) > 0; scan++ {
		after, err := src.State()
		if err != nil {
			return before, nil, 0, err
		}
		if after.Same(before) && !before.Busy || scan == maxScans {
			break
		}
		before = after
		same, err := k.lookAgain(src)
		if err != nil {
			return before, nil, 0, err
		}
		if same {
			continue // the same names are missing
		}
		known = k.match(src)
		gone = slices.DeleteFunc(gone, func(r int32) bool {
			_, still := slices.BinarySearch(k.rec.gone, r)
			return !still
		})
	}
	return before, gone, known, nil
}

// lookAgain lists src once more; same: it gave the names that k.list has.
func (k *Tracker) lookAgain(src Source) (same bool, err error) {
	g, ok := src.(Glancer)
	if !ok {
		return false, k.relist(src)
	}
	// Into another listing: the strings of k.list must live on if it stays.
	if err := g.Glance(&k.again); err != nil {
		return false, err
	}
	if k.again.Digest == k.list.Digest {
		return true, nil
	}
	k.list, k.again = k.again, k.list
	k.glanced = g
	return false, nil
}

// first is the first Scan of an adopted or empty table, which then has no history.
func (k *Tracker) first(src Source, before State) (Scanned, error) {
	if s, ok := src.(Seeder); ok && k.table.Len() == 0 {
		if done, err := k.sow(src, s); done || err != nil {
			before.Busy = false
			return Scanned{Changes: Changes{Added: k.table.Len(), Scanned: true, Rebuilt: true}, State: before, Digest: k.list.Digest}, err
		}
	} else if err := k.relist(src); err != nil {
		return Scanned{}, err
	}
	known := k.rec.match(&k.list)
	if uint64(k.table.UIDNext)+uint64(len(k.list.Entries)-known) > math.MaxUint32 {
		return Scanned{}, ErrNoUIDs
	}
	k.rec.apply(&k.list, known, slices.Clone(k.rec.gone), src)
	t, d := k.table, &k.rec.delta
	t.vanished, t.HighestModSeq = nil, 1
	for i := range t.modseq {
		t.modseq[i] = 1
	}
	d.reset()
	d.Added = slices.Grow(d.Added, t.Len())
	for i := range t.Len() {
		d.Added = append(d.Added, int32(i))
	}
	k.fresh = true
	before.Busy = false
	return Scanned{Changes: Changes{Added: t.Len(), Scanned: true, Rebuilt: true}, State: before, Digest: k.list.Digest}, nil
}

// sow fills the empty table from what src hands over in order. When that cannot
// be done, done is false and the listing complete.
func (k *Tracker) sow(src Source, s Seeder) (done bool, err error) {
	if err := k.glance(src); err != nil {
		return false, err
	}
	seed, ok := s.Seed(&k.list)
	if !ok {
		k.fill()
		return false, nil
	}
	t := k.table
	if uint64(t.UIDNext)+uint64(seed.Len()) > math.MaxUint32 {
		return false, ErrNoUIDs
	}
	t.sow(seed)
	d := &k.rec.delta
	d.reset()
	d.Added = slices.Grow(d.Added, t.Len())
	for i := range t.Len() {
		d.Added = append(d.Added, int32(i))
	}
	return true, nil
}

// Locate makes sure that a listing belongs to the table, listing src if need
// be, and returns the number of rows without an entry: messages that have gone
// since the last Scan. Entry works after it.
func (k *Tracker) Locate(src Source) (missing int, err error) {
	k.table.settle()
	if !k.fresh {
		// The listing of a Sync that found nothing changed will do.
		if k.glanced != nil {
			k.fill()
		} else if err := k.relist(src); err != nil {
			return 0, err
		}
		k.rec.match(&k.list)
		k.fresh, k.part = true, false
	}
	for _, e := range k.rec.entryOf {
		if e < 0 {
			missing++
		}
	}
	return missing, nil
}

// Naming makes EntryInto work: with a Namer nothing has to be listed for it, else
// it is Locate.
func (k *Tracker) Naming(src Source) error {
	k.namer = nil
	k.table.settle()
	if n, ok := src.(Namer); ok && !k.fresh {
		k.namer = n
		return nil
	}
	_, err := k.Locate(src)
	return err
}

// EntryInto is the source's entry of a row, nil if it has none: a listed one, or
// one that a Namer makes in e and buf. The buffer to use next comes back. Naming
// first; then it may be called from several goroutines.
func (k *Tracker) EntryInto(row int, e *Entry, buf []byte) (*Entry, []byte) {
	if k.namer == nil {
		return k.Entry(row), buf
	}
	if k.part {
		if e := k.Entry(row); e != nil {
			return e, buf
		}
	}
	t := k.table
	return e, k.namer.NameEntry(e, t.Key(row), t.flags[row], t.dir[row], t.Keywords(row), buf)
}

// Entry is the source's entry of a row, nil if it has none. Valid until the
// next Scan or Locate.
func (k *Tracker) Entry(row int) *Entry {
	if e := k.rec.entryOf[row]; e >= 0 {
		return &k.list.Entries[e]
	}
	return nil
}
