package index

import (
	"encoding/binary"

	mailsort "mailbench/sort"
	"mailbench/thread"
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

// A Collector turns the Fields of messages, one row after the other, into
// Columns: what Builder does for headers, for a design that has the fields.
type Collector struct {
	want Want
	c    Columns
	keys [5]*[]int32
}

// NewCollector makes a collector of about n rows.
func NewCollector(n int, want Want) *Collector {
	k := &Collector{want: want}
	c := &k.c
	in := &c.Input
	if want&WantIDs != 0 {
		c.IDs = thread.NewInterner(n+n/8, 32*n)
		in.ID, in.RefOff, in.Ref = make([]int32, 0, n), append(make([]uint32, 0, n+1), 0), make([]int32, 0, 3*n)
	}
	if want&WantSubject != 0 {
		c.Subjects = thread.NewInterner(n/4+1, 8*n)
		c.Subjects.Intern(nil)
		in.Subject, in.Reply = make([]int32, 0, n), make([]uint8, 0, n)
	}
	if want&WantDate != 0 {
		in.Date = make([]int64, 0, n)
	}
	for i, p := range [...]*[]int32{&c.From, &c.To, &c.Cc, &c.DisplayFrom, &c.DisplayTo} {
		if want&(WantFrom<<i) != 0 {
			*p = make([]int32, 0, n)
			k.keys[i] = p
			if c.Keys == nil {
				c.Keys = thread.NewInterner(n/4+1, 8*n)
				c.Keys.Intern(nil)
			}
		}
	}
	return k
}

// Add takes in the next row. Without DateOK its date is 0 and it is in
// Columns.NoDate.
func (k *Collector) Add(f *Fields) {
	c := &k.c
	in := &c.Input
	if k.want&WantIDs != 0 {
		id := int32(-1)
		if f.ID != nil {
			id = c.IDs.Intern(f.ID)
		}
		in.ID = append(in.ID, id)
		for _, r := range f.Refs {
			in.Ref = append(in.Ref, c.IDs.Intern(r))
		}
		in.RefOff = append(in.RefOff, uint32(len(in.Ref)))
	}
	if k.want&WantSubject != 0 {
		reply := uint8(0)
		if f.Reply {
			reply = 1
		}
		in.Subject, in.Reply = append(in.Subject, c.Subjects.Intern(f.Subject)), append(in.Reply, reply)
	}
	if k.want&WantDate != 0 {
		date := f.Date
		if !f.DateOK {
			date = 0
			c.NoDate = append(c.NoDate, int32(in.N))
		}
		in.Date = append(in.Date, date)
	}
	for i, s := range [...][]byte{f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo} {
		if p := k.keys[i]; p != nil {
			*p = append(*p, c.Keys.Intern(s))
		}
	}
	in.N++
}

// Skip is Add of a row that could not be read: it is in Columns.Failed too.
func (k *Collector) Skip() {
	k.c.Failed = append(k.c.Failed, int32(k.c.Input.N))
	k.Add(&Fields{})
}

// Columns ends the collection. O(1).
func (k *Collector) Columns() *Columns {
	if k.c.IDs != nil {
		k.c.Input.NumIDs = k.c.IDs.Len()
	}
	return &k.c
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
