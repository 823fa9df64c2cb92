package index

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A change of a source while it is listed may hide a name that is there. Names
// are expunged after one listing around which the source stood still, or when
// they were missing in maxScans of them.
const maxScans = 4

// Sync brings the index up to date with src and on disk. Nothing changed: one
// State (a stat or two), or, if the State differs but the names do not, one
// listing. Damage, or no index: everything is built anew (Changes.Rebuilt),
// with a greater UIDVALIDITY. On an error the index is as it was.
func (b *Base) Sync(src Source) (Changes, error) {
	c, err := b.sync(src)
	if err != nil {
		b.table, b.fresh = nil, false
		b.seen[0].Size = -1 // open again before anything else
	}
	return c, err
}

func (b *Base) sync(src Source) (Changes, error) {
	if err := b.refresh(); err != nil {
		return Changes{}, err
	}
	before, err := src.State()
	if err != nil {
		return Changes{}, err
	}
	if b.exists && b.damage == nil && !b.sum.state.Racy && b.sum.state.Same(before) {
		return Changes{}, nil
	}
	if !b.exists || b.damage != nil {
		return b.rebuild(src, before)
	}
	b.fresh = false
	if err := src.List(&b.list); err != nil {
		return Changes{}, err
	}
	if b.list.Digest == b.sum.digest {
		return Changes{Scanned: true}, b.note(before)
	}
	t, err := b.Table()
	if errors.Is(err, ErrCorrupt) {
		return b.rebuild(src, before)
	}
	if err != nil {
		return Changes{}, err
	}
	b.rec.t = t
	known := b.rec.match(&b.list)
	before, gone, known, err := b.settle(src, before, known)
	if err != nil {
		return Changes{}, err
	}
	if uint64(t.UIDNext)+uint64(len(b.list.Entries)-known) > math.MaxUint32 {
		return b.rebuild(src, before)
	}
	hidden := len(b.rec.gone) > len(gone)
	d := b.rec.apply(&b.list, known, gone, src.Order)
	b.fresh = true
	c := Changes{Added: len(d.Added), Removed: len(d.Removed), Flagged: len(d.Flagged), Moved: len(d.Moved), Scanned: true}

	sum := b.sum
	sum.take(t)
	sum.state, sum.digest = before, b.list.Digest
	if hidden { // something of the table was not in this listing: look again next time
		sum.state.Racy, sum.digest = true, Digest{}
	}
	return c, b.persist(t, d, sum)
}

// settle decides which of the rows that were not seen are gone. It lists again
// while that is in doubt, so it returns the state and the number of known
// entries that go with b.list.
func (b *Base) settle(src Source, before State, known int) (State, []int32, int, error) {
	gone := slices.Clone(b.rec.gone)
	for scan := 1; len(gone) > 0; scan++ {
		after, err := src.State()
		if err != nil {
			return before, nil, 0, err
		}
		if after.Same(before) && !before.Busy || scan == maxScans {
			break
		}
		before = after
		if err := src.List(&b.list); err != nil {
			return before, nil, 0, err
		}
		known = b.rec.match(&b.list)
		gone = slices.DeleteFunc(gone, func(r int32) bool {
			_, still := slices.BinarySearch(b.rec.gone, r)
			return !still
		})
	}
	return before, gone, known, nil
}

// note remembers the state of a source whose names have not changed.
func (b *Base) note(state State) error {
	if b.sum.state == state {
		return nil
	}
	sum := b.sum
	sum.state = state
	rec := appendRecord(nil, b.nextSeq(), kindNote, sum.append(nil))
	return b.appendRecord(rec, sum, true)
}

// nextSeq is the sequence number of the next record: a note's is used again.
func (b *Base) nextSeq() uint64 {
	if b.logst.note > 0 {
		return b.logst.seq
	}
	return b.logst.seq + 1
}

// persist puts a change on disk: in the log, or, if that gets long, in a new base.
func (b *Base) persist(t *Table, d *Delta, sum summary) error {
	if d.empty() && sum.state == b.sum.state && sum.digest == b.sum.digest {
		return nil
	}
	if len(d.Added)+len(d.Removed)+len(d.Flagged)+len(d.Moved) <= maxRecord/8 { // a row takes about 8 bytes and more
		payload := appendOps(sum.append(nil), t, d)
		if n := int64(recHead + len(payload) + recTail); n <= maxRecord && b.logst.size+n <= max(256<<10, b.baseSize/8) {
			return b.appendRecord(appendRecord(nil, b.nextSeq(), kindChange, payload), sum, false)
		}
	}
	old := b.sum
	b.sum = sum
	err := b.save(t)
	if err != nil {
		b.sum = old
	}
	return err
}

func (b *Base) appendRecord(rec []byte, sum summary, note bool) error {
	in, err := b.look()
	if err != nil {
		return err
	}
	if in != b.seen {
		return ErrStale
	}
	st := b.logst
	if err := appendLog(b.fs, b.log, &st, logHeader(b.id, b.generation, sum.uidValidity), rec, note); err != nil {
		return err
	}
	b.logst, b.sum = st, sum
	b.seen, err = b.look()
	return err
}

// Rebuild throws the index away and builds it anew: greater UIDVALIDITY, UIDs
// from 1 in the source's order or as the uidlist says.
func (b *Base) Rebuild(src Source) (Changes, error) {
	before, err := src.State()
	if err != nil {
		return Changes{}, err
	}
	c, err := b.rebuild(src, before)
	if err != nil {
		b.table, b.fresh = nil, false
		b.seen[0].Size = -1
	}
	return c, err
}

func (b *Base) rebuild(src Source, before State) (Changes, error) {
	if err := src.List(&b.list); err != nil {
		return Changes{}, err
	}
	t := &Table{UIDNext: 1}
	list := b.readUIDList(src)
	want := uint32(0)
	if list != nil {
		want = list.UIDValidity
		t.UIDNext = list.UIDNext
		for i := range list.Entries {
			t.add(&row{uid: list.Entries[i].UID, key: list.Entries[i].Key})
		}
	}
	b.rec.t = t
	known := b.rec.match(&b.list)
	if uint64(t.UIDNext)+uint64(len(b.list.Entries)-known) > math.MaxUint32 {
		if list == nil {
			return Changes{}, fmt.Errorf("index: %d messages: no UIDs are left", len(b.list.Entries))
		}
		t, want = &Table{UIDNext: 1}, 0
		b.rec.t = t
		known = b.rec.match(&b.list)
	}
	v, err := b.draw(want)
	if err != nil {
		return Changes{}, err
	}
	t.UIDValidity = v
	b.rec.apply(&b.list, known, slices.Clone(b.rec.gone), src.Order)
	// A new index has no history.
	t.vanished, t.HighestModSeq = nil, 1
	for i := range t.modseq {
		t.modseq[i] = 1
	}
	d := &b.rec.delta
	d.reset()
	for i := range t.Len() {
		d.Added = append(d.Added, int32(i))
	}
	b.table, b.fresh = t, true
	b.sum.take(t)
	b.sum.state, b.sum.digest = before, b.list.Digest
	return Changes{Added: t.Len(), Scanned: true, Rebuilt: true}, b.save(t)
}

// readUIDList reads the uidlist to adopt; nil when there is none or when it is
// damaged: its UIDs are lost then.
func (b *Base) readUIDList(src Source) *UIDListData {
	name := b.opt.UIDList
	switch name {
	case "none":
		return nil
	case "":
		var ok bool
		if name, ok = src.UIDList(); !ok {
			return nil
		}
	}
	text, err := readFile(b.fs, name)
	if err != nil {
		return nil
	}
	u, err := ParseUIDList(text)
	if err != nil {
		return nil
	}
	return u
}

// LastDelta tells the rows that the last Sync of this Base changed.
func (b *Base) LastDelta() *Delta { return &b.rec.delta }

// Locate makes sure that a listing belongs to the table, listing src if need
// be, and returns the number of rows that have no entry because they have gone
// since the last Sync. Entry works after it.
func (b *Base) Locate(src Source) (missing int, err error) {
	t, err := b.Table()
	if err != nil {
		return 0, err
	}
	if !b.fresh {
		if err := src.List(&b.list); err != nil {
			return 0, err
		}
		b.rec.t = t
		b.rec.match(&b.list)
		b.fresh = true
	}
	for _, e := range b.rec.entryOf {
		if e < 0 {
			missing++
		}
	}
	return missing, nil
}

// Entry is the source's entry of a row, nil if it has none. Valid until the
// next Sync or Locate.
func (b *Base) Entry(row int) *Entry {
	if e := b.rec.entryOf[row]; e >= 0 {
		return &b.list.Entries[e]
	}
	return nil
}
