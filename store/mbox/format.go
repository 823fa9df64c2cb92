package mbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
	"mailbench/store/catalog"
)

// Format is store=mbox.
var Format store.Format = format{}

type format struct{}

// fileName is the mailbox in a Store's directory.
const fileName = "mbox"

// ErrFull reports that all UIDs have been given out.
var ErrFull = errors.New("store/mbox: no UID is left")

// ErrCorrupt is wrapped by errors about what no Store has written.
var ErrCorrupt = errors.New("not as it was written")

var errClosed = errors.New("store/mbox: closed")

// A mailbox is one opened mbox.
type mailbox struct {
	fs   fsys.FS
	path string
	now  func() time.Time
	cat  *catalog.Catalog

	mu      sync.Mutex // one change at a time, as with an mbox everywhere
	head    head
	end     int64  // of the last record, or of the damage behind it; where the next one goes
	gap     int64  // bytes to leave free before it, see B5
	last    uint32 // the highest UID given out
	side    *side
	ragged  bool   // behind end there is something that could not be cut off
	restore []edit // states that could not be written back
	renamed bool   // the name of the file may not last yet
	closed  bool
	short   error  // what is missing of the file since it was last open
	out     writer // of appends

	swap sync.RWMutex // held by readers; who writes the file anew changes f and the places under it
	f    fsys.File
	gen  int64 // of the places in the catalog; rises with each writing anew in this process
}

// Name is "mbox".
func (format) Name() string { return "mbox" }

// Packs implements store.Packer.
func (format) Packs() bool { return true }

// Open opens the mbox in cfg.Dir, cuts off a torn end and makes a new file
// where there is none. It reads the begin of each record: O(bytes) for small
// mail, O(messages) for large.
func (format) Open(cfg store.Config) (store.Store, error) {
	m := &mailbox{fs: cfg.FS, path: filepath.Join(cfg.Dir, fileName), now: cfg.Now}
	if m.fs == nil {
		m.fs = fsys.OS
	}
	if m.now == nil {
		m.now = time.Now
	}
	m.cat = catalog.New("mbox", m.path, m)
	if err := m.open(cfg.Dir); err != nil {
		if m.f != nil {
			m.f.Close()
		}
		m.side.close()
		return nil, fmt.Errorf("store/mbox: %w", err)
	}
	return m, nil
}

func (m *mailbox) open(dir string) (err error) {
	st, err := m.fs.Stat(m.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Size == 0 {
		if err = m.vanished(); err == nil {
			err = m.create(dir)
		}
	}
	if err != nil {
		return err
	}
	if _, err := fsys.RemoveTemps(m.fs, dir, 0); err != nil { // of a crash while writing anew
		return err
	}
	if m.f, err = m.fs.OpenFile(m.path, os.O_RDWR, 0); err != nil {
		return err
	}
	if m.side, err = openSide(m.fs, m.path+goodSuffix); err != nil {
		return err
	}
	return m.load()
}

// vanished is an error when there is no mbox, or an empty one, and mbox.good
// tells of mail in it. No crash does that: the file, and what it is written anew
// as, lasts before mbox.good knows.
func (m *mailbox) vanished() error {
	f, err := m.fs.Open(m.path + goodSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var s side
	if s.read(f); s.length <= headLen {
		return nil
	}
	return fmt.Errorf("%s: %w: the file is gone or empty, and was %d bytes with UIDs up to %d: put it back, or remove %s to begin an empty mailbox",
		m.path, ErrCorrupt, s.length, s.last, m.path+goodSuffix)
}

// create makes a file with a head alone.
func (m *mailbox) create(dir string) error {
	if err := m.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	h := head{validity: uint32(max(1, min(m.now().Unix(), 1<<32-1))), gen: 1, length: headLen}
	if err := fsys.WriteFileAtomic(m.fs, m.path, func(w io.Writer) error {
		_, err := w.Write(h.append(nil))
		return err
	}); err != nil {
		return err
	}
	return m.fs.SyncDir(filepath.Dir(filepath.Clean(dir)))
}

// loadBatch is how many rows are handed to the catalog at a time.
const loadBatch = 4096

// load scans the file into the catalog and mends its end.
func (m *mailbox) load() error {
	size, err := m.f.Size()
	if err != nil {
		return err
	}
	s := scanner{w: window{f: m.f, size: size}}
	m.head = s.head()
	if m.side.gen != m.head.gen {
		// The last writing anew was not seen to last: what is appended from now on
		// would go with it.
		if err := m.fs.SyncDir(filepath.Dir(m.path)); err != nil {
			return err
		}
	}
	good := m.head.length
	if m.side.gen == m.head.gen || !m.head.ok {
		good = m.side.length // below LENGTH only for a file that was found shortened
	}
	m.last = max(m.head.last, m.side.last)
	if good > size {
		m.short = fmt.Errorf("offset %d: the file ends, %d bytes before its known length: %w", size, good-size, ErrCorrupt)
	}
	rows := make([]catalog.Row, 0, loadBatch)
	var odd []record
	end, err := s.records(min(good, size), false, func(r *record) {
		if len(rows) == loadBatch {
			m.cat.Load(rows...)
			rows = rows[:0]
		}
		rows = append(rows, r.row(m.gen))
		m.last = max(m.last, r.uid)
		if r.odd {
			odd = append(odd, *r)
		}
	})
	if err != nil {
		return err
	}
	m.cat.Load(rows...)
	if !m.head.ok && m.cat.Len() == 0 {
		return fmt.Errorf("%s: %w: neither a head nor a message", m.path, ErrCorrupt)
	}
	m.end, m.gap = end, s.gap
	if end < size {
		if err := m.f.Truncate(end); err != nil {
			return err
		}
	}
	if err := m.mend(odd); err != nil {
		return err
	}
	if end != good || end < size || len(odd) > 0 {
		// What is shown from now on should not go with the next power cut.
		if err := m.f.Datasync(); err != nil {
			return err
		}
	}
	m.side.note(m.head.gen, m.end, m.last)
	if m.short != nil || len(s.problems) > 0 {
		// An older length would, after a power cut, end before the damage, and what
		// was appended behind it were no more than a torn end; or, of a file that
		// has been shortened, inside of a record that was appended since.
		m.side.sync()
	}
	return nil
}

// mend writes states whole that were not (B3).
func (m *mailbox) mend(odd []record) error {
	for i := range odd {
		r := &odd[i]
		if len(r.now.names()) > r.width {
			continue // damage has made words of it that need more room
		}
		if _, err := m.f.WriteAt(r.now.append(nil, r.uid, r.width), r.off+r.state); err != nil {
			return err
		}
	}
	return nil
}

// ready is asked before each change: what the last one could not finish is
// finished first. m.mu is held.
func (m *mailbox) ready() error {
	if m.closed {
		return errClosed
	}
	if m.renamed {
		if err := m.fs.SyncDir(filepath.Dir(m.path)); err != nil {
			return fmt.Errorf("store/mbox: %w", err)
		}
		m.renamed = false
	}
	return m.settle()
}

// settle takes back what a failed change has left.
func (m *mailbox) settle() error {
	if m.ragged {
		if err := m.f.Truncate(m.end); err != nil {
			return fmt.Errorf("store/mbox: %w", err)
		}
		m.ragged = false
	}
	for n := len(m.restore); n > 0; n-- { // the last one first, as they were made
		if err := m.restore[n-1].write(m, m.restore[n-1].old); err != nil {
			return fmt.Errorf("store/mbox: %w", err)
		}
		m.restore = m.restore[:n-1]
	}
	return nil
}

// Purge does nothing: Expunge has given the space back.
func (m *mailbox) Purge() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return errClosed
	}
	return nil
}

// Source is the mailbox as an index sees it.
func (m *mailbox) Source() index.Source { return m.cat.Source() }

// Close makes mbox.good last and closes the files. It waits for what is being
// done.
func (m *mailbox) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	m.swap.Lock()
	defer m.swap.Unlock()
	err := m.settle()
	m.side.note(m.head.gen, m.end, m.last)
	m.side.sync()
	m.side.close()
	return errors.Join(err, m.f.Close())
}
