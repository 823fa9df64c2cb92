package column

import (
	"errors"
	"fmt"
	"io/fs"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// Cache implements index.Cacher: one frame of the tail. Nothing is numbered,
// sorted or looked up in what is there; that is done for tailRows messages at a
// time, in passes over the columns, or by the first question.
func (m *mailbox) Cache(msgs []index.Cached) error {
	h := m.base.Header()
	if !h.Exists {
		return m.base.Damage()
	}
	m.wait()
	if m.st != nil && m.st.tainted {
		m.drop()
	}
	st, err := m.cache(&h)
	if err != nil {
		return err
	}
	t, err := m.openTail(&h)
	if err != nil {
		return err
	}
	reset := t.last() > 0 && t.last() < st.state.uidNext // its records are rows
	last := t.last()
	payload := m.told[:0]
	for i := range msgs {
		c := &msgs[i]
		if c.UID < st.state.uidNext || c.UID <= last || c.UID >= h.UIDNext {
			continue
		}
		hash, ok, err := m.base.HashOf(c.UID)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		var head rfc5322.Header
		rfc5322.Scan(c.Header, tailMask, &head)
		payload = appendRec(payload, c, hash, &head)
		last = c.UID
	}
	m.told = payload[:0]
	if len(payload) == 0 {
		return nil
	}
	if err := t.append(m.fs, append([]byte(nil), payload...), reset); err != nil {
		t.close()
		m.tail = nil // read again: what is on disk is not known
		if errors.Is(err, index.ErrStale) {
			return nil // the mail is read instead
		}
		return fmt.Errorf("column: %s: %w", TailFile, err)
	}
	rows, most := m.tailBounds(st)
	if len(t.recs) < rows && t.bytes < most {
		return nil
	}
	// Where the cache lacks more than the tail has, whoever asks first reads all
	// that mail; a delivery should not.
	if missing := h.Messages - st.rows; missing > 2*len(t.recs)+rows && t.bytes < tailMost {
		return nil
	}
	m.delivering = true
	defer func() { m.delivering = false }()
	return m.healing(func() error {
		_, _, err := m.ready()
		return err
	})
}

// tailBounds are the records and bytes from which the tail becomes rows of st:
// the more the more rows there are, for that is a pass over them and, after
// opening, what it takes to bring them into memory. Whole multiples of tailRows
// are what the readers share evenly, and fewer than manyRows.
func (m *mailbox) tailBounds(st *store) (rows, bytes int) {
	rows = m.tailRows * max(1, min(st.rows/(m.tailRows*tailShare), manyRows/m.tailRows-1))
	return rows, max(tailBytes, rows*(tailBytes/tailRows))
}

// openTail is the tail of the index, as this handle knows it.
func (m *mailbox) openTail(h *index.BaseHeader) (*tail, error) {
	ident := m.identity(h)
	ident.compat = 0
	if m.tail != nil && m.tail.ident == ident && m.tail.f != nil {
		return m.tail, nil
	}
	info, err := m.fs.Stat(m.tailPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m.tail != nil && m.tail.ident == ident && m.tail.info == info {
		return m.tail, nil
	}
	m.tail.close()
	m.tail = nil
	t, _, err := loadTail(m.fs, m.tailPath, ident) // what is damaged is not there
	if err == nil {
		t.info, m.tail = info, t
	}
	return t, err
}

// dropTail removes a tail whose records are all rows of the cache, below uidNext.
func (m *mailbox) dropTail(h *index.BaseHeader, uidNext uint32) error {
	t, err := m.openTail(h)
	if err != nil || t.last() >= uidNext {
		return err
	}
	m.tail.close()
	m.tail = nil
	if err := m.fs.Remove(m.tailPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// told finds what the tail has of message i.
func (r *reader) told(i int, e *index.Entry) *tailRec {
	if e == nil || r.tail == nil || i >= len(r.uids) {
		return nil
	}
	return r.tail.find(r.uids[i], r.hash(r.uids[i], []byte(e.Key)))
}

// covered reports whether the tail has all of the messages, and whether all of
// them with their RFC822.SIZE.
func (t *tail) covered(uids []uint32) (all, sizes bool) {
	sizes = true
	k := 0
	for _, u := range uids {
		for k < len(t.recs) && t.recs[k].uid < u {
			k++
		}
		if k == len(t.recs) || t.recs[k].uid != u {
			return false, false
		}
		sizes = sizes && t.recs[k].vsize >= 0
	}
	return len(uids) > 0, sizes
}
