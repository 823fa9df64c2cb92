package linked

import (
	"slices"

	"mailbench/index"
)

// A view is the mailbox as index file and log give it, by columns. flags hold
// index.Flags in bits 0 to 5 and the folder in bits 6 and 7.
type view struct {
	hdr    header
	rows   bool // the columns are loaded; else only hdr and the headers of exts
	uid    []uint32
	flags  []uint8
	modseq []uint64 // nil: hdr.baseModSeq for all
	exts   []ext
	dead   []int // expunged rows that settle has not taken out yet; their flags are deadRow
	live   int   // 1 + rows with a cache record; 0: not counted
}

// deadRow is the flags of an expunged row: no folder has that number.
const deadRow = 0xc0

func packFlags(f index.Flags, dir uint8) uint8 { return uint8(f)&0x3f | dir<<6 }

func (v *view) flagsOf(i int) index.Flags { return index.Flags(v.flags[i] & 0x3f) }

// row finds a UID.
func (v *view) row(uid uint32) (int, bool) { return slices.BinarySearch(v.uid, uid) }

// modseqOf is the MODSEQ of a row.
func (v *view) modseqOf(i int) uint64 {
	if v.modseq == nil {
		return v.hdr.baseModSeq
	}
	return v.modseq[i]
}

// ext finds an extension, nil if there is none.
func (v *view) ext(name string) *ext {
	for i := range v.exts {
		if v.exts[i].name == name {
			return &v.exts[i]
		}
	}
	return nil
}

// recs are the records of an extension, nil when there are none.
func (v *view) recs(name string) []uint32 {
	if e := v.ext(name); e != nil {
		return e.rec
	}
	return nil
}

// append adds a row.
func (v *view) append(uid uint32, flags uint8) {
	v.uid, v.flags = append(v.uid, uid), append(v.flags, flags)
	if v.modseq != nil {
		v.modseq = append(v.modseq, v.hdr.baseModSeq)
	}
	for i := range v.exts {
		if e := &v.exts[i]; e.rec != nil {
			e.rec = append(e.rec, 0)
		}
	}
}

// touch gives a row a MODSEQ.
func (v *view) touch(i int, modseq uint64) {
	if v.modseq == nil {
		if modseq == v.hdr.baseModSeq {
			return
		}
		v.modseq = make([]uint64, len(v.uid), cap(v.uid))
		for k := range v.modseq {
			v.modseq[k] = v.hdr.baseModSeq
		}
	}
	v.modseq[i] = modseq
}

// expunge removes rows, ascending.
func (v *view) expunge(rows []int) {
	if len(rows) == 0 {
		return
	}
	v.uid, v.flags = without(v.uid, rows), without(v.flags, rows)
	if v.modseq != nil {
		v.modseq = without(v.modseq, rows)
	}
	for i := range v.exts {
		if e := &v.exts[i]; e.rec != nil {
			e.rec = without(e.rec, rows)
		}
	}
}

func without[T any](a []T, rows []int) []T {
	at := rows[0]
	for i, next := at, 0; i < len(a); i++ {
		if next < len(rows) && rows[next] == i {
			next++
			continue
		}
		a[at] = a[i]
		at++
	}
	return a[:at]
}

// settle takes out the rows that were expunged. O(rows) if there are any.
func (v *view) settle() {
	if len(v.dead) == 0 {
		return
	}
	rows := v.dead
	v.dead = nil
	slices.Sort(rows)
	v.expunge(rows)
}

// count sets the counts of the header.
func (v *view) count() {
	h := &v.hdr
	h.messages, h.seen, h.deleted = 0, 0, 0
	for _, f := range v.flags {
		v.counted(f, 1)
	}
}

// counted adds a row of these flags to the counts, or takes it out (-1).
func (v *view) counted(f uint8, n int32) {
	if f == deadRow {
		return
	}
	h := &v.hdr
	h.messages += uint32(n)
	if index.Flags(f)&index.FlagSeen != 0 {
		h.seen += uint32(n)
	}
	if index.Flags(f)&index.FlagDeleted != 0 {
		h.deleted += uint32(n)
	}
}

// status is the mailbox's.
func (v *view) status() index.Status {
	h := &v.hdr
	return index.Status{UIDValidity: h.uidValidity, UIDNext: h.uidNext, Messages: int(h.messages),
		Unseen: int(h.messages - h.seen), Deleted: int(h.deleted), HighestModSeq: h.modseq, Generation: uint64(h.resets)}
}

// choose appends the rows that s selects to dst; all: it is every row, and dst
// is as it was.
func (v *view) choose(dst []int32, s index.Search) (rows []int32, all bool, err error) {
	n := len(v.uid)
	switch s.Kind {
	case "", "all":
		return dst, true, nil
	case "undeleted":
		for i := range n {
			if v.flagsOf(i)&index.FlagDeleted == 0 {
				dst = append(dst, int32(i))
			}
		}
	case "recent":
		for i := max(0, n-1000); i < n; i++ {
			dst = append(dst, int32(i))
		}
	case "uids":
		last := -1
		for _, u := range s.UIDs {
			if i, ok := v.row(u); ok && i > last {
				dst = append(dst, int32(i))
				last = i
			}
		}
	default:
		return dst, false, &index.SearchError{Kind: s.Kind}
	}
	return dst, len(dst) == n, nil
}
