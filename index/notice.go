package index

import (
	"cmp"
	"slices"
)

// notices are what has changed of a table while it was open, so that who asks
// after each change is not told by a look at all rows.
type notices struct {
	noticed []notice // in order of MODSEQ
	from    uint64   // all changes after it are noticed
	at      uint64   // HighestModSeq of the last one
}

type notice struct {
	modseq uint64
	uid    uint32
}

// maxNoticed bounds what is remembered.
const maxNoticed = 8 << 10

// notice remembers n; t does not have its MODSEQ yet.
func (t *Table) notice(n *News) {
	l := &t.notices
	if !n.seen() {
		return
	}
	if l.at != t.HighestModSeq { // something has changed that was not noticed
		l.noticed, l.from = l.noticed[:0], t.HighestModSeq
	}
	l.at = n.HighestModSeq
	for _, rows := range [...][]Row{n.Flagged, n.Added} {
		for i := range rows {
			l.noticed = append(l.noticed, notice{n.HighestModSeq, rows[i].UID})
		}
	}
	if k := len(l.noticed) - maxNoticed/2; k > maxNoticed/2 {
		l.from = l.noticed[k-1].modseq // and what else has that one goes, too
		for k < len(l.noticed) && l.noticed[k].modseq == l.from {
			k++
		}
		l.noticed = append(l.noticed[:0], l.noticed[k:]...)
	}
}

// Noticed is ChangedSince at the price of what has changed: in UID order, with
// the UIDs that are gone. ok false: modseq is too long ago for it.
func (t *Table) Noticed(modseq uint64) (changed []Message, gone []uint32, ok bool) {
	l := &t.notices
	if modseq < t.HighestModSeq && (l.at != t.HighestModSeq || modseq < l.from) {
		return nil, nil, false
	}
	i, _ := slices.BinarySearchFunc(l.noticed, modseq+1, func(n notice, m uint64) int { return cmp.Compare(n.modseq, m) })
	if modseq >= t.HighestModSeq {
		i = len(l.noticed)
	}
	uids := make([]uint32, 0, len(l.noticed)-i)
	for _, n := range l.noticed[i:] {
		uids = append(uids, n.uid)
	}
	slices.Sort(uids)
	for _, u := range slices.Compact(uids) {
		// With expunged rows still in the columns the numbers are theirs, too.
		if row, there := slices.BinarySearch(t.uid, u); there && t.flags[row] != flagDead {
			changed = append(changed, t.Message(row))
		}
	}
	v, _ := slices.BinarySearchFunc(t.vanished, modseq+1, func(v Vanished, m uint64) int { return cmp.Compare(v.ModSeq, m) })
	for v > 0 && t.vanished[v-1].ModSeq > modseq {
		v--
	}
	for _, x := range t.vanished[v:] {
		gone = append(gone, x.UID)
	}
	return changed, gone, true
}

// Noticed is Table.Noticed, if the rows and names are loaded.
func (b *Base) Noticed(modseq uint64) (changed []Message, gone []uint32, ok bool) {
	if b.table == nil || b.table.off == nil {
		return nil, nil, false
	}
	return b.table.Noticed(modseq)
}

// TellChanges calls the functions of Changer.ChangesSince.
func TellChanges(msgs []Message, gone []uint32, changed func(Message) bool, vanished func(uid uint32) bool) {
	for i := range msgs {
		if !changed(msgs[i]) {
			return
		}
	}
	for _, u := range gone {
		if !vanished(u) {
			return
		}
	}
}
