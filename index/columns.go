package index

import (
	"mailbench/thread"
)

// Columns are the extracted fields of n messages as arrays, strings interned.
type Columns struct {
	Input    thread.Input     // ID, refs, subject, reply, date; ready for thread.Build once Date is complete
	IDs      *thread.Interner // numbers of Input.ID and Input.Ref
	Subjects *thread.Interner // numbers of Input.Subject; 0 is the empty subject
	NoDate   []int32          // rows whose Date must come from INTERNALDATE
	Failed   []int32          // rows that could not be read: they are empty

	// Address and display keys: number per row, nil when not wanted; the
	// interner is shared by all of them, 0 is the empty key.
	From, To, Cc, DisplayFrom, DisplayTo []int32
	Keys                                 *thread.Interner
}

// A Builder collects the fields of messages from several readers and puts
// them into Columns in row order, so that the result does not depend on who
// was faster. Peak memory is the extracted text plus 8 bytes per row.
type Builder struct {
	n       int
	want    Want
	loc     []uint64 // worker<<48 | offset+1 in its arena; 0: not there
	workers [MaxReaders]builderWorker
}

type builderWorker struct {
	x   Extractor
	f   Fields
	buf []byte
	_   [64]byte // workers must not share a cache line
}

// NewBuilder makes a builder of n rows.
func NewBuilder(n int, want Want, compat Compat) *Builder {
	b := &Builder{n: n, want: want, loc: make([]uint64, n)}
	for i := range b.workers {
		b.workers[i].x = Extractor{Want: want, Compat: compat}
	}
	return b
}

const (
	hasID = 1 << iota
	hasDate
	isReply
)

// Add takes in the header of a row. Calls with different workers may run at
// the same time.
func (b *Builder) Add(worker, row int, header []byte) {
	w := &b.workers[worker]
	w.x.Extract(header, &w.f)
	f := &w.f
	b.loc[row] = uint64(worker)<<48 | uint64(len(w.buf)+1)
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
	w.buf = append(w.buf, bits)
	if f.DateOK {
		w.buf = le.AppendUint64(w.buf, uint64(f.Date))
	}
	put := func(s []byte) {
		w.buf = appendUvarint(w.buf, uint64(len(s)))
		w.buf = append(w.buf, s...)
	}
	if b.want&WantIDs != 0 {
		if f.ID != nil {
			put(f.ID)
		}
		w.buf = appendUvarint(w.buf, uint64(len(f.Refs)))
		for _, r := range f.Refs {
			put(r)
		}
	}
	if b.want&WantSubject != 0 {
		put(f.Subject)
	}
	for i, s := range [...][]byte{f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo} {
		if b.want&(WantFrom<<i) != 0 {
			put(s)
		}
	}
}

// Columns interns everything in row order: one pass, O(bytes). Rows that Add
// never saw are empty and in Failed. Input.Date of rows in NoDate is 0: fill it.
func (b *Builder) Columns() *Columns {
	n := b.n
	bytes := 0
	for i := range b.workers {
		bytes += len(b.workers[i].buf)
	}
	c := &Columns{}
	in := &c.Input
	in.N = n
	if b.want&WantIDs != 0 {
		c.IDs = thread.NewInterner(n+n/8, bytes/4)
		in.ID, in.RefOff, in.Ref = make([]int32, n), make([]uint32, n+1), make([]int32, 0, 3*n)
	}
	if b.want&WantSubject != 0 {
		c.Subjects = thread.NewInterner(n/4+1, bytes/16)
		c.Subjects.Intern(nil)
		in.Subject, in.Reply = make([]int32, n), make([]uint8, n)
	}
	if b.want&WantDate != 0 {
		in.Date = make([]int64, n)
	}
	var keys [5]*[]int32
	for i, p := range [...]*[]int32{&c.From, &c.To, &c.Cc, &c.DisplayFrom, &c.DisplayTo} {
		if b.want&(WantFrom<<i) != 0 {
			*p = make([]int32, n)
			keys[i] = p
			if c.Keys == nil {
				c.Keys = thread.NewInterner(n/4+1, bytes/16)
				c.Keys.Intern(nil)
			}
		}
	}
	for row := range n {
		loc := b.loc[row]
		if loc == 0 {
			c.Failed = append(c.Failed, int32(row))
			if b.want&WantIDs != 0 {
				in.ID[row] = -1
				in.RefOff[row+1] = uint32(len(in.Ref))
			}
			if b.want&WantDate != 0 {
				c.NoDate = append(c.NoDate, int32(row))
			}
			continue
		}
		r := cursor{b: b.workers[loc>>48].buf, off: int(loc&(1<<48-1)) - 1}
		bits := r.byte()
		if bits&hasDate != 0 {
			in.Date[row] = int64(r.uint64())
		} else if b.want&WantDate != 0 {
			c.NoDate = append(c.NoDate, int32(row))
		}
		if b.want&WantIDs != 0 {
			in.ID[row] = -1
			if bits&hasID != 0 {
				in.ID[row] = c.IDs.Intern(r.bytes())
			}
			for range r.uvarint() {
				in.Ref = append(in.Ref, c.IDs.Intern(r.bytes()))
			}
			in.RefOff[row+1] = uint32(len(in.Ref))
		}
		if b.want&WantSubject != 0 {
			in.Subject[row] = c.Subjects.Intern(r.bytes())
			in.Reply[row] = bits & isReply / isReply
		}
		for _, p := range keys {
			if p != nil {
				(*p)[row] = c.Keys.Intern(r.bytes())
			}
		}
	}
	if c.IDs != nil {
		in.NumIDs = c.IDs.Len()
	}
	return c
}
