package index

import (
	"encoding/binary"

	mailsort "mailbench/sort"
)

// AppendFields appends all of f to dst as ParseFields reads it, for a design
// that keeps one record per message.
//
//	bits (1 id, 2 date, 4 reply) | [date i64] | [id] | number of references,
//	each of them | subject | from | to | cc | display from | display to
//
// Numbers are uvarints, strings have their length in front.
func AppendFields(dst []byte, f *Fields) []byte {
	var bits byte
	if f.ID != nil {
		bits |= hasID
	}
	if f.DateOK {
		bits |= hasDate
	}
	if f.Reply {
		bits |= isReply
	}
	dst = append(dst, bits)
	if f.DateOK {
		dst = le.AppendUint64(dst, uint64(f.Date))
	}
	put := func(s []byte) {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	if f.ID != nil {
		put(f.ID)
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.Refs)))
	for _, r := range f.Refs {
		put(r)
	}
	for _, s := range [...][]byte{f.Subject, f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo} {
		put(s)
	}
	return dst
}

// ParseFields reads what AppendFields appended; rest is what follows it. The
// slices of f point into b. ok is false for bytes that AppendFields never made.
func ParseFields(b []byte, f *Fields) (rest []byte, ok bool) {
	*f = Fields{Refs: f.Refs[:0]}
	c := cursor{b: b}
	bits := c.byte()
	if bits&hasDate != 0 {
		f.Date, f.DateOK = int64(c.uint64()), true
	}
	if bits&hasID != 0 {
		f.ID = c.bytes()
	}
	n := c.uvarint()
	if n > uint64(len(b)) {
		return b, false
	}
	for range n {
		f.Refs = append(f.Refs, c.bytes())
	}
	f.Reply = bits&isReply != 0
	for _, p := range [...]*[]byte{&f.Subject, &f.From, &f.To, &f.Cc, &f.DisplayFrom, &f.DisplayTo} {
		*p = c.bytes()
	}
	if c.bad || bits > hasID|hasDate|isReply {
		return b, false
	}
	return b[c.off:], true
}

// ForSort returns the columns that crit needs, for mailsort.Order; c has what
// WantFor(crit) says. arrival and size are asked for only if crit needs them.
func (c *Columns) ForSort(crit []mailsort.Criterion, arrival, size func() ([]int64, error), sc *mailsort.Scratch) (func(mailsort.Key) []uint64, error) {
	var cols [mailsort.NumKeys][]uint64
	var keyRank []uint32
	keys := func(id []int32) []uint64 {
		if keyRank == nil {
			keyRank = InternerRanks(c.Keys, sc)
		}
		return RankColumn(nil, id, keyRank)
	}
	for _, k := range crit {
		if cols[k.Key] != nil {
			continue
		}
		var v []int64
		var err error
		switch k.Key {
		case mailsort.Arrival:
			v, err = arrival()
			cols[k.Key] = SignedColumn(nil, v)
		case mailsort.Size:
			v, err = size()
			cols[k.Key] = SignedColumn(nil, v)
		case mailsort.Date:
			cols[k.Key] = SignedColumn(nil, c.Input.Date)
		case mailsort.Subject:
			cols[k.Key] = RankColumn(nil, c.Input.Subject, InternerRanks(c.Subjects, sc))
		case mailsort.From:
			cols[k.Key] = keys(c.From)
		case mailsort.To:
			cols[k.Key] = keys(c.To)
		case mailsort.Cc:
			cols[k.Key] = keys(c.Cc)
		case mailsort.DisplayFrom:
			cols[k.Key] = keys(c.DisplayFrom)
		case mailsort.DisplayTo:
			cols[k.Key] = keys(c.DisplayTo)
		}
		if err != nil {
			return nil, err
		}
	}
	return func(k mailsort.Key) []uint64 { return cols[k] }, nil
}
