package linked

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// Names of the files.
const (
	indexFile  = "linked.index"
	logFile    = "linked.log"
	logOld     = "linked.log.2"
	cacheName  = "linked.cache"
	threadName = "linked.thread"
	listFile   = "linked.uidlist"
	lockFile   = "linked.lock" // empty; writers hold a lock on it
)

func (m *mailbox) path(name string) string { return filepath.Join(m.cfg.Dir, name) }

// readOnly reports that nothing can be kept: the directory, or a file that
// grows in place, may not be written.
func (m *mailbox) readOnly() bool {
	return fsys.ReadOnly(m.cfg.Dir, m.path(logFile), m.path(cacheName), m.path(threadName))
}

// lock makes this the only writer until unlock. Where nobody can write there is
// nothing to wait for.
func (m *mailbox) lock() (unlock func(), err error) {
	if unlock, err = fsys.LockDir(m.path(lockFile)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return unlock, err
	}
	if m.readOnly() {
		return func() {}, nil
	}
	if err := m.fs.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	f, err := m.fs.OpenFile(m.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f.Close()
	if unlock, err = fsys.LockDir(m.path(lockFile)); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil // a file system without real files
	}
	return unlock, err
}

// readAt reads exactly len(b) bytes, fewer at the end of the file.
func readAt(f index.File, b []byte, off int64) ([]byte, error) {
	n, err := f.ReadAt(b, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:n], nil
}

// readWhole reads a file of at most limit bytes; nil when there is none.
func readWhole(fsy index.FS, name string, limit int64) ([]byte, error) {
	f, err := fsy.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, corrupt(filepath.Base(name), "%d bytes", size)
	}
	return readAt(f, make([]byte, size), 0)
}

// remove removes a file that may not be there.
func (m *mailbox) remove(name string) error {
	if err := m.fs.Remove(m.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
