package column

import (
	"errors"
	"runtime"
	"slices"

	"mailbench/index"
)

// A view is the messages of the mailbox as rows of the cache.
type view struct {
	set set
	// live are the cache rows of the messages, in UID order; nil: each row of
	// the cache is a message.
	live []int32
	n    int // messages
}

// row is the cache row of message i.
func (v *view) row(i int32) int32 {
	if v.live == nil {
		return i
	}
	return v.live[i]
}

// missing reports whether a message that lives could not be read: answers are
// then good for now only.
func (v *view) missing(st *store) bool {
	for _, u := range st.state.absent {
		row, ok := slices.BinarySearch(st.cols.uid, u)
		if !ok {
			continue
		}
		if v.live == nil {
			return true
		}
		if _, ok = slices.BinarySearch(v.live, int32(row)); ok {
			return true
		}
	}
	return false
}

// ready opens the cache, reads the mail that it does not have yet, and returns
// it with the rows of the messages of the mailbox.
func (m *mailbox) ready() (*store, *view, error) {
	h := m.base.Header()
	s := m.set(&h)
	if m.st != nil && m.view.set == s && m.st.identity == s.identity {
		return m.st, &m.view, nil
	}
	if !h.Exists {
		if err := m.base.Damage(); err != nil {
			return nil, nil, err
		}
		m.drop()
		m.st, m.view = m.emptyStore(&h), view{set: s}
		return m.st, &m.view, nil
	}
	st, err := m.cache(&h)
	if err != nil {
		return nil, nil, err
	}
	if len(st.state.absent) > 0 && !st.retried {
		if st, err = m.retry(st, &h); err != nil {
			return nil, nil, err
		}
	}
	if st.state.uidNext == h.UIDNext && st.state.set == h.Set && st.rows == h.Messages {
		m.view = view{set: s, n: st.rows}
		return st, &m.view, nil
	}
	if l, ok := m.lately(st); ok {
		if err := m.follow(st, &h, l); err != nil {
			m.drop()
			return nil, nil, err
		}
		return st, &m.view, nil
	}
	t, err := m.table(st, &h)
	if err != nil {
		return nil, nil, err
	}
	live, fresh, ok := match(st, t)
	if !ok || st.rows == 0 && st.r != nil {
		// The cache of a mailbox that had other messages under these UIDs, or
		// one that Compact left without rows (and I3 without meaning).
		m.drop()
		st = m.emptyStore(&h)
		m.st = st
		live, fresh, _ = match(st, t)
	}
	n := t.Len()
	if fresh < n {
		first := int32(st.rows)
		if err := m.fillFrom(st, &h, fresh); err != nil {
			m.drop()
			return nil, nil, err
		}
		for i := first; i < int32(st.rows); i++ {
			live = append(live, i)
		}
	}
	if len(live) == st.rows {
		live = nil
	}
	m.view = view{set: s, live: live, n: n}
	return st, &m.view, nil
}

// table is what match compares st with: without the keys if the cache knows all
// mail up to the index's UIDNEXT.
func (m *mailbox) table(st *store, h *index.BaseHeader) (*index.Table, error) {
	if st.rows > 0 && st.state.uidNext == h.UIDNext {
		return m.base.Rows()
	}
	return m.base.Table()
}

// match finds the cache rows of the table's messages below st.state.uidNext;
// the messages from table row fresh on have none. ok is false when the cache
// cannot be this table's.
func match(st *store, t *index.Table) (live []int32, fresh int, ok bool) {
	uids, c := t.UIDs(), st.cols.uid
	if st.rows > 0 {
		// I7: the same UIDs, and the same messages.
		if added, ok := t.AddedBelow(st.state.uidNext); !ok || added != st.state.added {
			return nil, 0, false
		}
	}
	fresh = len(uids)
	live = make([]int32, 0, len(uids))
	k := 0
	for i, u := range uids {
		if u >= st.state.uidNext {
			fresh = i
			break
		}
		for k < len(c) && c[k] < u {
			k++
		}
		if k == len(c) || c[k] != u {
			return nil, 0, false
		}
		live = append(live, int32(k))
		k++
	}
	return live, fresh, true
}

// retry looks again for messages that could not be read when they were cached.
// If one can be, the cache is made anew.
func (m *mailbox) retry(st *store, h *index.BaseHeader) (*store, error) {
	st.retried = true
	t, err := m.base.Table()
	if err != nil {
		return nil, err
	}
	if err := m.base.Naming(m.cfg.Source); err != nil {
		return nil, err
	}
	var buf, name []byte
	var entry index.Entry
	for _, u := range st.state.absent {
		row, ok := t.Row(u)
		if !ok {
			continue
		}
		var e *index.Entry
		if e, name = m.base.EntryInto(row, &entry, name); e == nil {
			continue
		}
		if buf, err = m.source().ReadHeader(e, buf); err == nil {
			m.drop()
			m.closeAnswers()
			m.forget = true
			m.st = m.emptyStore(h)
			return m.st, nil
		}
	}
	return st, nil
}

// lately asks the log what happened since the cache's rows were the messages of
// the mailbox: what happens most is that mail came, and then nobody needs a
// table of all the others.
func (m *mailbox) lately(st *store) (*index.Lately, bool) {
	if st.rows == 0 || st.r == nil {
		return nil, false
	}
	l, ok, err := m.base.Lately(st.state.uidNext, st.state.set)
	if err != nil || !ok { // who loads the table reports what is damaged
		return nil, false
	}
	return l, l.Naming(m.cfg.Source) || l.Added() == 0
}

// follow makes the view that l describes.
func (m *mailbox) follow(st *store, h *index.BaseHeader, l *index.Lately) error {
	before := st.rows
	if l.Added() > 0 {
		err := m.fill(st, h, arrivals{uids: l.UIDs(), set: l.Set, entry: l.EntryInto})
		if err != nil {
			return err
		}
	}
	v := view{set: m.set(h), n: st.rows - len(l.Removed)}
	if len(l.Removed) > 0 {
		v.live = make([]int32, 0, v.n)
		gone := l.Removed
		for i, u := range st.cols.uid {
			if len(gone) > 0 && gone[0] == u && i < before {
				gone = gone[1:]
				continue
			}
			v.live = append(v.live, int32(i))
		}
	}
	if v.n != h.Messages || v.live != nil && len(v.live) != v.n {
		return corrupt("uid")
	}
	m.view = v
	return nil
}

// arrivals are messages to be read into the cache.
type arrivals struct {
	uids  []uint32
	set   index.SetHash // of them
	entry entryFunc
	done  func() error // called when everything has been read, if there were many
}

// fillFrom reads the messages from table row fresh on.
func (m *mailbox) fillFrom(st *store, h *index.BaseHeader, fresh int) error {
	t, err := m.base.Table()
	if err != nil {
		return err
	}
	if err := m.base.Naming(m.cfg.Source); err != nil {
		return err
	}
	uids := t.UIDs()[fresh:]
	return m.fill(st, h, arrivals{
		uids: uids, set: t.SetFrom(uids[0]),
		entry: func(i int, e *index.Entry, buf []byte) (*index.Entry, []byte) {
			return m.base.EntryInto(fresh+i, e, buf)
		},
		// The names have done their duty before numbering and threading take
		// their memory; they load again if needed.
		done: func() error {
			t = nil
			return m.base.Close()
		},
	})
}

// fill reads messages and adds them to the cache.
func (m *mailbox) fill(st *store, h *index.BaseHeader, a arrivals) error {
	w := wants{thread: true}
	if st.rows == 0 {
		w.address, w.envelope = m.envelopes(), m.envelopes()
	} else { // what has been cached of the others
		w.address, w.envelope = st.covers(addressKeys[0].name), st.covers("env")
		w.arrival, w.size = st.covers("arrival"), st.covers("size")
	}
	n := len(a.uids)
	t, err := m.openTail(h)
	if err != nil {
		return err
	}
	if len(t.recs) == 0 {
		t = nil
	} else if all, sizes := t.covered(a.uids); all && st.rows == 0 {
		w = wants{thread: true, address: true, envelope: true, arrival: true, size: sizes} // in hand
	}
	b, err := newBuilder(st, w, n, m.delivering)
	if err != nil {
		return err
	}
	r := &reader{src: m.source(), want: w, compat: m.compat, key: st.key, phases: m.cfg.Phases, tail: t, uids: a.uids, hash: m.base.Hash}
	if err := readAll(r, n, m.cfg.Options.Workers, a.entry, b.merge); err != nil {
		return err
	}
	s := state{uidNext: h.UIDNext, added: h.Added, set: st.state.set.Plus(a.set)}
	if n >= manyRows {
		if a.done != nil {
			if err := a.done(); err != nil {
				return err
			}
		}
		// There are few pointers to follow: a collection costs a millisecond,
		// and without one the heap would grow to twice what it held.
		runtime.GC()
	}
	if err := b.finish(a.uids); err != nil {
		return err
	}
	if n >= manyRows {
		runtime.GC() // the tables of ids and strings are not needed any more either
	}
	for i, u := range a.uids {
		if st.cols.ctl[b.from+i]&ctlAbsent != 0 {
			s.absent = append(s.absent, u)
		}
	}
	st.state.uidNext, st.state.added, st.state.set = s.uidNext, s.added, s.set
	st.state.absent = append(st.state.absent, s.absent...)
	st.retried = true
	m.publishing(st, h, func() []part {
		return append(b.parts(), part{name: "state", rows: len(s.absent), b: s.encode()})
	})
	return nil
}

// need makes sure that the cache has the columns of w for every row: those
// that no query has asked for before are read from the mail now, all at once.
func (m *mailbox) need(st *store, v *view, w wants) error {
	if st.rows == 0 {
		return nil
	}
	m.wait()
	w.address = w.address && !st.address[0].hasVal && !st.covers(addressKeys[0].name)
	w.arrival = w.arrival && st.arrival == nil && !st.covers("arrival")
	w.size = w.size && st.size == nil && !st.covers("size")
	if !w.address && !w.arrival && !w.size {
		return nil
	}
	t, err := m.base.Table()
	if err != nil {
		return err
	}
	if t.Len() != v.n {
		return errors.New("column: the index has other messages than the cache was made ready for")
	}
	if err := m.base.Naming(m.cfg.Source); err != nil {
		return err
	}
	message := make([]int32, st.rows) // by row: message+1
	for i := range int32(v.n) {
		message[v.row(i)] = i + 1
	}
	b, err := newBuilder(st, w, st.rows, false)
	if err != nil {
		return err
	}
	r := &reader{src: m.source(), want: w, compat: m.compat, key: st.key, phases: m.cfg.Phases}
	err = readAll(r, st.rows, m.cfg.Options.Workers, func(i int, e *index.Entry, buf []byte) (*index.Entry, []byte) {
		if message[i] == 0 {
			return nil, buf
		}
		return m.base.EntryInto(int(message[i]-1), e, buf)
	}, b.merge)
	if err != nil {
		m.drop()
		return err
	}
	if err := b.finish(nil); err != nil {
		m.drop()
		return err
	}
	h := m.base.Header()
	m.publishing(st, &h, b.parts)
	return nil
}
