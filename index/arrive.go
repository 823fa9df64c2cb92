package index

import (
	"cmp"
	"math"
	"slices"

	"mailbench/index/blockfile"
)

// A Newcomer is a Glancer that can tell what has come since a known listing
// from the two digests alone, when nothing else has happened: what happens to
// a mailbox most. The index then needs none of its rows.
type Newcomer interface {
	Glancer
	// Arrived sets l.Entries, after Glance with the same Listing, to the names
	// that it has beside those of a listing with digest known, each key once and
	// none of them a key of the others. false: names went or changed, too, or
	// they are more than limit, or it cannot tell.
	Arrived(l *Listing, known Digest, limit int) bool
}

// A HeadReader is a Source that can spare who reads on to the empty line the
// search for it.
type HeadReader interface {
	// ReadHead is ReadHeader, but something of the body may follow. Where no
	// empty line is in it, ReadHeader tells how much of it is the header.
	ReadHead(e *Entry, buf []byte) ([]byte, error)
}

// maxArrived bounds what is taken in without the rows: it has to fit a record
// of the log.
const maxArrived = maxRecord / 32

// A newcomer is a message that came since the Base was opened.
type newcomer struct {
	uid  uint32
	hash SetHash
}

// maxNewcomers bounds what is remembered of them without the rows.
const maxNewcomers = 2 * maxArrived

// Hash is the share of a message in the hash of the set (I9).
func (b *Base) Hash(uid uint32, key []byte) SetHash { return seedOf(b.id).hash(uid, key) }

// HashOf is Hash of a message that the last Sync left. No row is read for those
// that came while this Base was open.
func (b *Base) HashOf(uid uint32) (h SetHash, ok bool, err error) {
	if t := b.table; t == nil || t.off == nil {
		i, ok := slices.BinarySearchFunc(b.came, uid, func(c newcomer, uid uint32) int { return cmp.Compare(c.uid, uid) })
		if ok {
			return b.came[i].hash, true, nil
		}
		if _, err := b.Table(); err != nil {
			return h, false, err
		}
	}
	t := b.table // nil: there is no index
	if t == nil {
		return h, false, nil
	}
	row, ok := slices.BinarySearch(t.uid, uid)
	if !ok || t.flags[row] == flagDead {
		return h, false, nil
	}
	return b.Hash(uid, t.Key(row)), true, nil
}

// arrive takes in new mail without loading the rows, when there is new mail and
// nothing else has changed. done is false when that is not so; then nothing has
// been done. O(listing), whatever the index holds.
func (b *Base) arrive(src Source, before State) (c Changes, done bool, err error) {
	n, ok := src.(Newcomer)
	k := &b.track
	if !ok || k.glanced == nil || b.sum.digest.N != int(b.sum.messages) || !n.Arrived(&k.list, b.sum.digest, maxArrived) {
		return c, false, nil
	}
	fresh := k.list.Entries
	if uint64(b.sum.uidNext)+uint64(len(fresh)) > math.MaxUint32 {
		return c, false, nil
	}
	k.rec.order(fresh, src)
	if len(k.rec.perm) != len(fresh) { // a key twice
		return c, false, nil
	}
	sum := b.sum
	sum.highestModSeq++
	before.Busy = false
	sum.state, sum.digest = before, k.list.Digest
	sum.messages += uint32(len(fresh))
	rows := make([]Row, 0, len(fresh))
	came := make([]newcomer, 0, len(fresh))
	seed := seedOf(b.id)
	for _, p := range k.rec.perm {
		e := &fresh[p]
		r := Row{UID: sum.uidNext, Key: e.Key, Flags: e.Flags & allFlags, Dir: e.Dir, Keywords: e.Keywords}
		rows = append(rows, r)
		sum.uidNext++
		sum.count(r.Flags)
		h := seed.hash(r.UID, []byte(r.Key))
		sum.set, sum.added = sum.set.Plus(h), sum.added+h[0]
		came = append(came, newcomer{r.UID, h})
	}
	payload := appendRows(sum.append(nil), 'A', rows)
	if !b.fits(payload) {
		return c, false, nil
	}
	d := &k.rec.delta
	d.reset()
	for i := range rows {
		d.Added = append(d.Added, int32(b.sum.messages)+int32(i))
	}
	if err := b.append(payload, sum, kindChange); err != nil {
		return c, true, err
	}
	if t := b.table; t != nil && t.off != nil {
		t.notice(&News{Added: rows, HighestModSeq: sum.highestModSeq})
		for i := range rows {
			r := &rows[i]
			t.addIndexed(&row{uid: r.UID, key: r.Key, flags: r.Flags, dir: r.Dir, keywords: r.Keywords, modseq: sum.highestModSeq})
		}
		t.UIDNext, t.HighestModSeq = sum.uidNext, sum.highestModSeq
	} else {
		b.table = nil
		b.came = append(b.came, came...)
		if n := len(b.came) - maxNewcomers; n > 0 {
			b.came = append(b.came[:0], b.came[n:]...)
		}
	}
	return Changes{Added: len(rows), Scanned: true}, true, nil
}

// Lately is what came and went since an earlier state of the index.
type Lately struct {
	Removed []uint32 // UIDs that were there then, ascending
	Set     SetHash  // of the new messages
	added   []row    // in UID order; without those that have gone again
	namer   Namer
}

// Added is the number of messages that came and are there.
func (l *Lately) Added() int { return len(l.added) }

// UID is that of new message i; they ascend.
func (l *Lately) UID(i int) uint32 { return l.added[i].uid }

// UIDs are those of the new messages.
func (l *Lately) UIDs() []uint32 {
	uids := make([]uint32, len(l.added))
	for i := range uids {
		uids[i] = l.added[i].uid
	}
	return uids
}

// Naming makes EntryInto work, if src is a Namer.
func (l *Lately) Naming(src Source) (ok bool) {
	l.namer, ok = src.(Namer)
	return ok
}

// EntryInto is Base.EntryInto for new message i: Naming first.
func (l *Lately) EntryInto(i int, e *Entry, buf []byte) (*Entry, []byte) {
	r := &l.added[i]
	return e, l.namer.NameEntry(e, []byte(r.key), r.flags, r.dir, r.keywords, buf)
}

// Lately tells what happened since the index had that set of messages and that
// UIDNEXT, from the log alone. ok is false when the log does not go back so far.
// O(log): an eighth of the snapshot or 256 KiB at most.
func (b *Base) Lately(uidNext uint32, set SetHash) (l *Lately, ok bool, err error) {
	if b.exists && b.sum.uidNext == uidNext && b.sum.set == set {
		return &Lately{}, true, nil
	}
	if !b.exists || !b.logst.records {
		return nil, false, nil
	}
	h, _, err := blockfile.ReadHeader(b.fs, b.base)
	if err != nil {
		return nil, false, err
	}
	id, sum, err := decodeBaseMeta(b.base, &h)
	if err == nil && (id != b.id || h.Generation != b.generation) {
		err = ErrStale
	}
	if err != nil {
		return nil, false, err
	}
	found := sum.uidNext == uidNext && sum.set == set
	l = &Lately{}
	err = b.eachRecord(func(payload []byte) string {
		c := cursor{b: payload}
		sum.decode(&c)
		if sum.uidNext == uidNext && sum.set == set { // the latest such state counts
			found, l.added, l.Removed = true, l.added[:0], l.Removed[:0]
			return ""
		}
		if !found {
			return ""
		}
		return eachOp(&c, &sum, func(op byte, r *row) string {
			l.take(op, r, uidNext)
			return ""
		})
	})
	if err != nil || !found {
		return nil, false, err
	}
	slices.Sort(l.Removed)
	seed := seedOf(b.id)
	for i := range l.added {
		l.Set = l.Set.Plus(seed.hash(l.added[i].uid, []byte(l.added[i].key)))
	}
	return l, true, nil
}

func (l *Lately) take(op byte, r *row, uidNext uint32) {
	if op == 'A' {
		l.added = append(l.added, *r)
		return
	}
	if r.uid < uidNext {
		if op == 'R' {
			l.Removed = append(l.Removed, r.uid)
		}
		return
	}
	at, there := slices.BinarySearchFunc(l.added, r.uid, func(r row, uid uint32) int { return cmp.Compare(r.uid, uid) })
	switch {
	case !there:
	case op == 'R':
		l.added = slices.Delete(l.added, at, at+1)
	default:
		to := &l.added[at]
		to.flags, to.dir, to.keywords = r.flags, r.dir, r.keywords
	}
}
