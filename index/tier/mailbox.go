package tier

import (
	"encoding/binary"
	"fmt"

	"mailbench/index"
)

// A Mailbox is a mailbox with a tier in front of its Fetch. Everything else
// goes to the mailbox behind it, which is the embedded one: what more that can
// do is asked of it. Close closes that, not the tier.
type Mailbox struct {
	index.Mailbox
	below index.Fetcher
	tier  *Tier
	known index.Status // when the records were last found right

	found  [][]byte // of the call: the record of each UID, nil: missed
	miss   []uint32
	values [][]byte
}

// Sync syncs the mailbox behind it and drops the records of messages that
// went (T2).
func (m *Mailbox) Sync() (index.Changes, error) {
	c, err := m.Mailbox.Sync()
	// After an error too: what the design tells now is what counts.
	m.follow(c)
	return c, err
}

func (m *Mailbox) follow(c index.Changes) {
	was, now := m.known, m.Mailbox.Status()
	m.known = now
	if was.UIDValidity != now.UIDValidity || c.Rebuilt {
		m.tier.keep.clear()
		return
	}
	changer, ok := m.Mailbox.(index.Changer)
	if !ok {
		// Another process may have seen messages go that c does not count.
		if c.Removed > 0 || now.Messages != was.Messages+c.Added {
			m.tier.keep.clear()
		}
		return
	}
	if was.HighestModSeq == now.HighestModSeq {
		return
	}
	if was.HighestModSeq > now.HighestModSeq {
		m.tier.keep.clear()
		return
	}
	gone := false
	err := changer.ChangesSince(was.HighestModSeq, func(index.Message) bool { return true }, func(uid uint32) bool {
		m.tier.forget(uid)
		gone = true
		return true
	})
	switch {
	case err != nil:
		m.tier.keep.clear()
	case gone:
		m.tier.keep.wait() // a buffered record must not come after its end
	}
}

// Fetch answers from the tier what that has and the rest from behind it, with
// one call. O(len(uids)) beside that call; a record is allocated for each miss.
func (m *Mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	t := m.tier
	if t.kind == "none" {
		t.stats.Misses += int64(len(uids))
		return m.below.Fetch(uids, fields, fn)
	}
	list := t.list(fields)
	m.found, m.miss = m.found[:0], m.miss[:0]
	for _, uid := range uids {
		r := t.keep.get(key(list, uid))
		if m.found = append(m.found, r); r == nil {
			m.miss = append(m.miss, uid)
		}
	}
	t.stats.Misses += int64(len(m.miss))
	t.stats.Hits += int64(len(uids) - len(m.miss))

	// The order is that of uids: before a message from behind come the hits
	// that stand before it.
	at := 0
	hits := func() error {
		for ; at < len(uids) && m.found[at] != nil; at++ {
			if m.values = parse(m.values[:0], m.found[at]); len(m.values) != len(fields) {
				return fmt.Errorf("tier: the record of uid %d has %d fields, %d were asked for", uids[at], len(m.values), len(fields))
			}
			if err := fn(uids[at], m.values); err != nil {
				return err
			}
		}
		return nil
	}
	if len(m.miss) > 0 {
		err := m.below.Fetch(m.miss, fields, func(uid uint32, values [][]byte) error {
			t.keep.add(key(list, uid), record(values))
			for {
				if err := hits(); err != nil {
					return err
				}
				if at == len(uids) {
					return fmt.Errorf("tier: uid %d was not asked for, or not in this place", uid)
				}
				at++ // a miss: this one, or one that is not there
				if uids[at-1] == uid {
					return fn(uid, values)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for at < len(uids) {
		if err := hits(); err != nil {
			return err
		}
		at++ // not there
	}
	return nil
}

// RecordBytes is what the record of values takes, without its Overhead.
func RecordBytes(values [][]byte) int64 {
	var head [binary.MaxVarintLen64]byte
	n := int64(0)
	for _, v := range values {
		if v == nil {
			n++
			continue
		}
		n += int64(binary.PutUvarint(head[:], uint64(len(v))+1) + len(v))
	}
	return n
}

// record makes the record of values.
func record(values [][]byte) []byte {
	r := make([]byte, 0, max(RecordBytes(values), 1)) // never nil, which means nothing kept
	for _, v := range values {
		if v == nil {
			r = append(r, 0)
			continue
		}
		r = binary.AppendUvarint(r, uint64(len(v))+1)
		r = append(r, v...)
	}
	return r
}

// parse appends the values of r.
func parse(values [][]byte, r []byte) [][]byte {
	for len(r) > 0 {
		n, head := binary.Uvarint(r)
		if r = r[head:]; n == 0 {
			values = append(values, nil)
			continue
		}
		values = append(values, r[:n-1:n-1])
		r = r[n-1:]
	}
	return values
}
