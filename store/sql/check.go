package sqlstore

import (
	"bytes"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"iter"

	"mailbench/internal/rfc5322"
	"mailbench/store/catalog"
)

// Check reads all mail of the mailbox and yields what does not fit together:
// the engine's own findings (SQLite), messages that the catalog knows
// differently, parts that are missing, out of order or not what their hash
// says, sizes, and header rows that the header does not have. Expunged messages
// and parts that nobody uses are no fault.
func (s *Store) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		stopped := false
		fault := func(err error) bool {
			if err != nil && !stopped {
				stopped = !yield(s.wrap(err))
			}
			return !stopped
		}
		if !fault(s.checkEngine(fault)) {
			return
		}
		rows, err := s.checkRows(fault)
		if !fault(err) {
			return
		}
		for _, r := range rows {
			if !fault(s.checkMessage(r, fault)) {
				return
			}
		}
	}
}

func (s *Store) checkEngine(fault func(error) bool) error {
	if s.db.d != sqliteDialect {
		return nil
	}
	return s.db.read(func(c *session) error {
		err := c.query("PRAGMA integrity_check(100)", func(row []driver.Value) error {
			if text := fmt.Sprint(row[0]); text != "ok" {
				fault(fmt.Errorf("%w: %s", errDamaged, text))
			}
			return nil
		})
		if err != nil {
			return err
		}
		return c.query("PRAGMA foreign_key_check", func(row []driver.Value) error {
			fault(fmt.Errorf("%w: row %v of %v refers to a row of %v that is not there", errDamaged, row[1], row[0], row[2]))
			return nil
		})
	})
}

// checkRows compares the catalog with the database and returns its rows.
func (s *Store) checkRows(fault func(error) bool) (rows []catalog.Row, err error) {
	s.edit.Lock()
	defer s.edit.Unlock()
	s.mu.Lock() // no Append takes keys, and those that have some are done with
	defer s.mu.Unlock()
	<-s.turn
	s.cat.Each(func(r catalog.Row) bool { rows = append(rows, r); return true })
	known := map[string]catalog.Row{}
	for _, r := range rows {
		known[r.Key] = r
	}
	err = s.db.read(func(c *session) error {
		left := map[string]catalog.Row{}
		for k, r := range known {
			left[k] = r
		}
		err := c.query(`SELECT m.uid, m.physmessage_id, m.flags, m.keywords, p.messagesize, p.rfcsize, p.internal_date
			FROM mailbench_messages m LEFT JOIN mailbench_physmessage p ON p.id = m.physmessage_id
			WHERE m.mailbox_id = ? AND m.status = ? ORDER BY m.uid`, func(row []driver.Value) error {
			var uid, phys, flags, keywords, size, vsize, date int64
			if err := ints(row[:4], &uid, &phys, &flags, &keywords); err != nil {
				return err
			}
			if row[4] == nil {
				fault(fmt.Errorf("%w: message %s has no physmessage", errDamaged, keyOf(uid)))
				delete(left, keyOf(uid))
				return nil
			}
			if err := ints(row[4:], &size, &vsize, &date); err != nil {
				return err
			}
			is := makeRow(uid, phys, flags, keywords, size, vsize, date)
			r, ok := left[is.Key]
			delete(left, is.Key)
			if !ok {
				fault(fmt.Errorf("%w: message %s is in the database and was not shown", errDamaged, is.Key))
			} else if r != is {
				fault(fmt.Errorf("%w: message %s is %+v in the database and shown as %+v", errDamaged, is.Key, is, r))
			}
			return nil
		}, s.id, statusLive)
		for key := range left {
			fault(fmt.Errorf("%w: message %s is shown and not in the database", errDamaged, key))
		}
		return err
	})
	return rows, err
}

// checkMessage reads the parts and header rows of one message.
func (s *Store) checkMessage(r catalog.Row, fault func(error) bool) error {
	bad := func(format string, args ...any) {
		fault(fmt.Errorf("%w: message %s: %s", errDamaged, r.Key, fmt.Sprintf(format, args...)))
	}
	return s.db.read(func(c *session) error {
		var body []byte
		order := int64(0)
		err := c.query(`SELECT l.part_order, l.is_header, l.part_depth, p.size, p.hash, p.data
			FROM mailbench_partlists l LEFT JOIN mailbench_mimeparts p ON p.id = l.part_id
			WHERE l.physmessage_id = ? ORDER BY l.part_order`, func(row []driver.Value) error {
			var at, header, depth, size int64
			if err := ints(row[:3], &at, &header, &depth); err != nil {
				return err
			}
			if at != order {
				bad("part %d comes after %d parts", at, order)
			}
			order++
			if row[3] == nil {
				bad("part %d is not there", at)
				return nil
			}
			if err := ints(row[3:4], &size); err != nil {
				return err
			}
			hash, err := asBytes(row[4])
			if err != nil {
				return err
			}
			data, err := asBytes(row[5])
			if err != nil {
				return err
			}
			if sum := sha256.Sum256(data); !bytes.Equal(sum[:], hash) || int64(len(data)) != size {
				bad("part %d is not what its hash and size say", at)
			}
			body = append(body, data...)
			return nil
		}, r.Off)
		if err != nil {
			return err
		}
		if int64(len(body)) != r.Size || crlfSize(body) != r.VSize {
			bad("its parts are %d bytes, %d with CRLF, not %d and %d", len(body), crlfSize(body), r.Size, r.VSize)
		}
		return c.checkFields(r, body, bad)
	})
}

// checkFields looks for header rows that the header does not have. It may have
// more fields than rows: how many get them is an option.
func (c *session) checkFields(r catalog.Row, body []byte, bad func(string, ...any)) error {
	end := rfc5322.HeaderEnd(body, 0)
	if end < 0 {
		end = len(body)
	}
	has := map[string]bool{}
	headersAll.fields(body[:end], func(name string, value []byte) { has[name+":"+string(value)] = true })
	return c.query(`SELECT n.headername, v.headervalue FROM mailbench_header h
		LEFT JOIN mailbench_headername n ON n.id = h.headername_id LEFT JOIN mailbench_headervalue v ON v.id = h.headervalue_id
		WHERE h.physmessage_id = ?`, func(row []driver.Value) error {
		if row[0] == nil || row[1] == nil {
			bad("a header row has no name or no value")
			return nil
		}
		name, err := asBytes(row[0])
		if err != nil {
			return err
		}
		value, err := asBytes(row[1])
		if err != nil {
			return err
		}
		if !has[string(name)+":"+string(value)] {
			bad("a header row says %q: %.80q, which the header does not have", name, value)
		}
		return nil
	}, r.Off)
}
