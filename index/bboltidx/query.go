package bboltidx

import (
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// selected fills m.uids with the messages that s selects.
func (m *mailbox) selected(tx *bbolt.Tx, s index.Search) error {
	m.uids = m.uids[:0]
	b, err := m.bucket(tx, bucketMessages)
	if err != nil {
		return err
	}
	switch s.Kind {
	case "", "all":
		return m.each(tx, bucketMessages, func(uid uint32, _ []byte) error {
			m.uids = append(m.uids, uid)
			return nil
		})
	case "undeleted":
		return m.each(tx, bucketMessages, func(uid uint32, v []byte) error {
			if len(v) == 0 {
				return m.corrupt("record of a message")
			}
			if index.Flags(v[0])&index.FlagDeleted == 0 {
				m.uids = append(m.uids, uid)
			}
			return nil
		})
	case "recent":
		c := b.Cursor()
		for k, _ := c.Last(); k != nil && len(m.uids) < 1000; k, _ = c.Prev() {
			uid, err := m.uid(k, 0)
			if err != nil {
				return err
			}
			m.uids = append(m.uids, uid)
		}
		slices.Reverse(m.uids)
		for i := 1; i < len(m.uids); i++ {
			if m.uids[i] <= m.uids[i-1] {
				return m.corrupt("keys are out of order")
			}
		}
		return nil
	case "uids":
		last := uint32(0)
		for _, uid := range s.UIDs {
			if uid > last && b.Get(appendUID(nil, uid)) != nil {
				m.uids = append(m.uids, uid)
				last = uid
			}
		}
		return nil
	}
	return &index.SearchError{Kind: s.Kind}
}

// records calls fn with a group's record of each message of m.uids. A few are
// looked up, many are met on a walk over all.
func (m *mailbox) records(tx *bbolt.Tx, g group, fn func(v []byte) error) error {
	b, err := m.bucket(tx, bucketOf[g])
	if err != nil {
		return err
	}
	missing := m.corrupt("bucket " + string(bucketOf[g]) + " lacks a record")
	if len(m.uids)*16 < m.box.status.Messages {
		for _, uid := range m.uids {
			v := b.Get(appendUID(nil, uid))
			if v == nil {
				return missing
			}
			m.keys++
			m.bytes += int64(len(v))
			if err := fn(v); err != nil {
				return err
			}
		}
		return nil
	}
	next := 0
	err = m.each(tx, bucketOf[g], func(uid uint32, v []byte) error {
		switch {
		case next == len(m.uids):
			return errStop
		case uid < m.uids[next]:
			return nil
		case uid > m.uids[next]:
			return missing
		}
		next++
		return fn(v)
	})
	if err = enough(err); err == nil && next < len(m.uids) {
		err = missing
	}
	return err
}

// columns reads records into columns.
func (m *mailbox) columns(tx *bbolt.Tx, g group, want index.Want) (*index.Columns, error) {
	a := index.NewAssembler(len(m.uids), want)
	var f index.Fields
	err := m.records(tx, g, func(v []byte) error {
		var date int64
		ok := false
		if g == groupThread {
			date, ok = decodeThread(v, want, &f)
		} else {
			ok = decodeAddress(v, &f)
		}
		if !ok {
			return m.corrupt("record of bucket " + string(bucketOf[g]))
		}
		a.Add(&f, date)
		return nil
	})
	return a.Columns(), err
}

// numbers reads a group of one number a message.
func (m *mailbox) numbers(tx *bbolt.Tx, g group) ([]int64, error) {
	out := make([]int64, 0, len(m.uids))
	return out, m.records(tx, g, func(v []byte) error {
		n, size := int64(0), 0
		if len(v) > 0 { // else the mail was gone
			if n, size = binary.Varint(v); size != len(v) {
				return m.corrupt("record of bucket " + string(bucketOf[g]))
			}
		}
		out = append(out, n)
		return nil
	})
}

// Thread reads the records of the thread bucket and threads them.
func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	m.uids = m.uids[:0]
	c := index.NewAssembler(0, index.WantThread).Columns()
	err := m.ask(1<<groupThread|m.fields, func(tx *bbolt.Tx, _ *bool) error {
		err := m.selected(tx, s)
		if err == nil {
			c, err = m.columns(tx, groupThread, index.WantThread)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	thread.Build(alg, &c.Input, nil, &m.answer.Forest, &m.threads)
	m.answer.UID = append(m.answer.UID[:0], m.uids...)
	return &m.answer, nil
}

// Sort reads the records of the buckets that the criteria need, ranks their
// texts and sorts.
func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	want := index.WantFor(crit)
	var need set
	if want&index.WantThread != 0 {
		need |= m.fields | 1<<groupThread
	}
	if want&^index.WantThread != 0 {
		need |= 1 << groupAddress
	}
	for _, c := range crit {
		switch c.Key {
		case mailsort.Arrival:
			need |= 1 << groupArrival
		case mailsort.Size:
			need |= 1 << groupSize
		}
	}
	var cols [mailsort.NumKeys][]uint64
	m.uids = m.uids[:0]
	err := m.ask(need, func(tx *bbolt.Tx, _ *bool) error {
		if err := m.selected(tx, s); err != nil {
			return err
		}
		return m.sortColumns(tx, crit, want, &cols)
	})
	if err != nil {
		return nil, err
	}
	m.order = mailsort.Order(m.order[:0], len(m.uids), nil, crit, func(k mailsort.Key) []uint64 { return cols[k] }, &m.sorts)
	m.sorted = m.sorted[:0]
	for _, i := range m.order {
		m.sorted = append(m.sorted, m.uids[i])
	}
	return m.sorted, nil
}

func (m *mailbox) sortColumns(tx *bbolt.Tx, crit []mailsort.Criterion, want index.Want, cols *[mailsort.NumKeys][]uint64) (err error) {
	texts, addresses := &index.Columns{}, &index.Columns{}
	if want&index.WantThread != 0 {
		if texts, err = m.columns(tx, groupThread, want&index.WantThread); err != nil {
			return err
		}
	}
	var rank []uint32
	if want&^index.WantThread != 0 {
		if addresses, err = m.columns(tx, groupAddress, want&^index.WantThread); err != nil {
			return err
		}
		rank = index.InternerRanks(addresses.Keys, &m.sorts)
	}
	for _, c := range crit {
		var v []int64
		switch c.Key {
		case mailsort.Arrival:
			if v, err = m.numbers(tx, groupArrival); err != nil {
				return err
			}
			cols[c.Key] = index.SignedColumn(nil, v)
		case mailsort.Size:
			if v, err = m.numbers(tx, groupSize); err != nil {
				return err
			}
			cols[c.Key] = index.SignedColumn(nil, v)
		case mailsort.Date:
			cols[c.Key] = index.SignedColumn(nil, texts.Input.Date)
		case mailsort.Subject:
			cols[c.Key] = index.RankColumn(nil, texts.Input.Subject, index.InternerRanks(texts.Subjects, &m.sorts))
		default:
			id := map[mailsort.Key][]int32{mailsort.From: addresses.From, mailsort.To: addresses.To, mailsort.Cc: addresses.Cc,
				mailsort.DisplayFrom: addresses.DisplayFrom, mailsort.DisplayTo: addresses.DisplayTo}[c.Key]
			cols[c.Key] = index.RankColumn(nil, id, rank)
		}
	}
	return nil
}
