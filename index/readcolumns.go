package index

import (
	"bytes"
	"errors"
	"io/fs"
	"sync"

	mailsort "mailbench/sort"
)

// Rows are messages to compute an answer from: row i of n is the entry that
// Entry returns, nil if the message has gone.
type Rows struct {
	Source  Source
	N       int
	Entry   func(i int) *Entry
	Workers int // as Options.Workers
	Phases  *Phases
}

// errGone stands for a row without an entry.
var errGone = fs.ErrNotExist

// OfOne reports whether an error that a Source gave of a message is about that
// message alone: it has gone, or it may not be read. Answers have it with an
// empty header and no size, and the next one tries again; the Source counts what
// may not be read. Any other error is one of the answer.
func OfOne(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// firstError keeps the first error of several goroutines that is not OfOne.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) put(err error) {
	if err == nil || OfOne(err) {
		return
	}
	f.mu.Lock()
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
}

// Columns reads every header and extracts want. Messages that have gone or
// may not be read are empty rows (Columns.Failed); any other error is returned. INTERNALDATE is
// asked for only where the Date cannot be used (RFC 5256 section 2.2).
func (r *Rows) Columns(want Want, compat Compat) (*Columns, error) {
	b := NewBuilder(r.N, want, compat)
	var first firstError
	ReadEach(r.N, r.Workers, func(i int, buf []byte) ([]byte, error) {
		e := r.Entry(i)
		if e == nil {
			return nil, errGone
		}
		return r.Source.ReadHeader(e, buf)
	}, func(worker, i int, header []byte, err error) {
		if err != nil {
			first.put(err)
			return
		}
		parse := r.Phases.Begin(PhaseParse)
		b.Add(worker, i, header)
		parse.End()
	})
	if first.err != nil {
		return nil, first.err
	}
	link := r.Phases.Begin(PhaseLink)
	c := b.Columns()
	link.End()
	for _, i := range c.NoDate {
		d, err := r.internalDate(int(i))
		if err != nil {
			return nil, err
		}
		c.Input.Date[i] = d
	}
	return c, nil
}

// internalDate is the INTERNALDATE of a row, 0 if the message has gone.
func (r *Rows) internalDate(i int) (int64, error) {
	e := r.Entry(i)
	if e == nil {
		return 0, nil
	}
	if e.MTimeOK {
		return e.MTime, nil
	}
	_, t, err := r.Source.Stat(e)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return t, err
}

// InternalDates returns each row's INTERNALDATE, asking the source where a
// listing does not tell.
func (r *Rows) InternalDates() ([]int64, error) {
	out := make([]int64, r.N)
	var first firstError
	ReadEach(r.N, r.Workers, func(i int, buf []byte) ([]byte, error) {
		var err error
		out[i], err = r.internalDate(i)
		return buf, err
	}, func(_, _ int, _ []byte, err error) { first.put(err) })
	return out, first.err
}

// Sizes returns each row's RFC822.SIZE: from the listing where it tells (W=),
// else by reading the message and counting. A message that has gone
// or may not be read has size 0.
func (r *Rows) Sizes() ([]int64, error) {
	out := make([]int64, r.N)
	var first firstError
	ReadEach(r.N, r.Workers, func(i int, buf []byte) ([]byte, error) {
		e := r.Entry(i)
		switch {
		case e == nil:
			return nil, errGone
		case e.VSize >= 0:
			out[i] = e.VSize
			return buf, nil
		}
		b, err := r.Source.ReadMessage(e, buf)
		if err == nil {
			out[i] = CRLFSize(b)
		}
		return b, err
	}, func(_, _ int, _ []byte, err error) { first.put(err) })
	return out, first.err
}

// CRLFSize is the length of a message with every line end as CRLF, which is
// what RFC822.SIZE counts: LF without a CR before it counts twice.
func CRLFSize(b []byte) int64 {
	return int64(len(b) + bytes.Count(b, []byte{'\n'}) - bytes.Count(b, []byte("\r\n")))
}

// SortColumns returns the columns that crit needs, for mailsort.Order. Only
// what a criterion asks for is read.
func (r *Rows) SortColumns(crit []mailsort.Criterion, compat Compat, sc *mailsort.Scratch) (func(mailsort.Key) []uint64, error) {
	c := &Columns{}
	if want := WantFor(crit); want != 0 {
		var err error
		if c, err = r.Columns(want, compat); err != nil {
			return nil, err
		}
	}
	return c.ForSort(crit, r.InternalDates, r.Sizes, sc)
}
