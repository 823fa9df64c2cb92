package bboltidx

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"go.etcd.io/bbolt"

	"mailbench/index"
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
			if derr := m.discard(); derr != nil {
				return c, derr
			}
		case errors.Is(err, index.ErrStale), err == errNone:
			err = index.ErrStale
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

// ask runs f in a transaction in which every message has its records of the
// groups of want. It is not run when there is no database. Damage that f finds
// puts the database aside for the next Sync.
func (m *mailbox) ask(want set, f func(tx *bbolt.Tx, outside *bool) error) (err error) {
	defer func() { err = m.aside(err) }()
	names := [][]byte{bucketMeta, bucketMessages, bucketVanished}
	for g := range groups {
		if want.has(g) {
			names = append(names, bucketOf[g])
		}
	}
	for range attempts {
		if x, err := m.known(); err != nil || !x.there {
			return err
		}
		if want != 0 {
			if err = m.ensure(want); errors.Is(err, index.ErrStale) || err == errNone {
				continue
			} else if err != nil {
				return err
			}
		}
		of := m.box.changed
		err = m.view(func(tx *bbolt.Tx, outside *bool) error {
			if x, err := m.readBox(tx); err != nil {
				return err
			} else if m.box = x; x.changed != of && want != 0 {
				return index.ErrStale
			}
			return f(tx, outside)
		}, names...)
		if !errors.Is(err, index.ErrStale) && err != errNone {
			return err
		}
	}
	return index.ErrStale
}

// errStop ends a walk early.
var errStop = errors.New("bboltidx: enough")

func enough(err error) error {
	if err == errStop {
		return nil
	}
	return err
}

// messages calls fn for the messages with a MODSEQ above modseq.
func (m *mailbox) messages(tx *bbolt.Tx, outside *bool, modseq uint64, fn func(index.Message) bool) error {
	return m.each(tx, bucketMessages, func(uid uint32, v []byte) error {
		r, ok := decodeRow(v)
		if !ok {
			return m.corrupt("record of a message")
		}
		if r.modseq <= modseq {
			return nil
		}
		x := index.Message{UID: uid, Key: string(r.key), Folder: index.Folder(r.dir), Flags: r.flags, Keywords: r.keywords, ModSeq: r.modseq}
		*outside = true
		more := fn(x)
		if *outside = false; !more {
			return errStop
		}
		return nil
	})
}

// Messages calls fn inside a transaction: fn must not call m.
func (m *mailbox) Messages(fn func(index.Message) bool) error {
	return enough(m.ask(0, func(tx *bbolt.Tx, outside *bool) error { return m.messages(tx, outside, 0, fn) }))
}

// ChangesSince implements index.Changer: all messages are looked at, vanished
// ones from modseq on.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	return enough(m.ask(0, func(tx *bbolt.Tx, outside *bool) error {
		if err := m.messages(tx, outside, modseq, changed); err != nil {
			return err
		}
		if modseq+1 == 0 {
			return nil
		}
		return m.vanished(tx, modseq+1, func(uid uint32, _ uint64) error {
			*outside = true
			more := vanished(uid)
			if *outside = false; !more {
				return errStop
			}
			return nil
		})
	}))
}

// Counts implements index.Counter.
func (m *mailbox) Counts() map[string]int64 {
	return map[string]int64{"keys-read": m.keys, "mails-opened": m.opened, "bytes-decoded": m.bytes, "compares": m.sorts.Compares()}
}

// compactTx bounds a transaction of the copy, in bytes of keys and values.
const compactTx = 16 << 20

// Compact copies the database into a new file without free pages. Others wait
// meanwhile, and find the new file.
func (m *mailbox) Compact() (err error) {
	defer func() { err = m.aside(err) }()
	src, err := m.open(true)
	if err == errNone {
		return nil
	}
	if err != nil {
		return err
	}
	err = m.replace(false, func(db *bbolt.DB) error {
		if err := bbolt.Compact(db, src.db, compactTx); err != nil {
			return err
		}
		return db.Update(func(tx *bbolt.Tx) error {
			x, err := m.readBox(tx)
			if err != nil {
				return err
			}
			x.status.Generation++
			return m.putBox(tx, &x)
		})
	})
	if err = src.close(err); err != nil {
		return err
	}
	_, err = m.known()
	return err
}

// Check reads every page by our own reader first, then has the engine check.
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
		if err := m.check(tell); err != nil && err != errNone && !stopped {
			yield(err)
		}
	}
}

func (m *mailbox) check(tell func(what string) error) error {
	s, err := m.open(false, buckets...)
	if err != nil {
		return err
	}
	return s.close(s.guard(nil, func() error {
		in, err := s.file.Stat()
		if err != nil {
			return err
		}
		// The engine checks in a goroutine of its own, in which a fault ends the
		// process: only what is sound gets there.
		if err := verify(s.file, in.Size(), nil, true, true); err != nil {
			return err
		}
		return s.db.View(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				if err := tell("engine: " + err.Error()); err != nil {
					return err
				}
			}
			return m.checkRecords(tx, tell)
		})
	}))
}

func (m *mailbox) checkRecords(tx *bbolt.Tx, tell func(what string) error) error {
	x, err := m.readBox(tx)
	if err != nil {
		return err
	}
	t, err := m.readTable(tx, &x)
	if err != nil {
		return err
	}
	st := t.Status()
	if st.Generation = x.status.Generation; st != x.status {
		if err := tell(fmt.Sprintf("the mailbox counts %+v, its messages are %+v", x.status, st)); err != nil {
			return err
		}
	}
	t.Problems(func(what string) bool { err = tell(what); return err == nil })
	if err != nil {
		return err
	}
	var f index.Fields
	for g, name := range bucketOf {
		n := 0
		err := m.each(tx, name, func(uid uint32, v []byte) error {
			if _, ok := t.Row(uid); !ok {
				return tell(fmt.Sprintf("bucket %s has uid %d, which is not there", name, uid))
			}
			n++
			ok := true
			switch group(g) {
			case groupThread:
				_, ok = decodeThread(v, index.WantThread, &f)
			case groupAddress:
				ok = decodeAddress(v, &f)
			}
			if !ok {
				return tell(fmt.Sprintf("bucket %s: record of uid %d", name, uid))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if end, _ := t.Row(x.upto[g] + 1); n < end {
			if err := tell(fmt.Sprintf("bucket %s has %d records of %d", name, n, end)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stats lists the files and the buckets with the bytes of their pages.
func (m *mailbox) Stats() []index.FileStat {
	var out []index.FileStat
	for _, name := range []string{File, DamagedFile, index.ValidityFile} {
		in, err := m.cfg.FS.Stat(filepath.Join(m.cfg.Dir, name))
		if err != nil {
			continue
		}
		st := index.FileStat{Name: name, Bytes: in.Size}
		if name != File {
			out = append(out, st)
			continue
		}
		st.Rows = int64(m.box.status.Messages)
		out = append(out, st)
		m.view(func(tx *bbolt.Tx, _ *bool) error {
			for _, name := range buckets {
				if b := tx.Bucket(name); b != nil {
					s := b.Stats()
					out = append(out, index.FileStat{Name: File, Part: string(name), Bytes: int64(s.BranchAlloc + s.LeafAlloc), Rows: int64(s.KeyN)})
				}
			}
			return nil
		}, buckets...)
	}
	return out
}

func (m *mailbox) Close() error {
	m.table, m.track = nil, index.Tracker{}
	if s := m.kept; s != nil {
		m.kept = nil
		return s.close(nil)
	}
	return nil
}
