package sqlstore

import (
	"database/sql/driver"
)

// purgeBatch is how many expunged messages one transaction takes away.
const purgeBatch = "256"

var (
	purgeMessages = list{"DELETE FROM mailbench_messages WHERE mailbox_id = ? AND status <> 0 AND uid IN", ""}
	stillUsed     = list{"SELECT DISTINCT physmessage_id FROM mailbench_messages WHERE physmessage_id IN", ""}
	partsOf       = list{"SELECT DISTINCT part_id FROM mailbench_partlists WHERE physmessage_id IN", ""}
	valuesOf      = list{"SELECT DISTINCT headervalue_id FROM mailbench_header WHERE physmessage_id IN", ""}
	purgePlaces   = list{"DELETE FROM mailbench_partlists WHERE physmessage_id IN", ""}
	purgeFields   = list{"DELETE FROM mailbench_header WHERE physmessage_id IN", ""}
	purgePhys     = list{"DELETE FROM mailbench_physmessage WHERE id IN", ""}
	purgeParts    = list{"DELETE FROM mailbench_mimeparts WHERE id IN",
		" AND NOT EXISTS (SELECT 1 FROM mailbench_partlists l WHERE l.part_id = mailbench_mimeparts.id)"}
	purgeValues = list{"DELETE FROM mailbench_headervalue WHERE id IN",
		" AND NOT EXISTS (SELECT 1 FROM mailbench_header h WHERE h.headervalue_id = mailbench_headervalue.id)"}
)

// Purge takes away the rows of expunged messages, and of parts and header
// values that no message of any mailbox refers to after that. Its cost is that
// of the expunged messages and one look at the rows of the mailbox; it goes in
// transactions of purgeBatch messages, so that others need not wait for long.
// SQLite gives the space back to the file system, the servers keep it for
// what comes.
func (s *Store) Purge() error {
	s.edit.Lock()
	defer s.edit.Unlock()
	for last := int64(-1); ; {
		var uids, physes []int64
		err := s.db.read(func(c *session) error {
			uids, physes = uids[:0], physes[:0]
			return c.query(`SELECT uid, physmessage_id FROM mailbench_messages
				WHERE mailbox_id = ? AND status <> 0 AND uid > ? ORDER BY uid LIMIT `+purgeBatch, func(row []driver.Value) error {
				var uid, phys int64
				err := ints(row, &uid, &phys)
				uids, physes = append(uids, uid), append(physes, phys)
				return err
			}, s.id, last)
		})
		if err != nil {
			return s.wrap(err)
		}
		if len(uids) == 0 {
			break
		}
		last = uids[len(uids)-1]
		err = s.again(func(c *session) error { return c.purge(s.id, sorted(uids), sorted(physes)) })
		if err != nil {
			return s.wrap(err)
		}
	}
	return s.wrap(s.giveBack())
}

// purge takes away messages of a mailbox, and of physes those that nobody else has.
func (c *session) purge(mailbox int64, uids, physes []any) error {
	if _, err := c.execList(&purgeMessages, []any{mailbox}, uids); err != nil {
		return err
	}
	used := map[int64]bool{}
	err := c.queryList(&stillUsed, nil, physes, func(row []driver.Value) error {
		id, err := asInt(row[0])
		used[id] = true
		return err
	})
	if err != nil {
		return err
	}
	var free []int64
	for _, p := range physes {
		if id := p.(int64); !used[id] {
			free = append(free, id)
		}
	}
	gone := sorted(free)
	parts, err := c.numbers(&partsOf, gone)
	if err != nil {
		return err
	}
	values, err := c.numbers(&valuesOf, gone)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		l   *list
		ids []any
	}{{&purgePlaces, gone}, {&purgeFields, gone}, {&purgePhys, gone}, {&purgeParts, parts}, {&purgeValues, values}} {
		if _, err := c.execList(step.l, nil, step.ids); err != nil {
			return err
		}
	}
	return nil
}

func (c *session) numbers(l *list, of []any) ([]any, error) {
	var out []int64
	err := c.queryList(l, nil, of, func(row []driver.Value) error {
		n, err := asInt(row[0])
		out = append(out, n)
		return err
	})
	return sorted(out), err
}

// giveBack makes an SQLite file shorter.
func (s *Store) giveBack() error {
	if s.db.d != sqliteDialect {
		return nil
	}
	s.db.write.Lock()
	defer s.db.write.Unlock()
	return s.db.read(func(c *session) error {
		for _, q := range []string{"PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"} {
			if err := c.query(q, func([]driver.Value) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}
