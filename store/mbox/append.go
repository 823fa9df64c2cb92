package mbox

import (
	"fmt"
	"math"

	"mailbench/maildir"
	"mailbench/store"
	"mailbench/store/catalog"
)

// maxKept bounds the buffers that stay between appends.
const maxKept = 4 << 20

// Append writes the messages at the end and syncs: one write and one fdatasync.
// After an error the file is cut to what it was.
func (m *mailbox) Append(msgs []store.Message) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(); err != nil || len(msgs) == 0 {
		return nil, err
	}
	if uint64(len(msgs)) > uint64(math.MaxUint32-m.last) {
		return nil, ErrFull
	}
	rows, err := m.compose(msgs)
	if err != nil {
		return nil, err
	}
	w := &m.out
	start := m.end + m.gap
	if m.gap > 0 { // B5: zeros, and a line end
		_, err = m.f.WriteAt([]byte{'\n'}, start-1)
	}
	if err == nil {
		_, err = m.f.WriteAt(w.b.Bytes(), start)
	}
	if err == nil {
		err = m.f.Datasync()
	}
	if err != nil {
		m.ragged = m.f.Truncate(m.end) != nil
		return nil, fmt.Errorf("store/mbox: append: %w", err)
	}
	m.end, m.gap = start+int64(w.b.Len()), 0
	if w.b.Cap() > maxKept {
		m.out = writer{}
	}
	m.side.note(m.head.gen, m.end, m.last)
	keys := make([]string, len(rows))
	for i := range rows {
		keys[i] = rows[i].Key
	}
	m.cat.Add(rows...)
	return keys, nil
}

// compose makes the bytes of a group in m.out. UIDs of a group that fails are
// not used again.
func (m *mailbox) compose(msgs []store.Message) ([]catalog.Row, error) {
	w := &m.out
	w.b.Reset()
	rows := make([]catalog.Row, len(msgs))
	for i := range msgs {
		msg := &msgs[i]
		r := record{off: m.end + m.gap + int64(w.b.Len()), uid: m.last + 1, date: msg.Date, vsize: maildir.CRLFSize(msg.Body),
			now: state{msg.Flags & knownFlags, msg.Keywords}}
		if r.date == 0 {
			r.date = m.now().Unix()
		}
		r.date = max(minDate, min(r.date, maxDate))
		r.width = r.now.width()
		if err := w.message(&r, msg.Body); err != nil {
			return nil, err
		}
		if r.quoted >= 1<<quotedBits {
			return nil, errQuoted
		}
		m.last++
		rows[i] = r.row(m.gen)
	}
	return rows, nil
}
