package index

import (
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// An Answerer is the half of a Mailbox that is alike in all designs that keep a
// Table and one record of Fields per message. A design embeds it and adds Open,
// Sync, Compact, Check, Stats and Close: where things are kept (package
// index/example). It is not for concurrent use.
type Answerer struct {
	Source  Source
	Options Options
	Table   *Table  // never nil
	Track   Tracker // what Follow was called on

	// Fields is called once for each row that an answer needs, ascending, and
	// fills f: with the date complete, and no fields for a message that has gone.
	Fields func(row int, f *Fields) error

	x       Extractor
	header  []byte
	f       Fields
	rows    []int32
	order   []int32
	uids    []uint32
	out     []uint32
	answer  Answer
	threads thread.Scratch
	sorts   mailsort.Scratch
}

// Status counts the rows. O(n).
func (a *Answerer) Status() Status { return a.Table.Status() }

// Messages calls fn for each row.
func (a *Answerer) Messages(fn func(Message) bool) error {
	for i := range a.Table.Len() {
		if !fn(a.Table.Message(i)) {
			break
		}
	}
	return nil
}

// ChangesSince makes a Mailbox a Changer. O(n).
func (a *Answerer) ChangesSince(modseq uint64, changed func(Message) bool, vanished func(uid uint32) bool) error {
	if msgs, gone, ok := a.Table.Noticed(modseq); ok {
		TellChanges(msgs, gone, changed, vanished)
		return nil
	}
	more := true
	a.Table.ChangedSince(modseq, func(row int) { more = more && changed(a.Table.Message(row)) },
		func(uid uint32) { more = more && vanished(uid) })
	return nil
}

// entry is the source's entry of a row, nil if the message has gone.
func (a *Answerer) entry(row int) (*Entry, error) {
	if a.Track.table != a.Table {
		a.Track.Load(a.Table)
	}
	if !a.Track.fresh {
		if _, err := a.Track.Locate(a.Source); err != nil {
			return nil, err
		}
	}
	return a.Track.Entry(row), nil
}

// Read extracts everything from the header of a row, reading the mail. What f
// points to is written over by the next Read. The error of a message that has gone wraps fs.ErrNotExist.
func (a *Answerer) Read(row int, f *Fields) error {
	e, err := a.entry(row)
	if err != nil {
		return err
	}
	if e == nil {
		return errGone
	}
	if a.header, err = a.Source.ReadHeader(e, a.header); err != nil {
		return err
	}
	a.x.Want, a.x.Compat = WantAll, a.Options.Compat
	if a.x.Extract(a.header, f); f.DateOK {
		return nil
	}
	f.Date, f.DateOK = e.MTime, true // RFC 5256 section 2.2
	if !e.MTimeOK {
		_, f.Date, err = a.Source.Stat(e)
	}
	return err
}

// Fetch makes a Mailbox a Fetcher: straight from the mail.
func (a *Answerer) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	if a.Table.Len() > 0 {
		if _, err := a.entry(0); err != nil {
			return err
		}
	}
	return FetchFrom(a.Source, uids, fields, func(uid uint32) *Entry {
		row, ok := a.Table.Row(uid)
		if !ok {
			return nil
		}
		return a.Track.Entry(row)
	}, fn)
}

// columns puts together the rows that s selects; a.rows and a.uids are theirs.
func (a *Answerer) columns(s Search, want Want) (*Columns, error) {
	rows, all, err := a.Table.Select(a.rows[:0], s)
	if err != nil {
		return nil, err
	}
	for i := 0; all && i < a.Table.Len(); i++ {
		rows = append(rows[:i], int32(i))
	}
	c := NewAssembler(len(rows), want)
	a.rows, a.uids = rows, a.uids[:0]
	for _, row := range rows {
		a.f = Fields{Refs: a.f.Refs[:0]}
		if err := a.Fields(int(row), &a.f); err != nil {
			return nil, err
		}
		c.Add(&a.f, a.f.Date)
		a.uids = append(a.uids, a.Table.uid[row])
	}
	return c.Columns(), nil
}

// Thread answers THREAD.
func (a *Answerer) Thread(alg thread.Alg, s Search) (*Answer, error) {
	c, err := a.columns(s, WantThread)
	if err != nil {
		return nil, err
	}
	thread.Build(alg, &c.Input, nil, &a.answer.Forest, &a.threads)
	a.answer.UID = a.uids
	return &a.answer, nil
}

// Sort answers SORT. ARRIVAL and SIZE are asked of the mail.
func (a *Answerer) Sort(crit []mailsort.Criterion, s Search) ([]uint32, error) {
	c, err := a.columns(s, WantFor(crit))
	if err != nil {
		return nil, err
	}
	r := Rows{Source: a.Source, N: len(a.rows), Workers: a.Options.Workers,
		Entry: func(i int) *Entry { return a.Track.Entry(int(a.rows[i])) }}
	located := func(ask func() ([]int64, error)) func() ([]int64, error) {
		return func() ([]int64, error) {
			if r.N > 0 {
				if _, err := a.entry(0); err != nil {
					return nil, err
				}
			}
			return ask()
		}
	}
	col, err := c.ForSort(crit, located(r.InternalDates), located(r.Sizes), &a.sorts)
	if err != nil {
		return nil, err
	}
	a.order = mailsort.Order(a.order[:0], r.N, nil, crit, col, &a.sorts)
	a.out = a.out[:0]
	for _, i := range a.order {
		a.out = append(a.out, a.uids[i])
	}
	return a.out, nil
}
