package sqlstore

import (
	"fmt"
)

// version is in mailbench_schema: another number is another schema, and there
// is no way from one to the other but to write the mail again.
const version = 1

// tables in the order in which they are made. mailbench_schema is the first: as
// long as it is empty the making was interrupted and is done again.
var tables = []struct{ name, columns, after string }{
	{"mailbench_schema", "version %INT NOT NULL, next_id %INT NOT NULL", "%TABLE"},
	{"mailbench_mailboxes", "mailbox_id %ID, name %NAME NOT NULL UNIQUE, epoch %INT NOT NULL", "%TABLE"},
	{"mailbench_physmessage", "id %ID, messagesize %INT NOT NULL, rfcsize %INT NOT NULL, internal_date %INT NOT NULL", "%TABLE"},
	{"mailbench_messages", `mailbox_id %INT NOT NULL, uid %INT NOT NULL, physmessage_id %INT NOT NULL,
	flags %INT NOT NULL, keywords %INT NOT NULL, status %INT NOT NULL, PRIMARY KEY (mailbox_id, uid),
	FOREIGN KEY (physmessage_id) REFERENCES mailbench_physmessage(id)`, "%OWNKEY%TABLE"},
	{"mailbench_mimeparts", "id %ID, hash %HASH NOT NULL UNIQUE, size %INT NOT NULL, data %BYTES NOT NULL", "%TABLE"},
	{"mailbench_partlists", `physmessage_id %INT NOT NULL, part_order %INT NOT NULL, part_depth %INT NOT NULL,
	is_header %INT NOT NULL, part_id %INT NOT NULL, PRIMARY KEY (physmessage_id, part_order),
	FOREIGN KEY (part_id) REFERENCES mailbench_mimeparts(id)`, "%OWNKEY%TABLE"},
	{"mailbench_headername", "id %ID, headername %NAME NOT NULL UNIQUE", "%TABLE"},
	{"mailbench_headervalue", "id %ID, hash %HASH NOT NULL UNIQUE, headervalue %BYTES NOT NULL", "%TABLE"},
	{"mailbench_header", `physmessage_id %INT NOT NULL, headername_id %INT NOT NULL, headervalue_id %INT NOT NULL,
	PRIMARY KEY (physmessage_id, headername_id, headervalue_id),
	FOREIGN KEY (headervalue_id) REFERENCES mailbench_headervalue(id)`, "%OWNKEY%TABLE"},
}

// indexes on the columns that foreign keys and Purge look up.
var indexes = []struct{ table, column string }{
	{"mailbench_messages", "physmessage_id"},
	{"mailbench_partlists", "part_id"},
	{"mailbench_header", "headervalue_id"},
}

// ready makes the tables in a database that has none and refuses one with
// tables that are not ours.
func (p *pool) ready() error {
	// Without the lock somebody else may be making them right now: only a yes counts.
	if known, err := p.known(); err == nil && known {
		return nil
	}
	return p.read(func(c *session) (err error) {
		if p.d.lock == "" {
			if err := c.plain(p.d.begin); err != nil {
				return err
			}
			defer func() { err = c.finish(err) }()
		} else {
			if _, err := c.text(p.d.lock); err != nil {
				return err
			}
			defer func() {
				if _, uerr := c.text(p.d.unlock); err == nil {
					err = uerr
				}
			}()
		}
		if known, err := c.known(); err != nil || known {
			return err
		}
		return c.create()
	})
}

func (p *pool) known() (known bool, err error) {
	err = p.read(func(c *session) (err error) {
		known, err = c.known()
		return err
	})
	return known, err
}

// known tells whether the tables are there, of this version.
func (c *session) known() (bool, error) {
	n, _, err := c.integer(c.d.table, tables[0].name)
	if err != nil {
		return false, err
	}
	if n == 0 {
		for _, t := range tables[1:] {
			if n, _, err := c.integer(c.d.table, t.name); err != nil || n != 0 {
				if err == nil {
					err = fmt.Errorf("the database has a table %s but no %s: it is not a mail store of this program's", t.name, tables[0].name)
				}
				return false, err
			}
		}
		if c.d == sqliteDialect {
			if n, _, err := c.integer("SELECT COUNT(*) FROM sqlite_master"); err != nil || n != 0 {
				if err == nil {
					err = fmt.Errorf("the database has %d tables and indexes of something else", n)
				}
				return false, err
			}
		}
		return false, nil
	}
	v, ok, err := c.integer("SELECT version FROM mailbench_schema")
	if err != nil {
		return false, fmt.Errorf("mailbench_schema is not this program's: %w", err)
	}
	if ok && v != version {
		return false, fmt.Errorf("the database has schema %d, this program knows %d only", v, version)
	}
	return ok, nil
}

// create makes the tables that are not there and says that all are.
func (c *session) create() error {
	for _, t := range tables {
		q := "CREATE TABLE IF NOT EXISTS " + t.name + "(" + t.columns + ")" + t.after
		if err := c.plain(c.d.types.Replace(q)); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	for _, x := range indexes {
		if c.d == mariadbDialect {
			continue // a foreign key makes its own
		}
		if err := c.plain("CREATE INDEX IF NOT EXISTS " + x.table + "_" + x.column + " ON " + x.table + "(" + x.column + ")"); err != nil {
			return err
		}
	}
	_, err := c.exec("INSERT INTO mailbench_schema (version, next_id) VALUES (?, 1)", version)
	return err
}

// idBlock is how many numbers a Store takes at a time for its rows: a
// transaction of its own in some thousands of messages.
const idBlock = 8192

// ids returns n numbers that no row of any table has had, in a row.
func (s *Store) ids(n int) (first int64, err error) {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	if int64(n) > s.idEnd-s.idNext {
		want := int64(max(n, idBlock))
		err := s.db.change(func(c *session) error {
			if _, err := c.exec("UPDATE mailbench_schema SET next_id = next_id + ?", want); err != nil {
				return err
			}
			next, ok, err := c.integer("SELECT next_id FROM mailbench_schema")
			if err == nil && !ok {
				err = fmt.Errorf("%w: mailbench_schema is empty", errDamaged)
			}
			s.idNext, s.idEnd = next-want, next
			return err
		})
		if err != nil {
			s.idNext, s.idEnd = 0, 0
			return 0, err
		}
	}
	first = s.idNext
	s.idNext += int64(n)
	return first, nil
}
