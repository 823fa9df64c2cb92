package column

import (
	"slices"
	"strings"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// Fetch takes the fields of an ENVELOPE from the cache when it has them
// (fields=envelope, or mail that Cache was told of), a BODYSTRUCTURE from there
// alone, everything else from the mail. A block of about a
// thousand envelopes is decoded unless the last message was near: a
// millisecond. A cache without a row is not filled for a few messages.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	h := m.base.Header()
	if !h.Exists {
		return m.base.Damage()
	}
	place, want, cached := envPlaces(fields)
	if !cached {
		return m.fetchMail(uids, fields, fn)
	}
	if done, err := m.fetchTold(&h, uids, place, fn); done || err != nil {
		return err
	}
	if want != 0 && !m.envelopes() {
		if st, err := m.cache(&h); err != nil || !st.covers("env") {
			return m.fetchMail(uids, fields, fn)
		}
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
		if v.n > 0 && want != 0 && !st.covers("env") {
			done = -1
			return nil
		}
		if st.env == nil && st.rows > 0 && want != 0 {
			if st.env, err = st.envReader(); err != nil {
				return err
			}
		}
		done, failed, err = m.fetchCached(st, v, uids, done, place, want, fields, fn)
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

// bodyPlace is the place of the BODYSTRUCTURE.
const bodyPlace = -1

// envPlaces finds the fields among those of the cache; want has a bit for each
// place but bodyPlace.
func envPlaces(fields []string) (place []int, want uint64, ok bool) {
	place = make([]int, len(fields))
	for i, name := range fields {
		if strings.EqualFold(name, index.BodyStructureField) {
			place[i] = bodyPlace
			continue
		}
		place[i] = slices.IndexFunc(envelopeFields[:], func(f rfc5322.Field) bool { return strings.EqualFold(f.String(), name) })
		if place[i] < 0 {
			return nil, 0, false
		}
		want |= 1 << place[i]
	}
	return place, want, true
}

// fetchTold answers from the tail alone, if it has all of uids; else nothing has
// been done.
func (m *mailbox) fetchTold(h *index.BaseHeader, uids []uint32, place []int, fn func(uint32, [][]byte) error) (done bool, err error) {
	m.wait()
	t, err := m.openTail(h)
	if err != nil || len(t.recs) == 0 || len(uids) == 0 {
		return false, err
	}
	recs := make([]*tailRec, len(uids))
	for i, u := range uids {
		if u < t.recs[0].uid || u > t.last() {
			return false, nil
		}
		hash, ok, err := m.base.HashOf(u)
		if err != nil {
			return false, err
		}
		if !ok {
			continue // expunged
		}
		if recs[i] = t.find(u, hash); recs[i] == nil {
			return false, nil
		}
	}
	values := make([][]byte, len(place))
	text := make([]byte, 0, 1024) // not nil: an empty value is not a missing one
	for i, rec := range recs {
		if rec == nil {
			continue
		}
		text = text[:0]
		clear(values)
		var from, to [envFields]int
		body := rec.each(func(f rfc5322.Field, raw []byte) {
			if p := slices.Index(envelopeFields[:], f); p >= 0 {
				from[p] = len(text)
				text = index.AppendValue(text, raw)
				to[p] = len(text) + 1
			}
		})
		for k, p := range place {
			switch {
			case p == bodyPlace:
				values[k] = body
			case to[p] > 0:
				values[k] = text[from[p] : to[p]-1 : to[p]-1]
			}
		}
		m.counts.records.Add(1)
		if err := fn(uids[i], values); err != nil {
			return true, err
		}
	}
	return true, nil
}

// bodyOf is what is known of a message's BODYSTRUCTURE.
func (m *mailbox) bodyOf(uid uint32) ([]byte, error) {
	h := m.base.Header()
	t, err := m.openTail(&h)
	if err != nil {
		return nil, err
	}
	if uid <= t.last() {
		hash, ok, err := m.base.HashOf(uid)
		if err != nil {
			return nil, err
		}
		if rec := t.find(uid, hash); ok && rec != nil {
			return rec.each(nil), nil
		}
	}
	st, err := m.cache(&h)
	if err != nil {
		return nil, err
	}
	if row, ok := slices.BinarySearch(st.cols.uid, uid); ok {
		return st.bodyOf(row)
	}
	return nil, nil
}

// bodyOf is the BODYSTRUCTURE of a row.
func (s *store) bodyOf(row int) (b []byte, err error) {
	if s.body == nil {
		if s.body, err = s.loadBodies(); err != nil {
			return nil, err
		}
	}
	return s.body.of(row)
}

// fetchCached answers for uids from position from on, and tells how far it got.
func (m *mailbox) fetchCached(st *store, v *view, uids []uint32, from int, place []int, want uint64, fields []string,
	fn func(uint32, [][]byte) error) (done int, failed, err error) {
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
		if want != 0 {
			if err := st.env.read(row, want, &all); err != nil {
				return i, nil, err
			}
		}
		m.counts.records.Add(1)
		for k, p := range place {
			if p != bodyPlace {
				values[k] = all[p]
			} else if values[k], err = st.bodyOf(row); err != nil {
				return i, nil, err
			}
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
	return index.FetchFrom(m.source(), uids, fields, entry, m.withBodies(fields, fn))
}

// withBodies is fn with the BODYSTRUCTURE put among what the headers gave.
func (m *mailbox) withBodies(fields []string, fn func(uint32, [][]byte) error) func(uint32, [][]byte) error {
	some := slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, index.BodyStructureField) })
	if !some {
		return fn
	}
	return func(uid uint32, values [][]byte) error {
		b, err := m.bodyOf(uid)
		if err != nil {
			return err
		}
		for i, f := range fields {
			if strings.EqualFold(f, index.BodyStructureField) {
				values[i] = b
			}
		}
		return fn(uid, values)
	}
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

// ChangesSince tells what the index knows: see index.Changer. What a Journal has
// told this handle costs what it was; else it is O(n), but names
// are read of changed messages only, where the log does not need all of them.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	m.wait()
	if msgs, gone, ok := m.base.Noticed(modseq); ok {
		index.TellChanges(msgs, gone, changed, vanished)
		return nil
	}
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
