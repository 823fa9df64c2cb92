package bboltidx

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"mailbench/index"
)

// A new database is written in transactions of so many messages, and nothing
// is waited for until the end.
const buildMessages = 16 << 10

// bucket is a bucket that has to be there.
func (m *mailbox) bucket(tx *bbolt.Tx, name []byte) (*bbolt.Bucket, error) {
	b := tx.Bucket(name)
	if b == nil {
		return nil, m.corrupt("bucket " + string(name) + " is missing")
	}
	b.FillPercent = m.fill
	return b, nil
}

// readBox reads the record of the mailbox.
func (m *mailbox) readBox(tx *bbolt.Tx) (box, error) {
	b, err := m.bucket(tx, bucketMeta)
	if err != nil {
		return box{}, err
	}
	x, ok := decodeBox(b.Get(keyBox))
	if !ok {
		return box{}, m.corrupt("record of the mailbox")
	}
	x.bytes = tx.Size()
	m.keys++
	return x, nil
}

// known reads the record of the mailbox in a transaction of its own.
func (m *mailbox) known() (box, error) {
	var x box
	err := m.view(func(tx *bbolt.Tx, _ *bool) (err error) {
		x, err = m.readBox(tx)
		return err
	}, bucketMeta)
	if err == errNone {
		err = nil
	}
	if err != nil {
		return box{}, err
	}
	m.box = x
	return x, nil
}

// each calls fn for the records of a bucket whose keys are UIDs, in order.
func (m *mailbox) each(tx *bbolt.Tx, name []byte, fn func(uid uint32, v []byte) error) error {
	b, err := m.bucket(tx, name)
	if err != nil {
		return err
	}
	last := uint32(0)
	for c, k, v := next(b.Cursor()); k != nil; k, v = c.Next() {
		uid, err := m.uid(k, last)
		if err != nil {
			return err
		}
		last = uid
		m.keys++
		m.bytes += int64(len(v))
		if err := fn(uid, v); err != nil {
			return err
		}
	}
	return nil
}

func next(c *bbolt.Cursor) (*bbolt.Cursor, []byte, []byte) {
	k, v := c.First()
	return c, k, v
}

// uid reads a key that must be above last.
func (m *mailbox) uid(k []byte, last uint32) (uint32, error) {
	if len(k) != 4 {
		return 0, m.corrupt("a key is no uid")
	}
	uid := binary.BigEndian.Uint32(k)
	if uid <= last {
		return 0, m.corrupt("keys are out of order")
	}
	return uid, nil
}

// load reads the messages unless the table in memory is theirs.
func (m *mailbox) load() (*index.Table, error) {
	var t *index.Table
	err := m.view(func(tx *bbolt.Tx, _ *bool) error {
		x, err := m.readBox(tx)
		if err != nil {
			return err
		}
		if m.box = x; m.table != nil && m.tableOf == x.changed {
			t = m.table
			return nil
		}
		t, err = m.readTable(tx, &x)
		return err
	}, bucketMeta, bucketMessages, bucketVanished)
	if err != nil {
		return nil, err
	}
	if t != m.table {
		m.table, m.tableOf = t, m.box.changed
		m.track.Load(t)
	}
	return t, nil
}

func (m *mailbox) readTable(tx *bbolt.Tx, x *box) (*index.Table, error) {
	t := index.NewTable(x.status.UIDValidity, x.status.UIDNext, x.status.HighestModSeq, int(min(int64(x.status.Messages), x.bytes/16)))
	err := m.each(tx, bucketMessages, func(uid uint32, v []byte) error {
		r, ok := decodeRow(v)
		if !ok {
			return m.corrupt("record of a message")
		}
		if err := t.Append(uid, string(r.key), r.flags, r.dir, r.keywords, r.modseq); err != nil {
			return m.corrupt(err.Error())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, m.vanished(tx, 0, func(uid uint32, modseq uint64) error {
		if err := t.AppendVanished(uid, modseq); err != nil {
			return m.corrupt(err.Error())
		}
		return nil
	})
}

// vanished calls fn for what was expunged at modseq or later.
func (m *mailbox) vanished(tx *bbolt.Tx, modseq uint64, fn func(uid uint32, modseq uint64) error) error {
	b, err := m.bucket(tx, bucketVanished)
	if err != nil {
		return err
	}
	c := b.Cursor()
	for k, _ := c.Seek(binary.BigEndian.AppendUint64(nil, modseq)); k != nil; k, _ = c.Next() {
		if len(k) != 12 {
			return m.corrupt("key of a vanished message")
		}
		m.keys++
		if err := fn(binary.BigEndian.Uint32(k[8:]), binary.BigEndian.Uint64(k)); err != nil {
			return err
		}
	}
	return nil
}

// keeper is what Follow works on.
type keeper struct{ *mailbox }

func (k keeper) Known() (index.Known, bool, error) {
	x, err := k.known()
	if isCorrupt(err) {
		return index.Known{}, false, nil
	}
	return x.known, x.there, err
}

func (k keeper) Load() (*index.Table, error) {
	t, err := k.load()
	if err == errNone {
		err = index.ErrStale
	}
	return t, err
}

// Note is not waited for.
func (k keeper) Note(n index.Known) error {
	of := k.box.changed
	return k.update(false, func(tx *bbolt.Tx) error {
		x, err := k.readBox(tx)
		if err != nil || x.changed != of {
			return err
		}
		x.known = n
		return k.putBox(tx, &x)
	})
}

func (m *mailbox) putBox(tx *bbolt.Tx, x *box) error {
	b, err := m.bucket(tx, bucketMeta)
	if err == nil {
		err = b.Put(keyBox, x.append(nil))
	}
	return err
}

func (k keeper) Save(t *index.Table, d *index.Delta, n index.Known, c index.Changes) error {
	m := k.mailbox
	of := m.tableOf
	m.table = nil // t is ahead of the database until the transaction is through
	var x box
	var err error
	if c.Rebuilt {
		x, err = m.create(t, n)
	} else {
		x, err = m.change(t, d, n, of)
	}
	if err != nil {
		return err
	}
	m.box, m.table, m.tableOf = x, t, x.changed
	return nil
}

// create makes a new database with all rows of t and puts it in place of what
// is there. A damaged one is kept.
func (m *mailbox) create(t *index.Table, n index.Known) (box, error) {
	old, err := m.known()
	damaged := isCorrupt(err)
	if err := m.cfg.FS.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return old, err
	}
	if err := index.ChooseUIDValidity(m.cfg.FS, m.cfg.Dir, t, m.cfg.Options, m.cfg.Now()); err != nil {
		return old, err
	}
	x := box{there: true, status: t.Status(), changed: old.changed + 1, compat: m.compat(), known: n}
	x.status.Generation = old.status.Generation + 1
	err = m.replace(damaged, func(db *bbolt.DB) error {
		err := db.Update(func(tx *bbolt.Tx) error {
			for _, name := range buckets {
				if _, err := tx.CreateBucket(name); err != nil {
					return err
				}
			}
			return m.putBox(tx, &x)
		})
		for at := 0; err == nil && at < t.Len(); at += buildMessages {
			err = db.Update(func(tx *bbolt.Tx) error {
				b, err := m.bucket(tx, bucketMessages)
				for i := at; err == nil && i < min(at+buildMessages, t.Len()); i++ {
					err = b.Put(appendUID(nil, t.UIDs()[i]), appendRow(nil, t, i))
				}
				return err
			})
		}
		return err
	})
	return x, err
}

// replace makes a database by write and renames it into place: nothing is
// waited for before the end, then everything is.
func (m *mailbox) replace(damaged bool, write func(db *bbolt.DB) error) error {
	name := filepath.Join(m.cfg.Dir, NewFile)
	o := *m.engine
	o.NoSync, o.NoGrowSync = true, true
	s := &store{m: m}
	o.OpenFile = func(string, int, os.FileMode) (*os.File, error) {
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		unix.Close(fd)
		if s.file, err = m.lockName(name, true); err == nil {
			err = s.file.Truncate(0) // what a crash has left
		}
		return s.file, err
	}
	err := s.guard(nil, func() (err error) {
		s.db, err = bbolt.Open(name, 0o600, &o)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // another process has renamed its new one
		err = index.ErrStale
	}
	if err != nil {
		return err
	}
	err = s.guard(nil, func() error {
		if err := write(s.db); err != nil {
			return err
		}
		if m.engine.NoSync {
			return nil
		}
		return s.db.Sync()
	})
	// Renamed while its lock is held: whoever waits for it sees another name.
	if err == nil && damaged {
		if err = m.cfg.FS.Rename(m.path, filepath.Join(m.cfg.Dir, DamagedFile)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = m.cfg.FS.Rename(name, m.path)
	}
	if err = s.close(err); err != nil {
		m.cfg.FS.Remove(name)
		return err
	}
	return m.cfg.FS.SyncDir(m.cfg.Dir)
}

// aside puts the database aside when err says that it is damaged; err with
// what came of it.
func (m *mailbox) aside(err error) error {
	if isCorrupt(err) {
		err = errors.Join(err, m.discard())
	}
	return err
}

// discard takes a damaged database out of the way, so that the next Sync of any
// process builds a new one.
func (m *mailbox) discard() error {
	m.table, m.box = nil, box{}
	err := m.cfg.FS.Rename(m.path, filepath.Join(m.cfg.Dir, DamagedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return m.cfg.FS.SyncDir(m.cfg.Dir)
}

// change writes what a Sync has changed: one transaction.
func (m *mailbox) change(t *index.Table, d *index.Delta, n index.Known, of uint64) (x box, err error) {
	if err := index.RepairUIDValidity(m.cfg.FS, m.cfg.Dir, t.UIDValidity); err != nil {
		return x, err
	}
	err = m.update(true, func(tx *bbolt.Tx) error {
		if x, err = m.readBox(tx); err != nil {
			return err
		}
		if x.changed != of {
			return index.ErrStale
		}
		b, err := m.bucket(tx, bucketMessages)
		if err != nil {
			return err
		}
		if err := m.expunge(tx, &x, d.Removed, t.HighestModSeq); err != nil {
			return err
		}
		for _, rows := range [][]int32{d.Flagged, d.Moved, d.Added} {
			for _, i := range rows {
				if err := b.Put(appendUID(nil, t.UIDs()[i]), appendRow(nil, t, int(i))); err != nil {
					return err
				}
			}
		}
		generation := x.status.Generation
		x.status, x.known = t.Status(), n
		x.status.Generation = generation
		x.changed++
		return m.putBox(tx, &x)
	})
	return x, err
}

// expunge deletes all records of messages.
func (m *mailbox) expunge(tx *bbolt.Tx, x *box, uids []uint32, modseq uint64) error {
	if len(uids) == 0 {
		return nil
	}
	gone, err := m.bucket(tx, bucketVanished)
	if err != nil {
		return err
	}
	unread, err := m.bucket(tx, bucketUnread)
	if err != nil {
		return err
	}
	for _, uid := range uids {
		if unread.Get(appendUID(nil, uid)) != nil && x.unread > 0 {
			x.unread--
		}
	}
	for _, name := range append([][]byte{bucketMessages, bucketUnread}, bucketOf[:]...) {
		b, err := m.bucket(tx, name)
		if err != nil {
			return err
		}
		for _, uid := range uids {
			if err := b.Delete(appendUID(nil, uid)); err != nil {
				return err
			}
		}
	}
	for _, uid := range uids {
		if err := gone.Put(appendUID(binary.BigEndian.AppendUint64(nil, modseq), uid), nil); err != nil {
			return err
		}
	}
	return nil
}
