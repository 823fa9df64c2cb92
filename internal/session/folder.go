package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/maildir"
	"mailbench/store"
	"mailbench/store/box"
	maildirstore "mailbench/store/maildir"
)

// A folder is one mailbox, shared by the connections that have it selected.
type folder struct {
	m              *Mailboxes
	name           string
	path, indexDir string
	synced         func() error // to be called after the first Sync; nil: it has been

	// life is held for reading by whoever uses the Box or the source, for writing
	// by whoever opens or closes them. Appends hold nothing else, so that they
	// find each other in a group.
	life     sync.RWMutex
	shut     bool
	direct   *direct                       // at most one of
	box      *box.Box                      // the two is there
	unlock   func()                        // the lock of indexDir, while box is open
	wrote    atomic.Pointer[maildir.State] // what the maildir was after the last change of ours
	selected atomic.Int32                  // views of it
	writing  atomic.Int32                  // changes of ours on their way
	strange  atomic.Bool                   // others had changed the maildir before a change of ours

	mu     sync.Mutex // of all below, and of direct
	status index.Status
	epoch  uint32 // UIDVALIDITYs that there have been
	rows   rows
	list   *listing // entries by key, of a source that is no index.Namer
	words  keywords
	worded bool // words have been read
}

// errReadOnly answers what would change mail that may not be changed.
var errReadOnly = errors.New("the mailbox is read-only")

// errGone reports a maildir that was removed while it was open.
var errGone = fmt.Errorf("%w: it has been removed", errNoSuch)

// ready opens the mailbox, unless it is open, and returns with f.life held for
// reading: the caller gives it back. boxed: as a Box.
func (f *folder) ready(boxed bool) error {
	for {
		f.life.RLock()
		if f.shut {
			f.life.RUnlock()
			return errClosed
		}
		if f.box != nil || f.direct != nil && !boxed {
			return nil
		}
		f.life.RUnlock()
		if err := f.openAs(boxed || f.m.boxed); err != nil {
			return err
		}
	}
}

// openAs opens what ready found missing.
func (f *folder) openAs(boxed bool) error {
	f.life.Lock()
	defer f.life.Unlock()
	switch {
	case f.shut:
		return errClosed
	case f.box != nil || f.direct != nil && !boxed:
		return nil
	case !boxed:
		d, err := openDirect(f)
		if err != nil {
			return err
		}
		f.direct = d
		f.m.opened.Add(1)
		return nil
	}
	if d := f.direct; d != nil {
		f.m.opened.Add(-1)
		f.direct = nil
		if err := d.close(); err != nil {
			return err
		}
	}
	return f.openBox()
}

// openBox opens the mail to be written to. f.life is held.
func (f *folder) openBox() error {
	unlock, err := lockIndex(f.indexDir)
	if err != nil {
		return err
	}
	c := &f.m.cfg
	f.strange.Store(false)
	f.noted() // before it is listed
	b, err := box.Open(box.Config{Store: c.Store, Design: c.Design, Dir: f.path, IndexDir: f.indexDir,
		Fsync: c.Fsync, Cache: true, Options: c.Options})
	if err != nil {
		unlock()
		return err
	}
	f.box, f.unlock = b, unlock
	f.m.opened.Add(1)
	f.mu.Lock()
	f.list = nil
	f.mu.Unlock()
	return nil
}

// closeBox closes it. f.life is held.
func (f *folder) closeBox() error {
	if f.box == nil {
		return nil
	}
	f.m.opened.Add(-1)
	err := f.box.Close()
	f.unlock()
	f.box, f.unlock = nil, nil
	return err
}

func (f *folder) close() error {
	f.life.Lock()
	defer f.life.Unlock()
	f.shut = true
	return f.closeFiles()
}

// closeFiles closes what is open. f.life is held.
func (f *folder) closeFiles() error {
	var err error
	if d := f.direct; d != nil {
		f.m.opened.Add(-1)
		f.direct = nil
		err = d.close()
	}
	return errors.Join(err, f.closeBox())
}

// rest closes the files of a folder that nobody has selected: the next command
// opens them again.
func (f *folder) rest() error {
	f.life.Lock()
	defer f.life.Unlock()
	if f.selected.Load() > 0 || f.shut {
		return nil
	}
	f.mu.Lock()
	f.rows, f.status, f.list = rows{}, index.Status{}, nil
	f.mu.Unlock()
	return f.closeFiles()
}

// ask calls fn alone with the index of the mailbox and with f.mu held, the rows
// and the status being what the index says. fn may be called again.
func (f *folder) ask(how look, fn func(m index.Mailbox) error) error {
	if err := f.ready(false); err != nil {
		return err
	}
	if how != lookNot && f.box != nil {
		if err := f.there(); err != nil {
			f.life.RUnlock()
			return err
		}
	}
	if how == lookFully && f.box != nil && f.strangers() {
		f.life.RUnlock()
		if err := f.reopen(); err != nil {
			return err
		}
		if err := f.ready(false); err != nil {
			return err
		}
	}
	defer f.life.RUnlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.direct != nil {
		return f.direct.ask(how, fn)
	}
	return f.box.Query(func(m index.Mailbox) error {
		if err := f.brought(m); err != nil {
			return err
		}
		return fn(m)
	})
}

// strangers reports whether somebody else has changed a maildir that is open as
// a Box, which sees only what it does itself: its directories are not as they
// were after the last change of ours. What comes in the moment between such a
// change and that look is seen with the next that comes. f.life is held.
func (f *folder) strangers() bool {
	if f.strange.Load() {
		return true
	}
	wrote := f.wrote.Load()
	if wrote == nil || f.writing.Load() > 0 {
		return false
	}
	st, err := maildir.Stat(f.path)
	return err == nil && st != *wrote && f.writing.Load() == 0 && f.wrote.Load() == wrote
}

// there is an error if a maildir that was opened as a Box is gone. f.life is held.
func (f *folder) there() error {
	if f.wrote.Load() == nil {
		return nil
	}
	if _, err := maildir.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	return nil
}

// noted takes down what a maildir is now.
func (f *folder) noted() {
	if f.m.cfg.Store.Name() != maildirstore.Format.Name() {
		return
	}
	if st, err := maildir.Stat(f.path); err == nil {
		f.wrote.Store(&st)
	}
}

// reopen opens the Box again, to see what others did to the mail.
func (f *folder) reopen() error {
	f.life.Lock()
	defer f.life.Unlock()
	if f.shut {
		return errClosed
	}
	if err := f.there(); err != nil {
		return err // opening it would make an empty one
	}
	if err := f.closeBox(); err != nil {
		return err
	}
	return f.openBox()
}

// brought takes in what the index says after a Sync. f.mu is held.
func (f *folder) brought(m index.Mailbox) error {
	if s := f.synced; s != nil {
		if err := s(); err != nil {
			return err
		}
		f.synced = nil
	}
	st := m.Status()
	if st.UIDValidity != f.status.UIDValidity {
		f.epoch++
		f.rows = rows{}
	}
	if st != f.status {
		f.list = nil
	}
	f.status = st
	if !f.rows.loaded && f.changes() {
		return nil // nobody needs them yet
	}
	return f.rows.follow(m, st, f.changes())
}

// changes reports whether the design tells what has changed since a MODSEQ.
func (f *folder) changes() bool { return index.AxesOf(f.m.cfg.Design).ModSeqs }

// source is the mail for reading. f.life is held.
func (f *folder) source() index.Source {
	if f.box != nil {
		return f.box.Source()
	}
	return f.direct.src
}

// write calls fn with the mailbox as a Box.
func (f *folder) write(fn func(b *box.Box) error) error {
	if !f.m.cfg.Write {
		return errReadOnly
	}
	if err := f.ready(true); err != nil {
		return err
	}
	defer f.life.RUnlock()
	if f.strangers() {
		f.strange.Store(true) // noted would take it for ours
	}
	f.writing.Add(1)
	defer func() {
		f.noted()
		f.writing.Add(-1)
	}()
	return fn(f.box)
}

// setFlags is SetFlags of the Box, and once more after another look at the mail
// if somebody else has just renamed or removed a message.
func (f *folder) setFlags(uids []uint32, fn func(uint32, index.Flags, uint32) (index.Flags, uint32)) error {
	var validity uint32
	set := func(b *box.Box) error {
		v := b.Status().UIDValidity
		if validity != 0 && v != validity {
			return errNewMailbox // the UIDs mean other messages
		}
		validity = v
		return b.SetFlags(uids, fn)
	}
	err := f.write(set)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.reopen(); err != nil {
		return err
	}
	return f.write(set)
}

// append adds a message.
func (f *folder) append(msg store.Message) (uid, validity uint32, err error) {
	err = f.write(func(b *box.Box) error {
		uid, err = b.Append(msg)
		validity = b.Status().UIDValidity
		return err
	})
	return uid, validity, err
}

// why makes an error text for a client: one line, without what only the
// server's user may know.
func why(err error) string {
	switch {
	case errors.Is(err, errInUse), errors.Is(err, store.ErrInUse), errors.Is(err, fsys.ErrLocked):
		return "[INUSE] " + errInUse.Error()
	case errors.Is(err, errNoSuch):
		return "[NONEXISTENT] " + err.Error()
	}
	text := err.Error()
	var p *fs.PathError
	if errors.As(err, &p) {
		text = strings.ReplaceAll(text, p.Path, filepath.Base(p.Path))
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		text = strings.ReplaceAll(text, l.Old, filepath.Base(l.Old))
		text = strings.ReplaceAll(text, l.New, filepath.Base(l.New))
	}
	return line(errors.New(text))
}

func line(err error) string {
	b := []byte(fmt.Sprint(err))
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = ' '
		}
	}
	if len(b) > 400 {
		b = append(b[:400], "..."...)
	}
	return string(b)
}
