package bboltidx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	boltErrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// How long a lock that another handle holds is waited for, and how often it is
// asked for.
const (
	lockPatience = 10 * time.Second
	lockPause    = time.Millisecond
)

// errNone: there is no database.
var errNone = errors.New("bboltidx: no database")

// A store is the opened database. The engine locks the file as long as it is
// open. One that writes is opened for one transaction; one that reads is kept
// with its map, and its lock is taken for each transaction, or others could
// never write.
type store struct {
	m        *mailbox
	db       *bbolt.DB
	file     *os.File
	panicked bool // the engine's locks may be held for ever: its Close would wait for them

	// Of a reader: what it has been opened on and verified for.
	size, dev, ino int64
	txid           uint64
	verified       [][]byte
}

// open opens the database; buckets are those that a reader will use.
func (m *mailbox) open(write bool, buckets ...[]byte) (*store, error) {
	s := &store{m: m}
	o := *m.engine
	o.ReadOnly = !write
	o.OpenFile = func(path string, _ int, _ os.FileMode) (*os.File, error) {
		f, err := m.lockName(path, write)
		if err == nil {
			if err = m.verify(f, write, buckets); err != nil {
				f.Close()
			} else {
				s.file = f
			}
		}
		return s.file, err
	}
	err := s.guard(nil, func() (err error) {
		s.db, err = bbolt.Open(m.path, 0o600, &o)
		return err
	})
	switch {
	case err == nil:
		return s, nil
	case s.panicked && s.file != nil:
		s.file.Close() // with its lock; only the map stays
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		err = errNone
	}
	return nil, err
}

// lock waits for a lock of the file.
func lock(f *os.File, how int) error {
	start := time.Now()
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	for err == unix.EINTR || err == unix.EWOULDBLOCK && time.Since(start) < lockPatience {
		time.Sleep(lockPause)
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	}
	if err != nil {
		return fmt.Errorf("bboltidx: lock of %s: %w", f.Name(), err)
	}
	return nil
}

// lockName opens the file and waits for its lock; the file must be the one that
// has the name then.
func (m *mailbox) lockName(path string, write bool) (*os.File, error) {
	flag, how := unix.O_RDONLY, unix.LOCK_SH
	if write {
		flag, how = unix.O_RDWR, unix.LOCK_EX
	}
	for {
		fd, err := unix.Open(path, flag|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		f := os.NewFile(uintptr(fd), path)
		err = lock(f, how)
		var st unix.Stat_t
		if err == nil {
			err = unix.Fstat(fd, &st)
		}
		var in fsys.Info
		if err == nil {
			in, err = m.cfg.FS.Stat(path)
		}
		if err == nil && in.Ino == st.Ino && in.Dev == uint64(st.Dev) {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		} // else it was renamed over while this one waited
	}
}

// reader is the kept store if it still is what the name means, or a new one,
// with its lock.
func (m *mailbox) reader(names [][]byte) (*store, error) {
	if s := m.kept; s != nil {
		m.kept = nil
		ok, err := s.resume(names)
		if ok {
			return s, nil
		}
		if err = s.close(err); err != nil {
			return nil, err
		}
	}
	s, err := m.open(false, names...)
	if err != nil {
		return nil, err
	}
	in, err := m.cfg.FS.Stat(m.path)
	if err == nil {
		s.size, s.dev, s.ino, s.verified = in.Size, int64(in.Dev), int64(in.Ino), names
		s.txid, err = transaction(s.file, in.Size)
	}
	if err != nil {
		return nil, s.close(err)
	}
	return s, nil
}

// resume takes the lock of a kept store. Another transaction's pages are
// verified anew; a file of another size wants another map.
func (s *store) resume(names [][]byte) (ok bool, err error) {
	if err := lock(s.file, unix.LOCK_SH); err != nil {
		return false, err
	}
	in, err := s.m.cfg.FS.Stat(s.m.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (in.Size != s.size || int64(in.Dev) != s.dev || int64(in.Ino) != s.ino) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	id, err := transaction(s.file, in.Size)
	if err != nil {
		return false, s.m.fail(err)
	}
	has := func(name []byte) bool {
		return slices.ContainsFunc(s.verified, func(v []byte) bool { return string(v) == string(name) })
	}
	if id == s.txid && !slices.ContainsFunc(names, func(name []byte) bool { return !has(name) }) {
		return true, nil
	}
	if id != s.txid {
		s.verified = nil
	}
	s.txid, s.verified = id, slices.Concat(s.verified, names)
	if err := s.m.verify(s.file, false, names); err != nil {
		return false, s.m.fail(err)
	}
	return true, nil
}

// keep gives the lock back, and keeps the store for the next reader.
func (s *store) keep(err error) error {
	if s.panicked || s.m.kept != nil {
		return s.close(err)
	}
	if uerr := unix.Flock(int(s.file.Fd()), unix.LOCK_UN); uerr != nil {
		return s.close(errors.Join(err, uerr))
	}
	s.m.kept = s
	return err
}

func (m *mailbox) verify(f *os.File, write bool, buckets [][]byte) error {
	in, err := f.Stat()
	if err != nil {
		return err
	}
	if in.Size() == 0 {
		return errNone
	}
	if write {
		return verify(f, in.Size(), nil, true, m.noFreelistSync) // the engine walks every page without a list
	}
	return verify(f, in.Size(), buckets, false, false)
}

// guard runs f, which calls the engine. A panic in there, or a fault behind the
// end of the file, is damage, unless *outside: a caller's function runs.
func (s *store) guard(outside *bool, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if outside != nil && *outside {
			return
		}
		if r := recover(); r != nil {
			s.panicked = true
			err = s.m.corrupt(fmt.Sprint("the engine panicked: ", r))
		}
	}()
	if err = f(); err != nil {
		err = s.m.fail(err)
	}
	return err
}

func (m *mailbox) corrupt(what string) error { return &index.CorruptError{File: m.path, What: what} }

func isCorrupt(err error) bool { return errors.Is(err, index.ErrCorrupt) }

// fail turns an error of the engine into one of ours.
func (m *mailbox) fail(err error) error {
	var d damage
	if errors.As(err, &d) {
		return m.corrupt(string(d))
	}
	// Keys and values that are too long come from a page that is being copied:
	// none of ours is.
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, boltErrors.ErrInvalid, boltErrors.ErrChecksum, boltErrors.ErrVersionMismatch,
		boltErrors.ErrKeyRequired, boltErrors.ErrKeyTooLarge, boltErrors.ErrValueTooLarge} {
		if errors.Is(err, e) {
			return m.corrupt(err.Error())
		}
	}
	return err
}

// close ends the operation, whose error was err.
func (s *store) close(err error) error {
	if s.panicked {
		s.file.Close()
		return err
	}
	if cerr := s.guard(nil, s.db.Close); err == nil {
		err = cerr
	}
	return err
}

// view runs f in a transaction that reads the named buckets. No database:
// errNone. f sets *outside while a caller's function runs.
func (m *mailbox) view(f func(tx *bbolt.Tx, outside *bool) error, buckets ...[]byte) error {
	s, err := m.reader(buckets)
	if err != nil {
		return err
	}
	outside := false
	return s.keep(s.guard(&outside, func() error {
		return s.db.View(func(tx *bbolt.Tx) error { return f(tx, &outside) })
	}))
}

// update runs f in a transaction that writes. sync false: it need not be on
// disk when it returns.
func (m *mailbox) update(sync bool, f func(tx *bbolt.Tx) error) error {
	s, err := m.open(true)
	if err != nil {
		return err
	}
	s.db.NoSync = s.db.NoSync || !sync
	return s.close(s.guard(nil, func() error { return s.db.Update(f) }))
}
