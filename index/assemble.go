package index

import "mailbench/thread"

// An Assembler makes Columns of Fields that a design reads back from its own
// files, row by row in ascending order. Dates are complete: NoDate stays empty.
type Assembler struct {
	c    Columns
	want Want
}

// NewAssembler makes one with room for n rows. It trusts n for capacity only.
func NewAssembler(n int, want Want) *Assembler {
	a := &Assembler{want: want}
	in := &a.c.Input
	if want&WantIDs != 0 {
		a.c.IDs = thread.NewInterner(n+n/8, 32*n)
		in.ID, in.RefOff, in.Ref = make([]int32, 0, n), append(make([]uint32, 0, n+1), 0), make([]int32, 0, 3*n)
	}
	if want&WantSubject != 0 {
		a.c.Subjects = thread.NewInterner(n/4+1, 8*n)
		a.c.Subjects.Intern(nil)
		in.Subject, in.Reply = make([]int32, 0, n), make([]uint8, 0, n)
	}
	if want&WantDate != 0 {
		in.Date = make([]int64, 0, n)
	}
	if want&(WantFrom|WantTo|WantCc|WantDisplayFrom|WantDisplayTo) != 0 {
		a.c.Keys = thread.NewInterner(n/4+1, 8*n)
		a.c.Keys.Intern(nil)
	}
	return a
}

// Add appends a row: of f what is wanted, and date as its sent date (where
// Fields.DateOK is false that is the INTERNALDATE).
func (a *Assembler) Add(f *Fields, date int64) {
	in := &a.c.Input
	in.N++
	if a.want&WantIDs != 0 {
		id := int32(-1)
		if f.ID != nil {
			id = a.c.IDs.Intern(f.ID)
		}
		in.ID = append(in.ID, id)
		for _, r := range f.Refs {
			in.Ref = append(in.Ref, a.c.IDs.Intern(r))
		}
		in.RefOff = append(in.RefOff, uint32(len(in.Ref)))
	}
	if a.want&WantSubject != 0 {
		in.Subject = append(in.Subject, a.c.Subjects.Intern(f.Subject))
		var reply uint8
		if f.Reply {
			reply = 1
		}
		in.Reply = append(in.Reply, reply)
	}
	if a.want&WantDate != 0 {
		in.Date = append(in.Date, date)
	}
	for i, k := range [...]struct {
		key []byte
		to  *[]int32
	}{{f.From, &a.c.From}, {f.To, &a.c.To}, {f.Cc, &a.c.Cc}, {f.DisplayFrom, &a.c.DisplayFrom}, {f.DisplayTo, &a.c.DisplayTo}} {
		if a.want&(WantFrom<<i) != 0 {
			*k.to = append(*k.to, a.c.Keys.Intern(k.key))
		}
	}
}

// Columns are the rows added so far.
func (a *Assembler) Columns() *Columns {
	if a.c.IDs != nil {
		a.c.Input.NumIDs = a.c.IDs.Len()
	}
	return &a.c
}
