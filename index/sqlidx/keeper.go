package sqlidx

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/rfc5322"
)

// box is the row of the mailbox.
type box struct {
	there   bool // false: no database, no answers but empty ones
	status  index.Status
	changed int64 // raised by each change of messages
	compat  index.Compat
	known   index.Known
	bytes   int64 // of the file: no count in it is believed beyond that
}

func isCorrupt(err error) bool { return errors.Is(err, index.ErrCorrupt) }

func (m *mailbox) corrupt(what string) error { return &index.CorruptError{File: m.path, What: what} }

// attach opens the database, or opens it again when another process has put a
// new file in its place. m.db is nil when there is none.
func (m *mailbox) attach() (fsys.Info, error) {
	in, err := m.cfg.FS.Stat(m.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && in.Size == 0 {
		return in, m.detach()
	}
	if err != nil {
		return in, err
	}
	if m.db != nil && m.db.ino == [2]uint64{in.Dev, in.Ino} && !m.db.broken && !m.moved(in) {
		return in, nil
	}
	if err := m.detach(); err != nil {
		return in, err
	}
	db, err := openEngine(m.path, m.mode())
	if err != nil {
		return in, err
	}
	db.ino, db.was = [2]uint64{in.Dev, in.Ino}, in
	m.db = db
	return in, m.configure()
}

// moved reports that a database that is read without locks is not what it was
// when it was opened: somebody else may write it.
func (m *mailbox) moved(in fsys.Info) bool {
	return m.db.reads && (in != m.db.was || m.mode() != m.db.mode)
}

// mode is how a database that is there is opened. In a directory that may not
// be written the engine cannot make the file that shares its write-ahead log;
// the log is empty when the last user has left in peace, and then the database
// is read as it lies there. One with something in it is read if its other file
// is there too; if not, the engine says that it cannot.
func (m *mailbox) mode() string {
	if !fsys.ReadOnly(m.cfg.Dir, m.path) {
		return modeWrite
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if in, err := m.cfg.FS.Stat(m.path + suffix); err == nil && in.Size > 0 {
			return modeRead
		}
	}
	return modeStill
}

// configure sets what belongs to a connection.
func (m *mailbox) configure() error {
	for _, q := range []string{
		"PRAGMA busy_timeout = 10000", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON",
		"PRAGMA synchronous = " + m.sync, fmt.Sprintf("PRAGMA cache_size = -%d", m.cacheKiB),
	} {
		if _, _, err := m.db.exec(q); err != nil {
			return err
		}
	}
	if m.journal == "wal" || m.db.reads {
		return nil // it is in the file, see wal
	}
	return m.setJournal()
}

// setJournal brings the database into its journal mode. Between the rollback
// modes nothing is written; to or from WAL the file changes.
func (m *mailbox) setJournal() error {
	return m.db.query("PRAGMA journal_mode = "+m.journal, func(row []driver.Value) error {
		if got, _ := row[0].(string); got != m.journal {
			return fmt.Errorf("sqlidx: %s: journal mode is %v, not %s", m.path, row[0], m.journal)
		}
		return nil
	})
}

func (m *mailbox) detach() error {
	db := m.db
	m.db, m.table, m.box = nil, nil, box{}
	if db == nil {
		return nil
	}
	m.counts[0] += db.rows
	m.counts[1] += db.statements
	return db.close()
}

// discard takes the database out of the way: a damaged one is kept under
// another name, so that the next Sync of any process builds a new one.
func (m *mailbox) discard(damaged bool) error {
	m.detach() // what it says of a damaged file is known already
	move := func() error {
		if damaged {
			return m.cfg.FS.Rename(m.path, filepath.Join(m.cfg.Dir, DamagedFile))
		}
		return m.cfg.FS.Remove(m.path)
	}
	if err := move(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := m.cfg.FS.Remove(m.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return m.cfg.FS.SyncDir(m.cfg.Dir)
}

// known attaches the database and reads the row of the mailbox. Not inside a
// transaction: the connection may be another one after it.
func (m *mailbox) known() (box, error) {
	in, err := m.attach()
	if err != nil || m.db == nil {
		return box{}, err
	}
	return m.row(in.Size)
}

// row reads the row of the mailbox in a file of so many bytes.
func (m *mailbox) row(bytes int64) (box, error) {
	b := box{bytes: bytes}
	err := m.db.query("SELECT version, uidvalidity, uidnext, seq, messages, unseen, deleted, generation, changed, compat, known FROM mailboxes", func(row []driver.Value) error {
		var n [10]int64
		for i := range n {
			v, err := m.db.int(row[i])
			if err != nil {
				return err
			}
			if n[i] = v; v < 0 || i != 3 && i != 7 && i != 8 && v > 1<<32-1 {
				return m.corrupt("a number of the mailbox is out of range")
			}
		}
		k, _ := row[10].([]byte)
		known, ok := index.DecodeKnown(k)
		if n[0] != version || !ok || n[1] == 0 || n[2] == 0 {
			return m.corrupt("row of the mailbox")
		}
		b.there, b.known, b.changed, b.compat = true, known, n[8], index.Compat(n[9])
		b.status = index.Status{UIDValidity: uint32(n[1]), UIDNext: uint32(n[2]), HighestModSeq: uint64(n[3]),
			Messages: int(n[4]), Unseen: int(n[5]), Deleted: int(n[6]), Generation: uint64(n[7])}
		return nil
	})
	if err == nil && !b.there {
		err = m.corrupt("no row of the mailbox")
	}
	if err != nil {
		return box{}, err
	}
	m.box = b
	return b, nil
}

// load reads the messages unless the table in memory is theirs.
func (m *mailbox) load() (*index.Table, error) {
	var t *index.Table
	err := m.db.inside(false, func() error {
		b, err := m.row(m.box.bytes)
		if err != nil {
			return err
		}
		if m.table != nil && m.tableOf == b.changed {
			t = m.table
			return nil
		}
		t, err = m.readTable(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	if t != m.table {
		m.table, m.tableOf = t, m.box.changed
		m.track.Load(t)
	}
	return t, nil
}

// flagsOf are a message's flags in the order of index.Flags.
const flagsOf = "draft_flag + 2 * flagged_flag + 4 * forwarded_flag + 8 * answered_flag + 16 * seen_flag + 32 * deleted_flag"

func (m *mailbox) readTable(b box) (*index.Table, error) {
	keywords := map[uint32]uint32{}
	err := m.db.query("SELECT message_idnr, keyword FROM keywords", func(row []driver.Value) error {
		uid, k, err := m.pair(row)
		if err == nil {
			keywords[uint32(uid)] |= 1 << (k & 31)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t := index.NewTable(b.status.UIDValidity, b.status.UIDNext, b.status.HighestModSeq, int(min(int64(b.status.Messages), b.bytes/16)))
	err = m.db.query("SELECT message_idnr, seq, unique_id, folder, "+flagsOf+" FROM messages ORDER BY message_idnr", func(row []driver.Value) error {
		x, err := m.message(row)
		if err != nil {
			return err
		}
		if err := t.Append(x.UID, x.Key, x.Flags, x.dir, keywords[x.UID], x.ModSeq); err != nil {
			return m.corrupt(err.Error())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, m.db.query("SELECT message_idnr, seq FROM vanished ORDER BY seq, message_idnr", func(row []driver.Value) error {
		uid, seq, err := m.pair(row)
		if err == nil {
			if err = t.AppendVanished(uint32(uid), uint64(seq)); err != nil {
				err = m.corrupt(err.Error())
			}
		}
		return err
	})
}

func (m *mailbox) pair(row []driver.Value) (a, b int64, err error) {
	if a, err = m.db.int(row[0]); err == nil {
		b, err = m.db.int(row[1])
	}
	return a, b, err
}

// message is a row of message_idnr, seq, unique_id, folder, flags.
type message struct {
	index.Message
	dir uint8
}

func (m *mailbox) message(row []driver.Value) (x message, err error) {
	uid, seq, err := m.pair(row)
	if err != nil {
		return x, err
	}
	key, ok := row[2].(string)
	dir, flags, err := m.pair(row[3:])
	if err == nil && (!ok || uid <= 0 || uid > 1<<32-1 || dir < 0 || dir > int64(index.DirNone) || flags < 0 || flags > 63) {
		err = m.corrupt("row of a message")
	}
	x.Message = index.Message{UID: uint32(uid), Key: key, Folder: index.Folder(uint8(dir)), Flags: index.Flags(flags), ModSeq: uint64(seq)}
	x.dir = uint8(dir)
	return x, err
}

// keeper is what Follow works on.
type keeper struct{ *mailbox }

func (k keeper) Known() (index.Known, bool, error) {
	b, err := k.known()
	if isCorrupt(err) {
		return index.Known{}, false, nil
	}
	return b.known, b.there, err
}

func (k keeper) Load() (*index.Table, error) { return k.load() }

// Note is not waited for where the journal allows that. Where it cannot be
// noted the next Sync lists again.
func (k keeper) Note(n index.Known) error {
	m := k.mailbox
	if m.db.reads {
		return nil
	}
	if m.journal == "wal" && m.sync == "full" {
		if _, _, err := m.db.exec("PRAGMA synchronous = normal"); err != nil {
			return err
		}
		defer m.db.exec("PRAGMA synchronous = full")
	}
	_, _, err := m.db.exec("UPDATE mailboxes SET known = ? WHERE changed = ?", n.Append(nil), m.box.changed)
	return err
}

func (k keeper) Save(t *index.Table, d *index.Delta, n index.Known, c index.Changes) error {
	m := k.mailbox
	m.table = nil // t is ahead of the database until the transaction is through
	var err error
	if c.Rebuilt {
		err = m.create(t, n)
	} else {
		err = m.change(t, d, n)
	}
	if err != nil {
		return err
	}
	if _, err := m.known(); err != nil {
		return err
	}
	m.table, m.tableOf = t, m.box.changed
	return nil
}

// create makes a new database with all rows of t.
func (m *mailbox) create(t *index.Table, n index.Known) error {
	old, err := m.known()
	damaged := isCorrupt(err)
	if err := m.cfg.FS.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := m.discard(damaged); err != nil {
		return err
	}
	if err := index.ChooseUIDValidity(m.cfg.FS, m.cfg.Dir, t, m.cfg.Options, m.cfg.Now()); err != nil {
		return err
	}
	if m.db, err = openEngine(m.path, modeCreate); err != nil {
		return err
	}
	if _, _, err = m.db.exec(fmt.Sprintf("PRAGMA page_size = %d", m.pageSize)); err != nil {
		return err
	}
	if err := m.configure(); err != nil {
		return err
	}
	if err := m.setJournal(); err != nil {
		return err
	}
	err = m.db.inside(true, func() error {
		for _, q := range schema {
			if _, _, err := m.db.exec(q); err != nil {
				return err
			}
		}
		for f := range rfc5322.NumFields {
			if _, _, err := m.db.exec("INSERT INTO headername VALUES (?, ?, 0)", nameID(f), f.String()); err != nil {
				return err
			}
		}
		for i := range t.Len() {
			if err := m.insertMessage(t, i); err != nil {
				return err
			}
		}
		st := t.Status()
		_, _, err := m.db.exec("INSERT INTO mailboxes VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)", version, st.UIDValidity, st.UIDNext, st.HighestModSeq,
			st.Messages, st.Unseen, st.Deleted, old.status.Generation+1, int(m.compat()), n.Append(nil))
		return err
	})
	if err != nil {
		return err
	}
	in, err := m.cfg.FS.Stat(m.path)
	if err != nil {
		return err
	}
	m.db.ino = [2]uint64{in.Dev, in.Ino}
	return m.cfg.FS.SyncDir(m.cfg.Dir)
}

// change writes what a Sync has changed: one transaction.
func (m *mailbox) change(t *index.Table, d *index.Delta, n index.Known) error {
	if err := index.RepairUIDValidity(m.cfg.FS, m.cfg.Dir, t.UIDValidity); err != nil {
		return err
	}
	if m.journal == "wal" {
		if err := m.setJournal(); err != nil {
			return err
		}
	}
	early, err := m.readEarly(t, d)
	if err != nil {
		return err
	}
	return m.db.inside(true, func() error {
		if err := m.mustBe(m.tableOf); err != nil {
			return err
		}
		for _, uid := range d.Removed {
			for _, q := range []string{"DELETE FROM messages WHERE message_idnr = ?", "DELETE FROM keywords WHERE message_idnr = ?",
				"DELETE FROM physmessage WHERE id = ?", "DELETE FROM header WHERE physmessage_id = ?",
				"DELETE FROM referencesfield WHERE physmessage_id = ?", "DELETE FROM unread WHERE physmessage_id = ?"} {
				if _, _, err := m.db.exec(q, uid); err != nil {
					return err
				}
			}
			if _, _, err := m.db.exec("INSERT INTO vanished VALUES (?, ?)", t.HighestModSeq, uid); err != nil {
				return err
			}
		}
		for _, rows := range [][]int32{d.Flagged, d.Moved} {
			for _, i := range rows {
				if err := m.updateMessage(t, int(i)); err != nil {
					return err
				}
			}
		}
		for _, i := range d.Added {
			if err := m.insertMessage(t, int(i)); err != nil {
				return err
			}
		}
		if early != nil {
			if err := m.insert(early); err != nil {
				return err
			}
		}
		st := t.Status()
		_, _, err := m.db.exec("UPDATE mailboxes SET uidnext = ?, seq = ?, messages = ?, unseen = ?, deleted = ?, changed = changed + 1, known = ?",
			st.UIDNext, st.HighestModSeq, st.Messages, st.Unseen, st.Deleted, n.Append(nil))
		return err
	})
}

// mustBe holds that nobody has changed the messages since they were read.
func (m *mailbox) mustBe(changed int64) error {
	n, err := m.db.number("SELECT changed FROM mailboxes")
	if err == nil && n != changed {
		err = index.ErrStale
	}
	return err
}

func (m *mailbox) insertMessage(t *index.Table, i int) error {
	f, uid := t.Flags()[i], t.UIDs()[i]
	_, _, err := m.db.exec("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", uid, uid, string(t.Key(i)), int(t.Dir(i)),
		bit(f, index.FlagSeen), bit(f, index.FlagAnswered), bit(f, index.FlagDeleted), bit(f, index.FlagFlagged), bit(f, index.FlagDraft), bit(f, index.FlagForwarded), t.ModSeqs()[i])
	if err == nil {
		err = m.insertKeywords(uid, t.Keywords(i))
	}
	return err
}

func (m *mailbox) updateMessage(t *index.Table, i int) error {
	f, uid := t.Flags()[i], t.UIDs()[i]
	_, _, err := m.db.exec(`UPDATE messages SET folder = ?, seen_flag = ?, answered_flag = ?, deleted_flag = ?, flagged_flag = ?, draft_flag = ?, forwarded_flag = ?, seq = ?
		WHERE message_idnr = ?`, int(t.Dir(i)),
		bit(f, index.FlagSeen), bit(f, index.FlagAnswered), bit(f, index.FlagDeleted), bit(f, index.FlagFlagged), bit(f, index.FlagDraft), bit(f, index.FlagForwarded), t.ModSeqs()[i], uid)
	if err != nil {
		return err
	}
	if _, _, err = m.db.exec("DELETE FROM keywords WHERE message_idnr = ?", uid); err == nil {
		err = m.insertKeywords(uid, t.Keywords(i))
	}
	return err
}

func (m *mailbox) insertKeywords(uid, keywords uint32) error {
	for k := 0; keywords != 0; k, keywords = k+1, keywords>>1 {
		if keywords&1 != 0 {
			if _, _, err := m.db.exec("INSERT INTO keywords VALUES (?, ?)", uid, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func bit(f, flag index.Flags) int {
	if f&flag != 0 {
		return 1
	}
	return 0
}
