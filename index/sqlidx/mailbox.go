package sqlidx

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// attempts at something that another process's changes may undo.
const attempts = 5

// Sync brings the database in line with the source. A damaged one is kept
// aside and built anew.
func (m *mailbox) Sync() (c index.Changes, err error) {
	for n := range attempts {
		if c, err = m.follow(); err == nil {
			break
		}
		m.table = nil
		switch {
		case isCorrupt(err) && n == 0:
			if derr := m.discard(true); derr != nil {
				return c, derr
			}
		case errors.Is(err, index.ErrStale):
		default:
			return c, err
		}
	}
	return c, err
}

func (m *mailbox) follow() (index.Changes, error) {
	c, err := m.track.Follow(m.cfg.Source, keeper{m}, func() *index.UIDListData {
		return index.ReadUIDList(m.cfg.FS, m.cfg.Source, m.cfg.Options.UIDList)
	})
	if err == nil && m.atDelivery {
		err = m.ensure(m.fields)
	}
	return c, err
}

func (m *mailbox) Status() index.Status { return m.box.status }

// ask runs f in a transaction in which every message has the fields of set. It
// is not run when there is no database. Damage that f finds puts the database
// aside for the next Sync.
func (m *mailbox) ask(set rfc5322.Mask, f func() error) error {
	err := m.look(set, f)
	if isCorrupt(err) {
		err = errors.Join(err, m.discard(true))
	}
	return err
}

// look is ask that leaves a damaged database where it is.
func (m *mailbox) look(set rfc5322.Mask, f func() error) (err error) {
	for range attempts {
		if b, err := m.known(); err != nil || !b.there {
			return err
		}
		if set != 0 {
			if err = m.ensure(set); errors.Is(err, index.ErrStale) {
				continue
			} else if err != nil {
				return err
			}
		}
		of := m.box.changed
		err = m.db.inside(false, func() error {
			if b, err := m.row(m.box.bytes); err != nil {
				return err
			} else if b.changed != of && set != 0 {
				return index.ErrStale
			}
			return f()
		})
		if !errors.Is(err, index.ErrStale) {
			return err
		}
	}
	return err
}

// errStop ends a query early.
var errStop = errors.New("sqlidx: enough")

// messages calls fn for the messages that from, which follows FROM messages m,
// selects, with their keywords. errStop: fn has returned false.
func (m *mailbox) messages(from string, fn func(index.Message) bool, args ...any) error {
	return m.db.query("SELECT message_idnr, seq, unique_id, folder, "+flagsOf+`,
		(SELECT sum(1 << keyword) FROM keywords k WHERE k.message_idnr = m.message_idnr) FROM messages m `+from+" ORDER BY message_idnr", func(row []driver.Value) error {
		x, err := m.message(row)
		if err != nil {
			return err
		}
		if row[5] != nil {
			k, err := m.db.int(row[5])
			if err != nil {
				return err
			}
			x.Keywords = uint32(k)
		}
		if !fn(x.Message) {
			return errStop
		}
		return nil
	}, args...)
}

// enough makes a stopped query a success.
func enough(err error) error {
	if err == errStop {
		return nil
	}
	return err
}

func (m *mailbox) Messages(fn func(index.Message) bool) error {
	return enough(m.ask(0, func() error { return m.messages("", fn) }))
}

// ChangesSince implements index.Changer: two index scans.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	return enough(m.ask(0, func() error {
		from := "WHERE seq > ?"
		if modseq > 0 { // few: the planner would rather walk all in the order of the UIDs
			from = "INDEXED BY messages_seq " + from
		}
		if err := m.messages(from, changed, modseq); err != nil {
			return err
		}
		return m.db.query("SELECT message_idnr, seq FROM vanished WHERE seq > ? ORDER BY seq, message_idnr", func(row []driver.Value) error {
			uid, _, err := m.pair(row)
			if err == nil && !vanished(uint32(uid)) {
				err = errStop
			}
			return err
		}, modseq)
	}))
}

// Counts implements index.Counter.
func (m *mailbox) Counts() map[string]int64 {
	c := map[string]int64{"rows-read": m.counts[0], "statements": m.counts[1], "mails-opened": m.opened}
	if m.db != nil {
		c["rows-read"] += m.db.rows
		c["statements"] += m.db.statements
	}
	return c
}

// Compact deletes the values that no message has any more and rewrites the file.
func (m *mailbox) Compact() (err error) {
	defer func() {
		if isCorrupt(err) {
			err = errors.Join(err, m.discard(true))
		}
	}()
	if b, err := m.known(); err != nil || !b.there {
		return err
	}
	err = m.db.inside(true, func() error {
		for _, q := range []string{"DELETE FROM headervalue WHERE id NOT IN (SELECT headervalue_id FROM header)", "UPDATE mailboxes SET generation = generation + 1"} {
			if _, _, err := m.db.exec(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, _, err := m.db.exec("VACUUM"); err != nil {
		return err
	}
	if err := m.checkpoint(); err != nil {
		return err
	}
	_, err = m.known()
	return err
}

// checkpoint moves what is in the write-ahead log to the database. Without one
// it does nothing; a reader in the way leaves it for later.
func (m *mailbox) checkpoint() error {
	return m.db.query("PRAGMA wal_checkpoint(TRUNCATE)", func([]driver.Value) error { return nil })
}

// Check is the engine's own check and then ours. Nothing is changed.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		stopped := false
		tell := func(what string) error {
			if !yield(m.corrupt(what)) {
				stopped = true
				return errStop
			}
			return nil
		}
		err := m.look(0, func() error { return m.check(tell) })
		if err != nil && !stopped {
			yield(err)
		}
	}
}

func (m *mailbox) check(tell func(what string) error) error {
	err := m.db.query("PRAGMA integrity_check(100)", func(row []driver.Value) error {
		if s, _ := row[0].(string); s != "ok" {
			return tell("engine: " + s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	t, err := m.readTable(m.box)
	if err != nil {
		return err
	}
	st := t.Status()
	st.Generation = m.box.status.Generation
	if st != m.box.status {
		if err := tell(fmt.Sprintf("the mailbox counts %+v, its messages are %+v", m.box.status, st)); err != nil {
			return err
		}
	}
	t.Problems(func(what string) bool { err = tell(what); return err == nil })
	if err != nil {
		return err
	}
	for what, q := range map[string]string{
		"header rows of no message":            "SELECT count(*) FROM header WHERE physmessage_id NOT IN (SELECT physmessage_id FROM messages)",
		"header rows without a value":          "SELECT count(*) FROM header WHERE headervalue_id NOT IN (SELECT id FROM headervalue)",
		"references of no message":             "SELECT count(*) FROM referencesfield WHERE physmessage_id NOT IN (SELECT physmessage_id FROM messages)",
		"messages that were read without mail": "SELECT count(*) FROM physmessage WHERE id NOT IN (SELECT physmessage_id FROM messages)",
	} {
		n, err := m.db.number(q)
		if err == nil && n > 0 {
			err = tell(fmt.Sprintf("%d %s", n, what))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stats lists the files and, as the engine counts them, the tables and indexes.
func (m *mailbox) Stats() []index.FileStat {
	var out []index.FileStat
	for _, name := range []string{File, File + "-wal", File + "-shm", File + "-journal", DamagedFile, index.ValidityFile} {
		in, err := m.cfg.FS.Stat(filepath.Join(m.cfg.Dir, name))
		if err != nil {
			continue
		}
		out = append(out, index.FileStat{Name: name, Bytes: in.Size})
		if name == File && m.db != nil {
			out[len(out)-1].Rows = int64(m.box.status.Messages)
			out = append(out, m.parts()...)
		}
	}
	return out
}

func (m *mailbox) parts() (out []index.FileStat) {
	m.look(0, func() error {
		return m.db.query("SELECT name, sum(pgsize), sum(CASE WHEN pagetype = 'leaf' THEN ncell ELSE 0 END) FROM dbstat GROUP BY name ORDER BY name", func(row []driver.Value) error {
			name, _ := row[0].(string)
			bytes, rows, err := m.pair(row[1:])
			out = append(out, index.FileStat{Name: File, Part: name, Bytes: bytes, Rows: rows})
			return err
		})
	})
	return out
}

func (m *mailbox) Close() error {
	err := m.detach()
	m.track = index.Tracker{}
	return err
}
