package bboltidx

import (
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// A transaction that writes records of mail has at most batchMessages messages
// and stops when the records pass batchBytes.
const (
	batchMessages = 8192
	batchBytes    = 32 << 20
)

// item is a message to be read: the groups that it lacks, and their records.
type item struct {
	uid     uint32
	want    set
	records [groups][]byte
}

// reader makes records of mails. It is for one goroutine.
type reader struct {
	src    index.Source
	x      index.Extractor
	f      index.Fields
	buf    []byte // a record
	values []byte
}

// read makes the records that it wants; b is the header or, for the size, the
// message.
func (r *reader) read(it *item, e *index.Entry, b []byte) (kept int, err error) {
	keep := func(g group) {
		it.records[g] = slices.Clone(r.buf)
		kept += len(r.buf)
		r.buf = r.buf[:0]
	}
	r.buf = r.buf[:0]
	r.x.Want = 0
	if it.want.has(groupThread) {
		r.x.Want |= index.WantThread
	}
	if it.want.has(groupAddress) {
		r.x.Want |= index.WantAll &^ index.WantThread
	}
	if r.x.Want != 0 {
		r.x.Extract(b, &r.f)
	}
	internal := func() (int64, error) {
		if e.MTimeOK {
			return e.MTime, nil
		}
		_, t, err := r.src.Stat(e)
		return t, err
	}
	if it.want.has(groupThread) {
		date := r.f.Date
		if !r.f.DateOK {
			if date, err = internal(); err != nil {
				return 0, err
			}
		}
		r.buf = appendThread(r.buf, &r.f, date)
		keep(groupThread)
	}
	if it.want.has(groupAddress) {
		r.buf = appendAddress(r.buf, &r.f)
		keep(groupAddress)
	}
	if it.want.has(groupEnvelope) {
		for i, name := range index.EnvelopeFields {
			if raw, ok := rfc5322.Get(b, name); ok {
				r.values = index.AppendValue(r.values[:0], raw)
				r.buf = appendBytes(append(r.buf, byte(i)), r.values)
			}
		}
		keep(groupEnvelope)
	}
	if it.want.has(groupArrival) {
		t, err := internal()
		if err != nil {
			return 0, err
		}
		r.buf = binary.AppendVarint(r.buf, t)
		keep(groupArrival)
	}
	if it.want.has(groupSize) {
		size := e.VSize
		if size < 0 {
			size = index.CRLFSize(b)
		}
		r.buf = binary.AppendVarint(r.buf, size)
		keep(groupSize)
	}
	return kept, nil
}

// missing tells whether some message has no record of a group of want.
func (x *box) missing(want set) bool {
	if x.unread > 0 {
		return true
	}
	for g, upto := range x.upto {
		if want.has(group(g)) && upto < x.status.UIDNext-1 {
			return true
		}
	}
	return false
}

// ensure writes the records that are missing of the groups of want, and of
// those that have been asked for before.
func (m *mailbox) ensure(want set) error {
	x := m.box
	if x.compat != m.compat() {
		if err := m.forget(); err != nil {
			return err
		}
		x = m.box
	}
	if !x.missing(want) {
		return nil
	}
	for g, upto := range x.upto {
		if upto > 0 && header.has(group(g)) { // what comes from the header comes with it
			want |= 1 << g
		}
	}
	t, err := m.load()
	if err != nil {
		return err
	}
	x = m.box
	again, err := m.unread()
	if err != nil {
		return err
	}
	var rows []int
	for _, uid := range again {
		if row, ok := t.Row(uid); ok {
			rows = append(rows, row)
		}
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return err
	}
	all := want
	for g, upto := range x.upto {
		if upto > 0 {
			all |= 1 << g
		}
	}
	for len(rows) > 0 {
		n, err := m.fillSome(t, rows[:min(batchMessages, len(rows))], func(uint32) set { return all }, 0, all)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	// One group after the other would read each header twice: a row wants what
	// its UID is above.
	lowest := x.status.UIDNext - 1
	for g, upto := range x.upto {
		if want.has(group(g)) {
			lowest = min(lowest, upto)
		}
	}
	from, _ := t.Row(lowest + 1)
	lacks := func(uid uint32) (s set) {
		for g, upto := range x.upto {
			if want.has(group(g)) && uid > upto {
				s |= 1 << g
			}
		}
		return s
	}
	for row, n := from, 0; row < t.Len() || row == from; row += n { // once at least: upto rises
		rows = rows[:0]
		for i := row; i < min(row+batchMessages, t.Len()); i++ {
			rows = append(rows, i)
		}
		if n, err = m.fillSome(t, rows, lacks, x.status.UIDNext-1, want); err != nil || n == 0 {
			return err
		}
	}
	return nil
}

// unread lists the messages that could not be read.
func (m *mailbox) unread() (uids []uint32, err error) {
	if m.box.unread == 0 {
		return nil, nil
	}
	err = m.view(func(tx *bbolt.Tx, _ *bool) error {
		return m.each(tx, bucketUnread, func(uid uint32, _ []byte) error {
			uids = append(uids, uid)
			return nil
		})
	}, bucketUnread)
	return uids, err
}

// fillSome reads rows, as many as batchBytes allows, and writes their records
// in one transaction. last is the UID up to which nothing is missing after the
// last row of the table; 0: rows are mail that could not be read before.
func (m *mailbox) fillSome(t *index.Table, rows []int, lacks func(uid uint32) set, last uint32, want set) (int, error) {
	items := make([]item, len(rows))
	sizes := false
	for i, row := range rows {
		items[i].uid = t.UIDs()[row]
		items[i].want = lacks(items[i].uid)
		sizes = sizes || items[i].want.has(groupSize)
	}
	src := m.cfg.Source
	var readers [index.MaxReaders]reader
	n, gone, denied, err := m.track.ReadRows(src, rows, m.cfg.Options.Workers, batchBytes, func(e *index.Entry, buf []byte) ([]byte, error) {
		switch {
		case sizes && e.VSize < 0:
			return src.ReadMessage(e, buf) // its header is in it
		case want&header != 0:
			return src.ReadHeader(e, buf)
		}
		return buf, nil
	}, func(worker, i int, e *index.Entry, b []byte) (int, error) {
		r := &readers[worker]
		r.src, r.x.Compat = src, m.compat()
		return r.read(&items[i], e, b)
	})
	if err != nil {
		return 0, err
	}
	for i := range n {
		if !gone[i] && !denied[i] {
			m.opened++
		}
	}
	upto := last
	if n > 0 && rows[n-1] < t.Len()-1 {
		upto = min(last, items[n-1].uid)
	}
	away := slices.Clone(gone[:n])
	for i := range away {
		away[i] = away[i] || denied[i]
	}
	if last == 0 && !slices.Contains(away, false) {
		return n, nil // still away: nothing to write
	}
	return n, m.put(items[:n], gone, away, want, upto, last == 0)
}

// put writes records; away: of mail that is gone or may not be read, which is
// tried again; again: of mail that could not be read before.
func (m *mailbox) put(items []item, gone, away []bool, want set, upto uint32, again bool) error {
	return m.update(true, func(tx *bbolt.Tx) error {
		x, err := m.readBox(tx)
		if err != nil {
			return err
		}
		if x.changed != m.tableOf {
			return index.ErrStale
		}
		unread, err := m.bucket(tx, bucketUnread)
		if err != nil {
			return err
		}
		for i := range items {
			key := appendUID(nil, items[i].uid)
			switch was := unread.Get(key) != nil; {
			case away[i] && !was:
				err = unread.Put(key, nil)
				x.unread++
			case !away[i] && was && again:
				err = unread.Delete(key)
				x.unread -= min(x.unread, 1)
			}
			if err != nil {
				return err
			}
		}
		for g := range groups {
			if !want.has(g) {
				continue
			}
			b, err := m.bucket(tx, bucketOf[g])
			if err != nil {
				return err
			}
			for i := range items {
				if !items[i].want.has(g) {
					continue
				}
				v := items[i].records[g]
				if gone[i] {
					if v = nil; g == groupThread {
						v = []byte{isGone}
					}
				}
				if err := b.Put(appendUID(nil, items[i].uid), v); err != nil {
					return err
				}
			}
			x.upto[g] = max(x.upto[g], upto)
		}
		m.box = x
		return m.putBox(tx, &x)
	})
}

// forget deletes all records of headers: their keys were made by the other
// reading of the RFC (Options.Compat).
func (m *mailbox) forget() error {
	return m.update(true, func(tx *bbolt.Tx) error {
		x, err := m.readBox(tx)
		if err != nil {
			return err
		}
		for g := range groups {
			if !header.has(g) {
				continue
			}
			if err := tx.DeleteBucket(bucketOf[g]); err != nil {
				return err
			}
			if _, err := tx.CreateBucket(bucketOf[g]); err != nil {
				return err
			}
			x.upto[g] = 0
		}
		x.compat = m.compat()
		m.box = x
		return m.putBox(tx, &x)
	})
}
