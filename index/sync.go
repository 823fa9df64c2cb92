package index

import "errors"

// Sync brings the index up to date with src and on disk. Nothing changed: one
// State (a stat or two), or, if the State differs but the names do not, one
// listing. Damage, or no index: everything is built anew (Changes.Rebuilt),
// with a greater UIDVALIDITY. On an error the index is as it was.
func (b *Base) Sync(src Source) (Changes, error) {
	c, err := b.sync(src)
	if err != nil {
		b.table = nil
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
	if !b.exists || b.damage != nil {
		return b.rebuild(src, before)
	}
	if !b.sum.state.Racy && b.sum.state.Same(before) {
		b.track.rec.delta.reset()
		return Changes{}, nil
	}
	if err := b.track.glance(src); err != nil {
		return Changes{}, err
	}
	if b.track.list.Digest == b.sum.digest {
		b.track.rec.delta.reset()
		before.Busy = false
		return Changes{Scanned: true}, b.note(before)
	}
	// New mail alone needs no rows. Where they are loaded, with a table of the keys
	// that was made for something else, a Journal tells all.
	if _, ok := src.(Journal); !ok || b.table == nil || b.table.off == nil || b.table.slots == nil {
		if c, done, err := b.arrive(src, before); done || err != nil {
			return c, err
		}
	}
	if c, done, err := b.hear(src, before); done || err != nil {
		return c, err
	}
	t, err := b.Table()
	if errors.Is(err, ErrCorrupt) {
		return b.rebuild(src, before)
	}
	if err != nil {
		return Changes{}, err
	}
	s, err := b.track.update(src, before)
	if errors.Is(err, ErrNoUIDs) {
		return b.rebuild(src, before)
	}
	if err != nil {
		return s.Changes, err
	}
	sum := b.sum
	sum.take(t)
	sum.state, sum.digest = s.State, s.Digest
	return s.Changes, b.persist(t, b.track.LastDelta(), sum)
}

// note remembers the state of a source whose names have not changed.
func (b *Base) note(state State) error {
	if b.sum.state == state {
		return nil
	}
	sum := b.sum
	sum.state = state
	return unlessDenied(b.append(sum.append(nil), sum, kindNote))
}

// persist puts a change on disk: in the log, or, if that gets long, in a new base.
func (b *Base) persist(t *Table, d *Delta, sum summary) error {
	if d.empty() && sum.state == b.sum.state && sum.digest == b.sum.digest {
		return nil
	}
	if len(d.Added)+len(d.Removed)+len(d.Flagged)+len(d.Moved) <= maxRecord/8 { // a row takes about 8 bytes and more
		if payload := appendOps(sum.append(nil), t, d); b.fits(payload) {
			return b.append(payload, sum, kindChange)
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

// fits reports whether the log takes a change of that payload.
func (b *Base) fits(payload []byte) bool {
	n := int64(recHead + len(payload) + recTail)
	return n <= maxRecord && b.logst.size+n <= max(256<<10, b.baseSize/8)
}

func (b *Base) append(payload []byte, sum summary, kind uint32) error {
	in, err := b.look()
	if err != nil {
		return err
	}
	if in != b.seen {
		return ErrStale
	}
	st := b.logst
	if err := appendLog(b.fs, b.log, &st, logHeader(b.id, b.generation, sum.uidValidity), payload, kind); err != nil {
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
		b.table = nil
		b.seen[0].Size = -1
	}
	return c, err
}

func (b *Base) rebuild(src Source, before State) (Changes, error) {
	u := b.readUIDList(src)
	b.track.Adopt(u)
	s, err := b.track.first(src, before)
	if errors.Is(err, ErrNoUIDs) && u != nil {
		u = nil
		b.track.Adopt(nil)
		s, err = b.track.first(src, before)
	}
	if err != nil {
		return Changes{}, err
	}
	t := b.track.table
	if t.UIDValidity, err = b.draw(t.UIDValidity); err != nil {
		return Changes{}, err
	}
	b.table = t
	t.seal(b.id)
	b.sum.take(t)
	b.sum.state, b.sum.digest = s.State, s.Digest
	return s.Changes, b.save(t)
}

func (b *Base) readUIDList(src Source) *UIDListData { return ReadUIDList(b.fs, src, b.opt.UIDList) }

// MaxUIDList bounds a uidlist that is adopted, in bytes: lines for some five
// million messages.
const MaxUIDList = 512 << 20

// ReadUIDList reads the uidlist to adopt: option is Options.UIDList. nil when
// there is none, when it is damaged, no regular file or longer than MaxUIDList:
// its UIDs are lost then.
func ReadUIDList(fsy FS, src Source, option string) *UIDListData {
	name := option
	switch name {
	case "none":
		return nil
	case "":
		var ok bool
		if name, ok = src.UIDList(); !ok {
			return nil
		}
	}
	if info, err := fsy.Stat(name); err != nil || info.Dir || info.Odd || info.Size > MaxUIDList {
		return nil
	}
	text, err := readFile(fsy, name)
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
func (b *Base) LastDelta() *Delta { return b.track.LastDelta() }

// Locate is Tracker.Locate, with the table loaded first.
func (b *Base) Locate(src Source) (missing int, err error) {
	if _, err := b.Table(); err != nil {
		return 0, err
	}
	return b.track.Locate(src)
}

// Naming is Tracker.Naming, with the table loaded first.
func (b *Base) Naming(src Source) error {
	if _, err := b.Table(); err != nil {
		return err
	}
	return b.track.Naming(src)
}

// EntryInto is Tracker.EntryInto: Naming first.
func (b *Base) EntryInto(row int, e *Entry, buf []byte) (*Entry, []byte) {
	return b.track.EntryInto(row, e, buf)
}

// Entry is Tracker.Entry: Locate first.
func (b *Base) Entry(row int) *Entry { return b.track.Entry(row) }
