package linked

import (
	"errors"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// damaged marks the index as such when err says so, and returns err.
func (m *mailbox) damaged(err error) error {
	if errors.Is(err, index.ErrCorrupt) {
		m.spoil()
	}
	return err
}

// chosen makes the rows ready and chooses those of s; nil: all.
func (m *mailbox) chosen(s index.Search) ([]int32, error) {
	if err := m.ensure(); err != nil {
		return nil, err
	}
	rows, all, err := m.disk.choose(m.rows[:0], s)
	m.rows = rows
	if err != nil || all {
		return nil, err
	}
	if rows == nil {
		rows = []int32{}
	}
	return rows, nil
}

// Thread implements index.Mailbox. Ids come from the thread index, dates and
// subjects from the cache, and of those only what the algorithm looks at.
func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	a, err := m.thread(alg, s)
	return a, m.damaged(err)
}

func (m *mailbox) thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	rows, err := m.chosen(s)
	if err != nil {
		return nil, err
	}
	v := &m.disk.view
	n := len(v.uid)
	in := thread.Input{N: n, Subject: make([]int32, n), Reply: make([]uint8, n), Date: make([]int64, n)}
	q := lazyThread{m: m, in: &in, subjects: thread.NewInterner(n/4+1, 8*n), rows: rows}
	q.subjects.Intern(nil)
	if alg == thread.OrderedSubject {
		in.ID, in.RefOff = make([]int32, n), make([]uint32, n+1)
		for i := range in.ID {
			in.ID[i] = -1
		}
	} else {
		t, err := m.threadIndex()
		if err != nil {
			return nil, err
		}
		in.ID, in.RefOff, in.Ref, in.NumIDs = t.id, t.off, t.ref, t.n
	}
	switch alg {
	case thread.References:
		err = q.references()
	case thread.Refs:
		err = m.dates(rows, in.Date)
	default:
		if err = m.dates(rows, in.Date); err == nil {
			err = q.readSubjects(rows)
		}
	}
	if err != nil {
		return nil, err
	}
	thread.Build(alg, &in, rows, &m.answer.Forest, &m.threadScratch)
	m.answer.UID = v.uid
	return &m.answer, nil
}

// lazyThread finds out which dates and subjects a REFERENCES answer depends on.
type lazyThread struct {
	m        *mailbox
	in       *thread.Input
	rows     []int32
	subjects *thread.Interner
	dated    []bool
}

func (q *lazyThread) readSubjects(rows []int32) error {
	m := q.m
	var key []byte
	return m.each(rows, []string{"hdr.subject"}, true, func(row int32, vals [][]byte) error {
		var reply bool
		key, reply = m.cfg.Options.Compat.SubjectKey(key[:0], headerValue(vals[0]))
		q.in.Subject[row] = q.subjects.Intern(key)
		if q.in.Reply[row] = 0; reply {
			q.in.Reply[row] = 1
		}
		return nil
	})
}

// references reads the subjects that step (5) of RFC 5256 section 3 compares,
// and the dates of messages that have siblings. Without subjects nothing is
// merged, so the first forest is that of steps (1) to (3). Merging makes new
// siblings: look again until no date is missing.
func (q *lazyThread) references() error {
	f, sc := &q.m.answer.Forest, &q.m.threadScratch
	q.dated = make([]bool, q.in.N)
	for round := 0; ; round++ {
		thread.Build(thread.References, q.in, q.rows, f, sc)
		dates, tops := q.missing(f)
		if round > 0 && len(dates) == 0 {
			return nil
		}
		if round == 0 && len(tops) > 0 {
			if err := q.readSubjects(tops); err != nil {
				return err
			}
		}
		if len(dates) > 0 {
			if err := q.m.dates(dates, q.in.Date); err != nil {
				return err
			}
			for _, r := range dates {
				q.dated[r] = true
			}
		}
	}
}

// missing lists the messages with siblings whose date is not known, and the
// roots with the children of dummy roots, whose subjects are the threads'.
func (q *lazyThread) missing(f *thread.Forest) (dates, tops []int32) {
	type level struct {
		left  int32 // children of the node still to come
		many  bool  // it has several
		dummy bool
	}
	var stack []level
	for i, row := range f.Row {
		sibling, top := true, len(stack) == 0
		if !top {
			l := &stack[len(stack)-1]
			l.left--
			sibling, top = l.many, l.dummy
		}
		if row >= 0 {
			if sibling && !q.dated[row] {
				dates = append(dates, row)
			}
			if top {
				tops = append(tops, row)
			}
		}
		if k := f.Kids[i]; k > 0 {
			stack = append(stack, level{k, k > 1, row < 0})
		}
		for len(stack) > 0 && stack[len(stack)-1].left == 0 {
			stack = stack[:len(stack)-1]
		}
	}
	return dates, tops
}

// Sort implements index.Mailbox.
func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	out, err := m.sort(crit, s)
	return out, m.damaged(err)
}

func (m *mailbox) sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	rows, err := m.chosen(s)
	if err != nil {
		return nil, err
	}
	v := &m.disk.view
	n := len(v.uid)
	var cols [mailsort.NumKeys][]uint64
	values := make([]int64, n)
	for _, c := range crit {
		if cols[c.Key] != nil {
			continue
		}
		col := make([]uint64, 0, n)
		switch c.Key {
		case mailsort.Arrival:
			err = m.received(rows, values)
			col = index.SignedColumn(col, values)
		case mailsort.Date:
			err = m.dates(rows, values)
			col = index.SignedColumn(col, values)
		case mailsort.Size:
			err = m.sizes(rows, values)
			col = index.SignedColumn(col, values)
		default:
			var ids []uint32
			if ids, err = m.sortIDs(c.Key, rows); err == nil {
				for _, id := range ids {
					col = append(col, uint64(id))
				}
			}
		}
		if err != nil {
			return nil, err
		}
		cols[c.Key] = col
	}
	m.order = mailsort.Order(m.order[:0], n, rows, crit, func(k mailsort.Key) []uint64 { return cols[k] }, &m.sortScratch)
	out := make([]uint32, len(m.order))
	for i, row := range m.order {
		out[i] = v.uid[row]
	}
	return out, nil
}

func (m *mailbox) sizes(rows []int32, dst []int64) error {
	return m.each(rows, []string{fieldVSize}, true, func(row int32, vals [][]byte) error {
		if dst[row] = 0; vals[0] != nil {
			dst[row] = int64(le.Uint64(vals[0]))
		}
		return nil
	})
}
