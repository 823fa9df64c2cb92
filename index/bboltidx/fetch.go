package bboltidx

import (
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"mailbench/index"
)

// Fetch implements index.Fetcher: one record for each UID when the envelope is
// kept and nothing else is asked for, else the mails are read.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	at := make([][]int, len(index.EnvelopeFields)) // field -> places in values
	kept := m.fields.has(groupEnvelope)
	for i, name := range fields {
		f := slices.IndexFunc(index.EnvelopeFields, func(s string) bool { return strings.EqualFold(s, name) })
		if kept = kept && f >= 0; kept {
			at[f] = append(at[f], i)
		}
	}
	if !kept {
		return m.fetchFromMail(uids, fields, fn)
	}
	var stopped error // fn's error is not the database's
	err := m.ask(m.fields, func(tx *bbolt.Tx, outside *bool) error {
		messages, err := m.bucket(tx, bucketMessages)
		if err != nil {
			return err
		}
		b, err := m.bucket(tx, bucketOf[groupEnvelope])
		if err != nil {
			return err
		}
		values := make([][]byte, len(fields))
		for _, uid := range uids {
			key := appendUID(nil, uid)
			if messages.Get(key) == nil {
				continue
			}
			clear(values)
			c := cursor{b: b.Get(key)}
			m.keys++
			m.bytes += int64(len(c.b))
			for len(c.b) > 0 {
				f, v := int(c.byte()), c.bytes()
				if c.bad || f >= len(at) {
					return m.corrupt("record of bucket envelope")
				}
				for _, i := range at[f] {
					values[i] = v
				}
			}
			*outside = true
			stopped = fn(uid, values)
			if *outside = false; stopped != nil {
				return errStop
			}
		}
		return nil
	})
	if stopped != nil {
		return stopped
	}
	return err
}

func (m *mailbox) fetchFromMail(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	t, err := m.load()
	if err == errNone {
		return nil
	}
	if err != nil {
		return m.aside(err)
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return err
	}
	var e index.Entry
	var buf []byte
	return index.FetchFrom(m.cfg.Source, uids, fields, func(uid uint32) (found *index.Entry) {
		if row, ok := t.Row(uid); ok {
			m.opened++
			found, buf = m.track.EntryInto(row, &e, buf)
		}
		return found
	}, fn)
}
