package column

import (
	"errors"
	"slices"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Thread answers from the stored forest when there is one of these messages,
// else from the columns.
func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	err := m.healing(func() error { return m.thread(alg, s) })
	if err != nil {
		return nil, err
	}
	return &m.answer, nil
}

// Sort answers likewise.
func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	err := m.healing(func() error { return m.sort(canonical(crit), s) })
	return m.uids, err
}

// healing runs a query. If it finds the cache or the answers damaged, they
// are forgotten, and the query runs again on a cache made from the mail. A
// damaged index is the caller's to rebuild.
func (m *mailbox) healing(query func() error) error {
	err := query()
	if errors.Is(err, index.ErrCorrupt) && m.base.Damage() == nil {
		h := m.base.Header()
		m.drop()
		m.closeAnswers()
		m.forget = true
		m.st = m.emptyStore(&h)
		err = query()
	}
	m.wait()
	if m.st != nil && m.st.tainted { // its rows are not on disk
		m.drop()
	}
	return err
}

func isAll(s index.Search) bool { return s.Kind == "" || s.Kind == "all" }

func (m *mailbox) thread(alg thread.Alg, s index.Search) error {
	if alg >= thread.NumAlgs {
		return errors.New("column: unknown thread algorithm")
	}
	name := forestName(alg)
	h := m.base.Header()
	keep := m.stored() && isAll(s) && h.Messages > 0
	if keep {
		if a, ok := m.memo.get(name, m.set(&h)).(index.Answer); ok {
			m.answer = a
			return nil
		}
		if a, ok := m.storedForest(name, &h); ok {
			m.answer = a
			m.memo.put(name, m.set(&h), a, int64(4*(len(a.UID)+2*len(a.Forest.Row))))
			return nil
		}
	}
	st, v, err := m.ready()
	if err != nil {
		return err
	}
	rows, err := m.selected(v, s)
	if err != nil {
		return err
	}
	// What ready has just read is all loaded: the cache is being written while
	// the threads are built.
	if err := errors.Join(st.loadLinks(), st.loadDates(), st.loadRanks(&st.subject)); err != nil {
		return err
	}
	link := m.cfg.Phases.Begin(index.PhaseLink)
	if keep && !v.missing(st) {
		if x := m.update(st, v, &h, name); x != nil {
			link.End()
			m.answer = index.Answer{Forest: *x.forest, UID: x.uid}
			m.memo.put(name, v.set, m.answer, int64(4*(len(x.uid)+2*len(x.forest.Row))))
			m.save(&h, x.uid, x.secs)
			return nil
		}
	}
	m.replies = st.cols.replies(m.replies)
	in := st.cols.input(m.replies)
	thread.Build(alg, &in, rows, &m.forest, &m.threads)
	link.End()
	m.answer = index.Answer{Forest: m.forest, UID: st.cols.uid}
	if !keep || v.missing(st) {
		return nil
	}
	a := m.settle(v, st)
	m.answer = a
	m.memo.put(name, v.set, a, int64(4*(len(a.UID)+2*len(a.Forest.Row))))
	secs := forestSections(name, &a.Forest)
	// The orders that are asked for next cost a tenth of what was just done; those
	// that are stored are brought up to date by who asks for them.
	old := m.openAnswers(&h, false)
	for _, k := range [...]mailsort.Key{mailsort.Date, mailsort.Subject} {
		crit := []mailsort.Criterion{{Key: k}}
		if old != nil && old.newest(orderName(crit)) >= 0 {
			continue
		}
		if err := m.sortRows(st, v, crit, v.live); err != nil {
			return err
		}
		secs = append(secs, m.orderSection(v, crit))
	}
	m.save(&h, a.UID, secs)
	return nil
}

// settle turns the forest of cache rows into one of messages, and leaves the
// memory to it: it is kept, and what asks next gets it.
func (m *mailbox) settle(v *view, st *store) index.Answer {
	a := index.Answer{Forest: m.forest}
	m.forest = thread.Forest{}
	if st.rows >= manyRows {
		m.threads = thread.Scratch{} // 60 bytes per row that the orders can use
	}
	if v.live == nil {
		a.UID = slices.Clone(st.cols.uid)
		return a
	}
	message := make([]int32, st.rows)
	a.UID = make([]uint32, v.n)
	for i, r := range v.live {
		message[r] = int32(i)
		a.UID[i] = st.cols.uid[r]
	}
	for i, r := range a.Forest.Row {
		if r >= 0 {
			a.Forest.Row[i] = message[r]
		}
	}
	return a
}

// selected gives the cache rows of a search, ascending; nil: every row.
func (m *mailbox) selected(v *view, s index.Search) ([]int32, error) {
	if isAll(s) {
		return v.live, nil
	}
	m.wait() // files are used by one goroutine at a time, so that a recording of them means something
	t, err := m.base.Rows()
	if err != nil {
		return nil, err
	}
	rows, all, err := t.Select(m.rows[:0], s)
	if err != nil {
		return nil, err
	}
	m.rows = rows
	if all {
		return v.live, nil
	}
	if rows == nil {
		rows = []int32{} // none, not all
	}
	for i, r := range rows {
		rows[i] = v.row(r)
	}
	return rows, nil
}

func (m *mailbox) sort(crit []mailsort.Criterion, s index.Search) error {
	m.uids = m.uids[:0]
	name := orderName(crit)
	h := m.base.Header()
	keep := m.stored() && isAll(s) && h.Messages > 0
	if keep {
		if u, ok := m.memo.get(name, m.set(&h)).([]uint32); ok {
			m.uids = append(m.uids, u...)
			return nil
		}
		if m.storedOrder(name, &h) {
			m.memo.put(name, m.set(&h), slices.Clone(m.uids), int64(4*len(m.uids)))
			return nil
		}
	}
	st, v, err := m.ready()
	if err != nil {
		return err
	}
	var w wants
	for _, c := range crit {
		switch c.Key {
		case mailsort.Date, mailsort.Subject:
		case mailsort.Arrival:
			w.arrival = true
		case mailsort.Size:
			w.size = true
		default:
			w.address = true
		}
	}
	if err := m.need(st, v, w); err != nil {
		return err
	}
	m.wait() // columns that have to be loaded come out of the file
	if keep && !v.missing(st) {
		if x := m.update(st, v, &h, name); x != nil {
			for _, r := range x.order {
				m.uids = append(m.uids, x.uid[r])
			}
			m.memo.put(name, v.set, slices.Clone(m.uids), int64(4*len(m.uids)))
			m.save(&h, x.uid, x.secs)
			return nil
		}
	}
	rows, err := m.selected(v, s)
	if err != nil {
		return err
	}
	if err := m.sortRows(st, v, crit, rows); err != nil {
		return err
	}
	for _, r := range m.order {
		m.uids = append(m.uids, st.cols.uid[r])
	}
	if keep && !v.missing(st) {
		m.memo.put(name, v.set, slices.Clone(m.uids), int64(4*len(m.uids)))
		m.save(&h, m.liveUIDs(v, st), []section{m.orderSection(v, crit)})
	}
	return nil
}

func (m *mailbox) liveUIDs(v *view, st *store) []uint32 {
	if v.live == nil {
		return st.cols.uid
	}
	return pick(st.cols.uid, v.live)
}

// sortRows sorts cache rows (nil: all) into m.order.
func (m *mailbox) sortRows(st *store, v *view, crit []mailsort.Criterion, rows []int32) error {
	for _, c := range crit { // decode first: Order's callback cannot fail
		if err := st.loadKey(c.Key); err != nil {
			return err
		}
	}
	defer m.cfg.Phases.Begin(index.PhaseSort).End()
	m.order = mailsort.Order(m.order, st.rows, rows, crit, func(k mailsort.Key) []uint64 {
		m.col = st.values(m.col[:0], k)
		return m.col
	}, &m.sorts)
	return nil
}

// loadKey loads the column of a sort key, which the cache has.
func (s *store) loadKey(k mailsort.Key) error {
	if s.rows == 0 {
		return nil
	}
	switch k {
	case mailsort.Date:
		return s.loadDates()
	case mailsort.Subject:
		return errors.Join(s.loadLinks(), s.loadRanks(&s.subject))
	case mailsort.Arrival:
		return s.loadNumbers("arrival", &s.arrival)
	case mailsort.Size:
		return s.loadNumbers("size", &s.size)
	}
	t := s.addressOf(k)
	if t == nil {
		return errors.New("column: unknown sort key")
	}
	return s.loadVal(t)
}

func (s *store) addressOf(k mailsort.Key) *text {
	for i := range addressKeys {
		if addressKeys[i].key == k {
			return &s.address[i]
		}
	}
	return nil
}

// values appends the column of a loaded sort key, for every row.
func (s *store) values(dst []uint64, k mailsort.Key) []uint64 {
	dst = slices.Grow(dst, s.rows)
	switch k {
	case mailsort.Date:
		return index.SignedColumn(dst, s.cols.date)
	case mailsort.Arrival:
		return index.SignedColumn(dst, s.arrival)
	case mailsort.Size:
		return index.SignedColumn(dst, s.size)
	case mailsort.Subject:
		return s.subject.dict.values(dst, s.cols.subject)
	}
	t := s.addressOf(k)
	if t == nil {
		return dst
	}
	return t.dict.values(dst, t.val)
}

// values appends the rank of each row's string.
func (d *dict) values(dst []uint64, val []int32) []uint64 {
	if rank := d.ranks(); rank != nil {
		return index.RankColumn(dst, val, rank)
	}
	for _, v := range val {
		dst = append(dst, uint64(v))
	}
	return dst
}
