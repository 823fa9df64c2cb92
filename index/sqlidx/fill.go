package sqlidx

import (
	"database/sql/driver"
	"slices"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// A transaction that inserts headers has at most batchMessages messages, and
// stops when their text passes batchBytes.
const (
	batchMessages = 4096
	batchBytes    = 32 << 20
)

// item is a message whose headers are to be inserted.
type item struct {
	uid            uint32
	want           rfc5322.Mask
	gone           bool
	denied         bool // there, may not be read: as if its header were empty, and tried again
	values         [rfc5322.NumFields]value
	refs           [][]byte
	internal, size int64
	vsize          int64 // -1: unknown
}

// batch is what one transaction inserts.
type batch struct {
	items []item
	again bool         // they could not be read before
	set   rfc5322.Mask // the fields
	upto  uint32       // all messages up to it have these fields now; 0: says nothing
}

// have tells up to which UID each field has been inserted, and which messages
// could not be read.
type have struct {
	upto   [rfc5322.NumFields]uint32
	unread []uint32
}

func (m *mailbox) have() (h have, err error) {
	err = m.db.query("SELECT id, upto FROM headername", func(row []driver.Value) error {
		id, upto, err := m.pair(row)
		if err == nil && (id < 1 || id > int64(rfc5322.NumFields) || upto < 0 || upto > 1<<32-1) {
			err = m.corrupt("row of a header name")
		}
		if err == nil {
			h.upto[id-1] = uint32(upto)
		}
		return err
	})
	if err != nil {
		return h, err
	}
	err = m.db.query("SELECT physmessage_id, 0 FROM unread ORDER BY 1", func(row []driver.Value) error {
		uid, _, err := m.pair(row)
		h.unread = append(h.unread, uint32(uid))
		return err
	})
	return h, err
}

// lacks are the fields of set that a message needs to have inserted.
func (h *have) lacks(uid uint32, set rfc5322.Mask) (want rfc5322.Mask) {
	if _, ok := slices.BinarySearch(h.unread, uid); ok {
		return set
	}
	for f := range rfc5322.NumFields {
		if set&f.Mask() != 0 && uid > h.upto[f] {
			want |= f.Mask()
		}
	}
	return want
}

// started adds the fields that have been inserted for some messages.
func (h *have) started(set rfc5322.Mask) rfc5322.Mask {
	for f, upto := range h.upto {
		if upto > 0 {
			set |= rfc5322.Field(f).Mask()
		}
	}
	return set
}

// lowest is the UID up to which all of set is there.
func (h *have) lowest(set rfc5322.Mask) uint32 {
	low := uint32(1<<32 - 1)
	for f, upto := range h.upto {
		if set&rfc5322.Field(f).Mask() != 0 {
			low = min(low, upto)
		}
	}
	return low
}

// ensure inserts what is missing of set for any message. Nothing missing: two
// queries.
func (m *mailbox) ensure(set rfc5322.Mask) error {
	h, err := m.have()
	if err != nil {
		return err
	}
	if m.box.compat != m.compat() {
		if err := m.forget(); err != nil {
			return err
		}
		h = have{}
	}
	if h.lowest(set) >= m.box.status.UIDNext-1 && len(h.unread) == 0 {
		return nil
	}
	set = h.started(set)
	t, err := m.load()
	if err != nil {
		return err
	}
	var rows []int
	for _, uid := range h.unread {
		if row, ok := t.Row(uid); ok {
			rows = append(rows, row)
		}
	}
	early := len(rows)
	from, _ := t.Row(h.lowest(set) + 1)
	for row := from; row < t.Len(); row++ {
		if _, ok := slices.BinarySearch(h.unread, t.UIDs()[row]); !ok {
			rows = append(rows, row)
		}
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return err
	}
	return m.fill(t, &h, set, rows, early, m.box.status.UIDNext-1)
}

// fill reads the headers of rows, of which the first early are not in order,
// and inserts them, reading one batch while the one before is inserted.
func (m *mailbox) fill(t *index.Table, h *have, set rfc5322.Mask, rows []int, early int, last uint32) error {
	type read struct {
		b   *batch
		err error
	}
	batches, stop := make(chan read), make(chan struct{})
	defer func() { // the reader must not be at work when the next call is
		close(stop)
		for range batches {
		}
	}()
	go func() {
		defer close(batches)
		for at := 0; at < len(rows) || at == 0; {
			end := min(at+batchMessages, len(rows))
			if at < early {
				end = min(end, early)
			}
			b, err := m.readBatch(t, h, set, rows[at:end])
			if err == nil {
				b.again = at < early
				at += len(b.items)
				switch {
				case at >= len(rows):
					b.upto = last
				case at > early:
					b.upto = t.UIDs()[rows[at-1]]
				}
			}
			select {
			case batches <- read{b, err}:
			case <-stop:
				return
			}
			if err != nil || len(rows) == 0 {
				return
			}
		}
	}()
	for r := range batches {
		if r.err != nil {
			return r.err
		}
		err := m.db.inside(true, func() error {
			if err := m.mustBe(m.tableOf); err != nil {
				return err
			}
			return m.insert(r.b)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readEarly reads the headers of the mail that a Sync adds, to be inserted in
// the same transaction: when there is little of it and nothing else is missing.
func (m *mailbox) readEarly(t *index.Table, d *index.Delta) (*batch, error) {
	if !m.atDelivery || len(d.Added) == 0 || len(d.Added) > batchMessages || m.box.compat != m.compat() {
		return nil, nil
	}
	h, err := m.have()
	if err != nil {
		return nil, err
	}
	if h.lowest(m.fields) < m.box.status.UIDNext-1 || len(h.unread) > 0 {
		return nil, nil
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return nil, err
	}
	rows := make([]int, len(d.Added))
	for i, r := range d.Added {
		rows[i] = int(r)
	}
	b, err := m.readBatch(t, &h, h.started(m.fields), rows)
	if err != nil || len(b.items) < len(rows) {
		return nil, err // too much text: the rest of Sync does it
	}
	b.upto = t.UIDNext - 1
	return b, nil
}

// readBatch reads headers of rows, as many from the first on as batchBytes allows.
func (m *mailbox) readBatch(t *index.Table, h *have, set rfc5322.Mask, rows []int) (*batch, error) {
	b := &batch{items: make([]item, len(rows)), set: set}
	for i, row := range rows {
		b.items[i].uid = t.UIDs()[row]
		b.items[i].want = h.lacks(b.items[i].uid, set)
	}
	src := m.cfg.Source
	var readers [index.MaxReaders]reader
	done, gone, denied, err := m.track.ReadRows(src, rows, m.cfg.Options.Workers, batchBytes, src.ReadHeader, func(worker, i int, e *index.Entry, header []byte) (kept int, err error) {
		it, r := &b.items[i], &readers[worker]
		r.compat = m.compat()
		before := len(r.arena)
		r.read(header, it)
		it.internal, it.size, it.vsize = e.MTime, e.Size, e.VSize
		if !e.MTimeOK || e.Size < 0 {
			it.size, it.internal, err = src.Stat(e)
		}
		return len(r.arena) - before, err
	})
	if err != nil {
		return nil, err
	}
	b.items = b.items[:done]
	for i := range b.items {
		it := &b.items[i]
		if it.gone, it.denied = gone[i], denied[i]; !it.gone && !it.denied {
			m.opened++
		}
		if it.denied {
			it.vsize = -1 // read when it can be
		}
	}
	return b, nil
}

// insert puts a batch into the tables; a transaction is open.
func (m *mailbox) insert(b *batch) error {
	seen := map[[16]byte]int64{} // values of this transaction
	var scratch []byte
	for i := range b.items {
		it := &b.items[i]
		if it.gone || it.denied {
			if _, _, err := m.db.exec("INSERT OR IGNORE INTO unread VALUES (?)", it.uid); err != nil {
				return err
			}
		}
		if it.gone {
			continue
		}
		var vsize any
		if it.vsize >= 0 {
			vsize = it.vsize
		}
		_, _, err := m.db.exec("INSERT INTO physmessage VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET messagesize = ?2, internal_date = ?4", it.uid, it.size, vsize, it.internal)
		if err != nil {
			return err
		}
		for f := range it.values {
			v := &it.values[f]
			if !v.there {
				continue
			}
			var hash [16]byte
			scratch, hash = v.hash(scratch)
			id, ok := seen[hash]
			if !ok {
				if id, err = m.insertValue(v, hash[:]); err != nil {
					return err
				}
				seen[hash] = id
			}
			if _, _, err := m.db.exec("INSERT OR REPLACE INTO header VALUES (?, ?, ?)", it.uid, f+1, id); err != nil {
				return err
			}
		}
		for n, ref := range it.refs {
			if _, _, err := m.db.exec("INSERT OR REPLACE INTO referencesfield VALUES (?, ?, ?)", it.uid, n, ref); err != nil {
				return err
			}
		}
	}
	for i := range b.items {
		if it := &b.items[i]; b.again && !it.gone && !it.denied {
			if _, _, err := m.db.exec("DELETE FROM unread WHERE physmessage_id = ?", it.uid); err != nil {
				return err
			}
		}
	}
	for f := range rfc5322.NumFields {
		if b.set&f.Mask() != 0 && b.upto > 0 {
			if _, _, err := m.db.exec("UPDATE headername SET upto = ? WHERE id = ? AND upto < ?", b.upto, nameID(f), b.upto); err != nil {
				return err
			}
		}
	}
	return nil
}

// insertValue is the id of a value, which is inserted if it is new.
func (m *mailbox) insertValue(v *value, hash []byte) (int64, error) {
	id, n, err := m.db.exec("INSERT INTO headervalue(hash, headervalue, sortfield, displayfield, datefield, reply) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING", v.args(hash)...)
	if err != nil || n > 0 {
		return id, err
	}
	return m.db.number("SELECT id FROM headervalue WHERE hash = ?", hash)
}

// forget deletes all headers: their keys were made by the other reading of the
// RFC (Options.Compat).
func (m *mailbox) forget() error {
	return m.db.inside(true, func() error {
		for _, q := range []string{"DELETE FROM header", "DELETE FROM headervalue", "DELETE FROM referencesfield", "DELETE FROM unread", "UPDATE headername SET upto = 0"} {
			if _, _, err := m.db.exec(q); err != nil {
				return err
			}
		}
		_, _, err := m.db.exec("UPDATE mailboxes SET compat = ?", int(m.compat()))
		m.box.compat = m.compat()
		return err
	})
}
