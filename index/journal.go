package index

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// A Journal is a Glancer that can tell what has happened since a known listing
// without making entries of the rest: a store that does all the writing itself.
// Then a Sync costs O(what happened), not O(mailbox).
type Journal interface {
	Glancer
	// Since sets l.Entries, after Glance with the same Listing, to the messages
	// that came, in the order of Source.Order, or whose flags, keywords or folder
	// changed since a listing with digest known, each key once, and returns the
	// keys that went (none of them is among the entries). ok false: they are more
	// than limit, or that listing is not remembered.
	Since(l *Listing, known Digest, limit int) (gone []string, ok bool)
}

// A Row is one message as a table has it.
type Row struct {
	UID      uint32
	Key      string
	Flags    Flags
	Dir      uint8
	Keywords uint32
}

// News is what a Sync learned from a Journal, by message and not by row.
type News struct {
	Added, Flagged, Moved []Row    // in UID order; strings are valid until the next Sync
	Removed               []uint32 // UIDs, ascending
	UIDNext               uint32   // after it
	HighestModSeq         uint64   // of all of it
}

// An Appender is a Keeper that can put what a Journal told on disk without a
// look at the rows of the table, which are in another place than their numbers
// until somebody asks for one. O(what happened) then.
type Appender interface {
	Keeper
	// Append is Save of n; t has it already.
	Append(t *Table, n *News, k Known, c Changes) error
}

// ask lets a Journal tell what happened since the listing with digest known,
// which had all messages of t, and makes it a News. Nothing is changed. ok
// false: it cannot, or what it says is not of this table.
func (k *Tracker) ask(src Source, t *Table, known Digest, limit int) (n *News, ok bool) {
	j, isJournal := src.(Journal)
	live := len(t.uid) - len(t.dead)
	if !isJournal || k.glanced == nil || known.N != live {
		return nil, false
	}
	gone, ok := j.Since(&k.list, known, limit)
	if !ok {
		return nil, false
	}
	if t.slots == nil {
		t.index(0)
	}
	n = &k.news
	*n = News{Added: n.Added[:0], Flagged: n.Flagged[:0], Moved: n.Moved[:0], Removed: n.Removed[:0], UIDNext: t.UIDNext, HighestModSeq: t.HighestModSeq}
	k.rows = k.rows[:0]
	for _, key := range gone {
		row := t.find(key)
		if row < 0 {
			return nil, false
		}
		k.rows = append(k.rows, int32(row))
	}
	slices.Sort(k.rows)
	if k.rows = slices.Compact(k.rows); len(k.rows) != len(gone) {
		return nil, false
	}
	for _, row := range k.rows {
		n.Removed = append(n.Removed, t.uid[row])
	}
	for i := range k.list.Entries {
		e := &k.list.Entries[i]
		r := Row{Key: e.Key, Flags: e.Flags & allFlags, Dir: e.Dir, Keywords: e.Keywords}
		row := t.find(e.Key)
		if row < 0 {
			if n.UIDNext == math.MaxUint32 {
				return nil, false
			}
			r.UID = n.UIDNext
			n.UIDNext++
			n.Added = append(n.Added, r)
			continue
		}
		r.UID = t.uid[row]
		switch {
		case r.Flags != t.flags[row] || r.Keywords != t.Keywords(row):
			n.Flagged = append(n.Flagged, r)
		case r.Dir != t.dir[row]:
			n.Moved = append(n.Moved, r)
		}
	}
	byUID := func(a, b Row) int { return cmp.Compare(a.UID, b.UID) }
	slices.SortFunc(n.Flagged, byUID)
	slices.SortFunc(n.Moved, byUID)
	if n.seen() {
		n.HighestModSeq++
	}
	// Each message is one name of the listing, so the numbers tell on a Journal
	// that named a message twice or is not of this mailbox.
	return n, live+len(n.Added)-len(n.Removed) == k.list.Digest.N
}

// seen reports whether a client sees something of it (I6).
func (n *News) seen() bool { return len(n.Added)+len(n.Removed)+len(n.Flagged) > 0 }

func (n *News) changes() Changes {
	return Changes{Added: len(n.Added), Removed: len(n.Removed), Flagged: len(n.Flagged), Moved: len(n.Moved), Scanned: true}
}

// take makes the table what n says, O(n's length), and the last delta of k with
// it: rows are where they will be when the table is settled.
func (k *Tracker) take(t *Table, n *News) {
	d := &k.rec.delta
	d.reset()
	k.fresh, k.part = false, false
	change := func(rows []Row, to *[]int32, modseq bool) {
		for i := range rows {
			r := &rows[i]
			row, _ := slices.BinarySearch(t.uid, r.UID)
			t.flags[row], t.dir[row] = r.Flags, r.Dir
			t.setKeywords(row, r.Keywords)
			if modseq {
				t.modseq[row] = n.HighestModSeq
			}
			*to = append(*to, int32(row))
		}
	}
	change(n.Flagged, &d.Flagged, true)
	change(n.Moved, &d.Moved, false)
	if d.Removed = append(d.Removed, n.Removed...); len(n.Removed) > 0 {
		t.bury(k.rows, n.HighestModSeq)
	}
	for i := range n.Added {
		r := &n.Added[i]
		d.Added = append(d.Added, int32(len(t.uid)))
		t.addIndexed(&row{uid: r.UID, key: r.Key, flags: r.Flags, dir: r.Dir, keywords: r.Keywords, modseq: n.HighestModSeq})
	}
	t.notice(n)
	if len(t.dead) > 0 {
		slices.Sort(t.dead) // mostly it is already
		renumber(d.Flagged, t.dead)
		renumber(d.Moved, t.dead)
		renumber(d.Added, t.dead)
	}
	t.UIDNext, t.HighestModSeq = n.UIDNext, n.HighestModSeq
}

// addIndexed is add that keeps the hash table of the keys, if there is one.
func (t *Table) addIndexed(r *row) {
	t.add(r)
	if t.slots == nil {
		return
	}
	if 3*len(t.uid) > 2*len(t.slots) {
		t.index(0)
		return
	}
	t.insert(hashKey(r.key), len(t.uid)-1)
}

// hear is a Sync of a Keeper from a Journal. done false: nothing has been done.
func (k *Tracker) hear(src Source, keep Keeper, t *Table, known Known, before State) (c Changes, done bool, err error) {
	n, ok := k.ask(src, t, known.Digest, maxNews)
	if !ok {
		return c, false, nil
	}
	before.Busy = false
	now := Known{before, k.list.Digest}
	k.take(t, n)
	c = n.changes()
	if a, ok := keep.(Appender); ok {
		return c, true, a.Append(t, n, now, c)
	}
	t.settle()
	return c, true, keep.Save(t, &k.rec.delta, now, c)
}

// maxNews bounds what is taken from a Journal without a comparison of all names.
const maxNews = 1 << 16

// hear is a Sync of a Base from a Journal. done is false when it cannot tell, or
// when it is too much for a record of the log; then nothing has been done. The
// table is loaded for it, and kept: what comes later costs O(what happened).
func (b *Base) hear(src Source, before State) (c Changes, done bool, err error) {
	k := &b.track
	if _, ok := src.(Journal); !ok || k.glanced == nil || b.sum.digest.N != int(b.sum.messages) {
		return c, false, nil
	}
	if b.table == nil || b.table.off == nil {
		_, err := b.Table()
		if errors.Is(err, ErrCorrupt) {
			return c, false, nil // who loads it next finds that again
		}
		if err != nil {
			return c, false, err
		}
	}
	t := b.table
	n, ok := k.ask(src, t, b.sum.digest, maxArrived)
	if !ok {
		return c, false, nil
	}
	sum := b.sum
	for _, r := range k.rows {
		sum.uncount(t.flags[r])
	}
	for i := range n.Flagged {
		r := &n.Flagged[i]
		row, _ := slices.BinarySearch(t.uid, r.UID)
		sum.uncount(t.flags[row])
		sum.count(r.Flags)
	}
	for i := range n.Added {
		sum.count(n.Added[i].Flags)
	}
	before.Busy = false
	sum.messages = uint32(k.list.Digest.N)
	sum.uidNext, sum.highestModSeq = n.UIDNext, n.HighestModSeq
	sum.state, sum.digest = before, k.list.Digest
	k.take(t, n)
	sum.set, sum.added = t.set, t.added
	c = n.changes()
	if k.rec.delta.empty() && sum == b.sum {
		return c, true, nil
	}
	if payload := n.appendOps(sum.append(nil)); b.fits(payload) {
		return c, true, b.append(payload, sum, kindChange)
	}
	old := b.sum
	b.sum = sum
	t.settle()
	if err = b.save(t); err != nil {
		b.sum = old
	}
	return c, true, err
}

func (s *summary) count(f Flags) {
	if f&FlagSeen == 0 {
		s.unseen++
	}
	if f&FlagDeleted != 0 {
		s.deleted++
	}
}

func (s *summary) uncount(f Flags) {
	if f&FlagSeen == 0 {
		s.unseen--
	}
	if f&FlagDeleted != 0 {
		s.deleted--
	}
}
