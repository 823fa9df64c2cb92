package sqlidx

import (
	"database/sql/driver"
	"strings"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// Fetch implements index.Fetcher: one query for each UID when all fields are
// in the tables, else the mails are read.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	place, known := make([]int, rfc5322.NumFields), true // 1 + position in values
	set := m.fields                                      // inserted now if they are not: 0 when others are asked for
	for i, name := range fields {
		at := -1
		for f := range rfc5322.NumFields {
			if strings.EqualFold(f.String(), name) {
				at = int(f)
			}
		}
		if known = known && at >= 0 && place[max(at, 0)] == 0; known {
			place[at] = i + 1
		}
		if at < 0 || m.fields&rfc5322.Field(at).Mask() == 0 {
			set = 0
		}
	}
	var stopped error // fn's error is not the database's
	err := m.ask(set, func() error {
		if known {
			h, err := m.have()
			if err != nil {
				return err
			}
			known = len(h.unread) == 0 && m.box.compat == m.compat()
			for f, p := range place {
				known = known && (p == 0 || h.upto[f] >= m.box.status.UIDNext-1)
			}
		}
		if !known {
			return nil
		}
		values := make([][]byte, len(fields))
		for _, uid := range uids {
			there := false
			clear(values)
			err := m.db.query(`SELECT h.headername_id, v.headervalue FROM messages m LEFT JOIN header h ON h.physmessage_id = m.physmessage_id
				LEFT JOIN headervalue v ON v.id = h.headervalue_id WHERE m.message_idnr = ?`, func(row []driver.Value) error {
				there = true
				if row[0] == nil {
					return nil
				}
				id, err := m.db.int(row[0])
				if err != nil {
					return err
				}
				if id < 1 || id > int64(len(place)) || place[id-1] == 0 {
					return nil
				}
				values[place[id-1]-1], err = m.db.bytes(row[1])
				return err
			}, uid)
			if err != nil {
				return err
			}
			if there {
				if stopped = fn(uid, values); stopped != nil {
					return nil
				}
			}
		}
		return nil
	})
	if err != nil || stopped != nil || known || !m.box.there {
		if stopped != nil {
			err = stopped
		}
		return err
	}
	t, err := m.load()
	if err != nil {
		return err
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
