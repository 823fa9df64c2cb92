package index

import "fmt"

// NewTable makes an empty table, with room for n rows, for a design that reads
// its rows from files of its own: then Append for each, in UID order.
func NewTable(uidValidity, uidNext uint32, highestModSeq uint64, n int) *Table {
	t := &Table{UIDValidity: uidValidity, UIDNext: uidNext, HighestModSeq: highestModSeq}
	t.grow(n, 40*n)
	return t
}

// Append adds a row. What cannot follow the rows that are there is an error: a
// UID that is not above them or not below UIDNext, an unknown folder or flag.
func (t *Table) Append(uid uint32, key string, flags Flags, dir uint8, keywords uint32, modseq uint64) error {
	if n := len(t.uid); uid == 0 || uid >= t.UIDNext || n > 0 && uid <= t.uid[n-1] {
		return fmt.Errorf("index: uid %d out of order (uidnext %d)", uid, t.UIDNext)
	}
	if dir > DirNone || flags&^allFlags != 0 || key == "" {
		return fmt.Errorf("index: uid %d: key %q, flags %#x, folder %d", uid, key, uint16(flags), dir)
	}
	t.add(&row{uid: uid, key: key, flags: flags, dir: dir, keywords: keywords, modseq: modseq})
	return nil
}

// AppendVanished adds an expunged message; MODSEQs must not descend.
func (t *Table) AppendVanished(uid uint32, modseq uint64) error {
	if n := len(t.vanished); n > 0 && t.vanished[n-1].ModSeq > modseq || uid == 0 || uid >= t.UIDNext {
		return fmt.Errorf("index: vanished uid %d, modseq %d out of order", uid, modseq)
	}
	t.vanished = append(t.vanished, Vanished{uid, modseq})
	return nil
}

// Status counts the table's rows. O(n).
func (t *Table) Status() Status {
	t.settle()
	st := Status{UIDValidity: t.UIDValidity, UIDNext: t.UIDNext, Messages: t.Len(), HighestModSeq: t.HighestModSeq}
	st.Unseen, st.Deleted = t.counts()
	return st
}

// Problems calls yield with each thing that is wrong with the table, until it
// returns false: for a design's Check.
func (t *Table) Problems(yield func(what string) bool) { t.check(yield) }
