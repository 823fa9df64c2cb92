package column

import (
	"slices"
	"strings"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// Fetch takes the fields of an ENVELOPE from the cache when it has them
// (fields=envelope), everything else from the mail. A block of about a
// thousand envelopes is decoded unless the last message was near: a
// millisecond. A cache without a row is not filled for a few messages.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	h := m.base.Header()
	if !h.Exists {
		return m.base.Damage()
	}
	place, cached := envPlaces(fields)
	if !m.envelopes() || !cached {
		return m.fetchMail(uids, fields, fn)
	}
	var failed error // fn's: not the cache's to heal
	done := 0
	err := m.healing(func() error {
		st, err := m.cache(&h)
		if err != nil || st.rows == 0 && 2*len(uids) < h.Messages {
			done = -1
			return err
		}
		st, v, err := m.ready()
		if err != nil {
			return err
		}
		m.wait()
		if v.n > 0 && !st.covers("env") {
			done = -1
			return nil
		}
		if st.env == nil && st.rows > 0 {
			if st.env, err = st.envReader(); err != nil {
				return err
			}
		}
		done, failed, err = m.fetchCached(st, v, uids, done, place, fields, fn)
		return err
	})
	if failed != nil || err != nil {
		return firstOf(failed, err)
	}
	if done < 0 { // nothing is cached
		return m.fetchMail(uids, fields, fn)
	}
	return nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// envPlaces finds the fields among those of the cache.
func envPlaces(fields []string) (place []int, ok bool) {
	place = make([]int, len(fields))
	for i, name := range fields {
		place[i] = slices.IndexFunc(envelopeFields[:], func(f rfc5322.Field) bool { return strings.EqualFold(f.String(), name) })
		if place[i] < 0 {
			return nil, false
		}
	}
	return place, true
}

// fetchCached answers for uids from position from on, and tells how far it got.
func (m *mailbox) fetchCached(st *store, v *view, uids []uint32, from int, place []int, fields []string,
	fn func(uint32, [][]byte) error) (done int, failed, err error) {
	want := uint64(0)
	for _, p := range place {
		want |= 1 << p
	}
	values := make([][]byte, len(place))
	var all [envFields][]byte
	for i := from; i < len(uids); i++ {
		row, ok := slices.BinarySearch(st.cols.uid, uids[i])
		if ok && v.live != nil {
			_, ok = slices.BinarySearch(v.live, int32(row))
		}
		if !ok {
			continue
		}
		if _, absent := slices.BinarySearch(st.state.absent, uids[i]); absent {
			if failed = m.fetchMail(uids[i:i+1], fields, fn); failed != nil {
				return i, failed, nil
			}
			continue
		}
		if err := st.env.read(row, want, &all); err != nil {
			return i, nil, err
		}
		m.counts.records.Add(1)
		for k, p := range place {
			values[k] = all[p]
		}
		if failed = fn(uids[i], values); failed != nil {
			return i, failed, nil
		}
	}
	return len(uids), nil, nil
}

// fetchMail reads the headers.
func (m *mailbox) fetchMail(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	m.wait()
	entry, err := m.entries(uids)
	if err != nil {
		return err
	}
	return index.FetchFrom(m.source(), uids, fields, entry, fn)
}

// fewNames is how many messages are worth decoding blocks of names for, rather
// than all names.
const fewNames = 2048

// entries finds the source's entries of messages, with no more names of the
// index decoded than these are among, if the source can do with that.
func (m *mailbox) entries(uids []uint32) (func(uid uint32) *index.Entry, error) {
	var e index.Entry
	var name []byte
	if namer, ok := m.cfg.Source.(index.Namer); ok && len(uids) <= fewNames {
		t, err := m.base.Rows()
		if err != nil {
			return nil, err
		}
		rows := make([]int32, 0, len(uids))
		for _, u := range uids {
			if row, ok := t.Row(u); ok {
				rows = append(rows, int32(row))
			}
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		names := make(map[uint32]index.Message, len(rows))
		err = m.base.EachMessage(rows, func(msg index.Message) bool {
			names[msg.UID] = msg
			return true
		})
		return func(uid uint32) *index.Entry {
			msg, ok := names[uid]
			if !ok {
				return nil
			}
			row, _ := t.Row(uid)
			name = namer.NameEntry(&e, []byte(msg.Key), msg.Flags, t.Dir(row), msg.Keywords, name)
			return &e
		}, err
	}
	t, err := m.base.Table()
	if err != nil {
		return nil, err
	}
	if err := m.base.Naming(m.cfg.Source); err != nil {
		return nil, err
	}
	return func(uid uint32) (at *index.Entry) {
		row, ok := t.Row(uid)
		if !ok {
			return nil
		}
		at, name = m.base.EntryInto(row, &e, name)
		return at
	}, nil
}

// ChangesSince tells what the index knows: see index.Changer. O(n), but names
// are read of changed messages only, where the log does not need all of them.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	m.wait()
	t, err := m.base.Rows()
	if err != nil {
		return err
	}
	var rows []int32
	var gone []uint32
	t.ChangedSince(modseq, func(row int) { rows = append(rows, int32(row)) }, func(uid uint32) { gone = append(gone, uid) })
	more := true
	err = m.base.EachMessage(rows, func(msg index.Message) bool {
		more = changed(msg)
		return more
	})
	if err != nil || !more {
		return err
	}
	for _, u := range gone {
		if !vanished(u) {
			break
		}
	}
	return nil
}
