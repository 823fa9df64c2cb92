package envelope

import (
	"errors"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// ready loads the rows and makes the cache one of this mailbox's options.
func (m *mailbox) ready() error {
	if err := m.load(); err != nil {
		return err
	}
	if m.have && m.h.flavour != m.flavour {
		return m.refill()
	}
	return m.again()
}

// again tries mail that could not be read so far; what can be read now is put
// on disk as a change in which nothing else has happened.
func (m *mailbox) again() error {
	rows := m.unread()
	if len(rows) == 0 {
		return nil
	}
	if err := m.bind(); err != nil {
		return err
	}
	readable := false
	var n named
	var header []byte
	for _, row := range rows {
		var e *index.Entry
		if e, n.buf = m.track.EntryInto(int(row), &n.e, n.buf); e == nil {
			continue
		}
		b, err := m.cfg.Source.ReadHeader(e, header)
		if err == nil {
			header, readable = b, true
		} else if !index.OfOne(err) {
			return err
		}
	}
	if !readable {
		return nil
	}
	if err := m.unchanged(); err != nil {
		return err
	}
	return m.change(m.table, &index.Delta{}, m.h.known)
}

// healing runs do; when the cache is damaged it is made again from the mail,
// once, and do runs once more.
func (m *mailbox) healing(do func() error) error {
	err := m.ready()
	if err == nil {
		err = do()
	}
	if err == nil || !errors.Is(err, index.ErrCorrupt) || m.damaged {
		return err
	}
	// Another process may have put a new cache in place.
	if err := m.ready(); err != nil {
		return err
	}
	if do() == nil {
		return nil
	}
	if err := m.refill(); err != nil {
		return err
	}
	return do()
}

// selected is the rows that s selects, and their UIDs.
func (m *mailbox) selected(s index.Search) (n int, at func(i int) int, err error) {
	t := m.table
	rows, all, err := t.Select(m.rows[:0], s)
	if err != nil {
		return 0, nil, err
	}
	m.rows, m.uids = rows, m.uids[:0]
	if all {
		m.uids = append(m.uids, t.UIDs()...)
		return t.Len(), func(i int) int { return i }, nil
	}
	for _, row := range rows {
		m.uids = append(m.uids, t.UIDs()[row])
	}
	return len(rows), func(i int) int { return int(rows[i]) }, nil
}

// columns makes columns of the cache records of n rows. Dates alone are in the
// index: no cache record is read for them.
func (m *mailbox) columns(n int, at func(i int) int, want index.Want) (*index.Columns, error) {
	a := index.NewAssembler(n, want)
	var cache *window
	var f index.Fields
	for i := range n {
		r := m.row(at(i))
		f = index.Fields{Refs: f.Refs[:0]}
		if want&^index.WantDate != 0 && r.flags&flagUnread == 0 {
			if cache == nil {
				var err error
				if cache, err = m.openCache(); err != nil {
					return nil, err
				}
				defer cache.close()
			}
			b, err := m.cacheRecord(cache, &r)
			if err != nil {
				return nil, err
			}
			item, ok := items(b)
			if ok {
				_, ok = index.ParseFields(item[itemFields], &f)
			}
			if !ok {
				return nil, m.corrupt(cache.name, int64(r.cacheOff), "cache record")
			}
		}
		a.Add(&f, r.sent)
	}
	return a.Columns(), nil
}

// Thread reads every selected message's cache record and threads.
func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	err := m.healing(func() error {
		n, at, err := m.selected(s)
		if err != nil {
			return err
		}
		c, err := m.columns(n, at, index.WantThread)
		if err != nil {
			return err
		}
		thread.Build(alg, &c.Input, nil, &m.answer.Forest, &m.threads)
		m.answer.UID = m.uids
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &m.answer, nil
}

// Sort takes dates, arrival and size from the index, all else from the cache.
func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	var out []uint32
	err := m.healing(func() error {
		n, at, err := m.selected(s)
		if err != nil {
			return err
		}
		c := &index.Columns{}
		if want := index.WantFor(crit); want != 0 {
			if c, err = m.columns(n, at, want); err != nil {
				return err
			}
		}
		column := func(value func(r *record) int64) func() ([]int64, error) {
			return func() ([]int64, error) {
				v := make([]int64, n)
				for i := range v {
					r := m.row(at(i))
					v[i] = value(&r)
				}
				return v, nil
			}
		}
		col, err := c.ForSort(crit, column(func(r *record) int64 { return r.internal }), column(func(r *record) int64 { return int64(r.size) }), &m.sorts)
		if err != nil {
			return err
		}
		m.order = mailsort.Order(m.order[:0], n, nil, crit, col, &m.sorts)
		out = make([]uint32, n)
		for i, row := range m.order {
			out[i] = m.uids[row]
		}
		return nil
	})
	return out, err
}
