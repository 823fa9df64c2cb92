package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/maildir"
	"mailbench/store"
)

// A Layout is how a format with one file for each message writes it.
type Layout interface {
	Kind() string
	File(id uint64) string // name of the file of a message
	ID(name string) uint64 // the inverse, 0: no such name
	// Encode appends the file of a message and sets r.Off to where the mail
	// begins in it.
	Encode(dst []byte, id uint64, m *store.Message, r *Row) ([]byte, error)
	// Decode finds the row of a message in its file. An error that wraps
	// errors.ErrUnsupported: the format cannot.
	Decode(file []byte) (Row, error)
	// Finds reports whether Decode can, so that a lost list can be made again.
	Finds() bool
	// Torn reports whether a file is what a crash, or a full disk, leaves of one that
	// was being written: it never was a message. Foreign: nothing that this format
	// has begun.
	Torn(file []byte) bool
	Foreign(file []byte) bool
}

// A PerFile is a store.Store of a Layout and a List.
type PerFile struct {
	layout Layout
	fs     index.FS
	dir    string
	list   *List
	cat    *Catalog
	now    func() time.Time

	// appends hold it for reading from the first file to the row in the list,
	// so that a sweep does not take their files for left over.
	busy sync.RWMutex

	removed atomic.Bool // files, and their names may come back

	trashMu sync.Mutex
	trash   []uint64 // files of appends that failed and of expunged messages, which are still there
}

// listFile is the list's name in the directory of a mailbox of that kind.
func listFile(kind string) string { return kind + ".list" }

// openFiles bounds how many files of one group are open, and syncing, at once.
const openFiles = 64

// OpenPerFile opens the mailbox in cfg.Dir or makes it. After a crash it looks
// through the directory; else it costs what the list costs.
func OpenPerFile(cfg store.Config, layout Layout) (*PerFile, error) {
	p := &PerFile{layout: layout, fs: cfg.FS, dir: cfg.Dir, now: cfg.Now}
	p.cat = New(layout.Kind(), cfg.Dir, p)
	name := filepath.Join(cfg.Dir, listFile(layout.Kind()))
	if err := MakeDir(cfg.FS, cfg.Dir); err != nil {
		return nil, err
	}
	list, err := OpenList(cfg.FS, name, p.cat)
	missing := errors.Is(err, fs.ErrNotExist)
	if missing || errors.Is(err, index.ErrCorrupt) {
		list, err = p.remake(name, err)
	}
	if err != nil {
		return nil, err
	}
	p.list = list
	list.BeforeAdd = func() error { return p.fs.SyncDir(p.dir) }
	if !list.Clean() && !missing {
		if err := p.sweep(); err != nil {
			list.Close()
			return nil, err
		}
	}
	return p, nil
}

// MakeDir makes the directory of a mailbox, and its name last.
func MakeDir(fsy index.FS, dir string) error {
	if _, err := fsy.Stat(dir); err == nil {
		return nil
	}
	if err := fsy.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return fsy.SyncDir(filepath.Dir(dir))
}

func (p *PerFile) path(id uint64) string { return filepath.Join(p.dir, p.layout.File(id)) }

// Append writes a file for each message, makes all of them last, then their
// names, then their rows: n+2 syncs for n messages, and n+1 if the format finds
// them again without the list (and no later ones have come before, L6). The files of a group are synced at the same time,
// which a file system's journal rewards; those of several callers, too.
func (p *PerFile) Append(msgs []store.Message) ([]string, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	p.busy.RLock()
	defer p.busy.RUnlock()
	if err := p.list.Begin(); err != nil {
		return nil, err
	}
	var first uint64
	var made int
	var err error
	rows, keys := make([]Row, len(msgs)), make([]string, len(msgs))
	for try := 0; try < 4; try++ {
		first = p.list.Reserve(len(msgs))
		for i := range msgs {
			rows[i] = NewRow(first+uint64(i), &msgs[i], p.now)
			keys[i] = rows[i].Key
		}
		if made, err = p.write(first, msgs, rows); !errors.Is(err, fs.ErrExist) {
			break
		}
		// There is a file that the list knows nothing of: perhaps it is the list
		// that is wrong. It stays, and its key is nobody else's.
		p.removeAll(first, made)
		made = 0
		if e := p.raise(); e != nil {
			return nil, e
		}
	}
	if err == nil {
		if err = p.list.Add(rows, !p.layout.Finds()); err == nil {
			return keys, nil
		}
	}
	// The list may have come to the disk with them: then they stay, to be swept
	// away after the list is right.
	if p.list.Broken() {
		for i := range made {
			p.left(first + uint64(i))
		}
		return nil, err
	}
	p.removeAll(first, made)
	return nil, err
}

func (p *PerFile) removeAll(first uint64, n int) {
	for i := range n {
		p.remove(first + uint64(i))
	}
}

// NewRow is the row of a message to be appended, without a place.
func NewRow(id uint64, m *store.Message, now func() time.Time) Row {
	return Row{Key: IDKey(id), Flags: m.Flags & AllFlags, Keywords: m.Keywords, Dir: index.DirNone,
		Size: int64(len(m.Body)), VSize: maildir.CRLFSize(m.Body), Date: DateOf(m, now)}
}

// write makes the files last, but not their names. made is how many there may be.
func (p *PerFile) write(first uint64, msgs []store.Message, rows []Row) (made int, err error) {
	var buf []byte
	for made < len(msgs) {
		n := min(openFiles, len(msgs)-made)
		files := make([]fsys.File, 0, n)
		for i := made; i < made+n && err == nil; i++ {
			if buf, err = p.layout.Encode(buf[:0], first+uint64(i), &msgs[i], &rows[i]); err != nil {
				break
			}
			var f fsys.File
			if f, err = p.fs.OpenFile(p.path(first+uint64(i)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				break
			}
			files = append(files, f)
			_, err = f.WriteAt(buf, 0)
		}
		made += len(files)
		if err == nil {
			err = syncAll(files)
		}
		for _, f := range files {
			if e := f.Close(); err == nil {
				err = e
			}
		}
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// syncAll syncs files at the same time: a hundred of 3 KB took half as long as
// one after another (ext4, on a disk that others were using).
func syncAll(files []fsys.File) error {
	if len(files) == 1 {
		return files[0].Datasync()
	}
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	for i, f := range files {
		wg.Go(func() { errs[i] = f.Datasync() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// SetFlags is one record of the list and one sync.
func (p *PerFile) SetFlags(changes []store.Change) error {
	return p.list.SetFlags(RowsOf(changes))
}

// RowsOf are changes as List.SetFlags takes them.
func RowsOf(changes []store.Change) []Row {
	rows := make([]Row, len(changes))
	for i, c := range changes {
		rows[i] = Row{Key: c.Key, Flags: c.Flags & AllFlags, Keywords: c.Keywords, Dir: index.DirNone}
	}
	return rows
}

// Expunge is one record of the list and one sync; then the files are removed.
// One that a crash brings back is swept away by the next opening.
func (p *PerFile) Expunge(keys []string) error {
	removed, err := p.list.Remove(keys)
	for _, r := range removed {
		p.remove(KeyID(r.Key))
	}
	return err
}

// remove removes a file that is not listed. One that stays is tried again by
// Purge and Close.
func (p *PerFile) remove(id uint64) {
	p.removed.Store(true)
	if err := p.fs.Remove(p.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.left(id)
	}
}

// left notes a file that is to be removed.
func (p *PerFile) left(id uint64) {
	p.trashMu.Lock()
	defer p.trashMu.Unlock()
	p.trash = append(p.trash, id)
}

// empty removes what could not be removed before, once the list is right.
func (p *PerFile) empty() (err error) {
	p.trashMu.Lock()
	ids := p.trash
	p.trash = nil
	p.trashMu.Unlock()
	for _, id := range ids {
		if _, listed := p.cat.Get(IDKey(id)); listed {
			continue
		}
		p.removed.Store(true)
		if e := p.fs.Remove(p.path(id)); e != nil && !errors.Is(e, fs.ErrNotExist) {
			p.left(id)
			err = e
		}
	}
	return err
}

// Purge writes the list anew and removes files that could not be removed before.
// O(list).
func (p *PerFile) Purge() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	if err := p.list.Compact(); err != nil {
		return err
	}
	return p.empty()
}

// Source is the catalog's.
func (p *PerFile) Source() index.Source { return p.cat.Source() }

// Close makes everything last and closes the list.
func (p *PerFile) Close() error {
	p.busy.Lock()
	defer p.busy.Unlock()
	var err error
	if p.list.Broken() || p.empty() != nil {
		p.list.Litter()
	}
	if p.removed.Load() {
		if err = p.fs.SyncDir(p.dir); err != nil {
			p.list.Litter()
		}
	}
	return errors.Join(err, p.list.Close())
}
