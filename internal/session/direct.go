package session

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// A look says how carefully the mail is looked at before an index is asked.
type look uint8

const (
	lookNot   look = iota // only if it has never been
	lookState             // if its state is another one: two stats of a maildir
	lookFully             // Sync, which lists it when its state may deceive
)

// lockFile is what every command of mailbench locks in an index directory.
const lockFile = "mailbench.lock"

// errInUse reports an index that another process holds for long.
var errInUse = errors.New("the index is in use by another process")

// patience is how long a lock is waited for; less in tests.
var patience = 20 * time.Second

// lockIndex takes the lock of an index directory, which it makes.
func lockIndex(dir string) (unlock func(), err error) {
	name := filepath.Join(dir, lockFile)
	unlock, err = fsys.TryLockDir(name, false)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o600)
		if err != nil {
			return nil, err
		}
		f.Close()
		unlock, err = fsys.TryLockDir(name, false)
		if err == nil {
			return unlock, nil
		}
	}
	for start, wait := time.Now(), time.Millisecond; errors.Is(err, fsys.ErrLocked); wait = min(2*wait, 50*time.Millisecond) {
		if time.Since(start) > patience {
			return nil, errInUse
		}
		time.Sleep(wait)
		unlock, err = fsys.TryLockDir(name, false)
	}
	return unlock, err
}

// direct is mail as it is, with its index. folder.mu guards it.
type direct struct {
	f     *folder
	src   index.Source
	mbox  index.Mailbox // nil: not open
	state index.State   // of the mail, before the last Sync
	seen  bool          // there has been one, with mbox
}

// openDirect opens the mail of f, not its index.
func openDirect(f *folder) (*direct, error) {
	src, err := f.m.cfg.Source(f.path)
	if err != nil {
		return nil, err
	}
	return &direct{f: f, src: src}, nil
}

// ask calls fn with the index, and again if it was stale or, once, damaged:
// fn must stand that.
func (d *direct) ask(how look, fn func(m index.Mailbox) error) error {
	unlock, err := lockIndex(d.f.indexDir)
	if err != nil {
		return err
	}
	defer unlock()
	damaged := false
	for try := 1; ; try++ {
		err := d.once(how, fn)
		switch {
		case errors.Is(err, index.ErrStale) && try < 10:
		case errors.Is(err, index.ErrCorrupt) && !damaged:
			damaged = true
		default:
			return err
		}
		if err := d.closeIndex(); err != nil {
			return err
		}
	}
}

func (d *direct) once(how look, fn func(m index.Mailbox) error) error {
	if d.mbox == nil {
		m, err := d.f.m.cfg.Design.Open(index.Config{Dir: d.f.indexDir, Source: d.src, Options: d.f.m.cfg.Options})
		if err != nil {
			return err
		}
		d.mbox = m
	}
	if how == lookState && d.seen {
		st, err := d.src.State()
		if err != nil {
			return err
		}
		if st.Same(d.state) {
			how = lookNot
		}
	}
	if how == lookNot && d.seen {
		return fn(d.mbox)
	}
	st, err := d.src.State()
	if err != nil {
		return err
	}
	if _, err := d.mbox.Sync(); err != nil {
		return err
	}
	d.state, d.seen = st, true
	if err := d.f.brought(d.mbox); err != nil {
		return err
	}
	return fn(d.mbox)
}

func (d *direct) closeIndex() error {
	m := d.mbox
	d.mbox, d.seen = nil, false
	if m == nil {
		return nil
	}
	return m.Close()
}

func (d *direct) close() error { return errors.Join(d.closeIndex(), d.src.Close()) }
