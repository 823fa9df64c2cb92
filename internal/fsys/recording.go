package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var errCrossing = errors.New("fsys: rename across the border of a recording")

// An Event is one change, or one call that makes changes last.
type Event struct {
	Op     Op
	Name   string // relative to the log's root, slashes
	To     string // new name of an OpRename
	Handle int    // which opening of the file, for OpOpen, OpWrite, OpSync, OpTruncate, OpChtimes
	Off    int64  // place of a write, size of a truncation, time in unix nanoseconds of an OpChtimes
	Data   []byte // bytes of a write, a copy
	Create bool   // OpOpen made the file
}

// A Log holds what a directory was when recording began and every change
// since. It keeps all bytes in memory: it is for tests.
type Log struct {
	root string

	mu      sync.Mutex
	files   map[string][]byte // at the beginning, taken as lasting
	dirs    []string
	events  []Event
	handles int
}

// NewLog takes a copy of all below root, which must exist, as the state that
// lasts whatever happens. Cost: reads every file.
func NewLog(under FS, root string) (*Log, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	l := &Log{root: abs, files: map[string][]byte{}}
	return l, l.take(under, "")
}

func (l *Log) take(under FS, dir string) error {
	names, err := under.ReadDir(filepath.Join(l.root, dir))
	if err != nil {
		return err
	}
	for _, base := range names {
		rel := filepath.ToSlash(filepath.Join(dir, base))
		path := filepath.Join(l.root, rel)
		st, err := under.Stat(path)
		if err != nil {
			return err
		}
		if st.Dir {
			l.dirs = append(l.dirs, rel)
			if err := l.take(under, rel); err != nil {
				return err
			}
			continue
		}
		if l.files[rel], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

// Len returns the number of events so far; Replay takes 0 to Len.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// Events returns the events so far; their Data must not be changed.
func (l *Log) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[:len(l.events):len(l.events)]
}

// rel returns the name below the root; ok is false for names elsewhere.
func (l *Log) rel(name string) (string, bool) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", false
	}
	r, err := filepath.Rel(l.root, abs)
	if err != nil || r == ".." || strings.HasPrefix(r, ".."+string(filepath.Separator)) {
		return "", false
	}
	if r == "." {
		return "", true
	}
	return filepath.ToSlash(r), true
}

// Recording records in log every change that succeeds below the log's root;
// calls elsewhere pass through unrecorded. Changes run one at a time, so the
// order of the log is the order in which they happened.
func Recording(under FS, log *Log) FS { return &recorder{FS: under, log: log} }

type recorder struct {
	FS
	log *Log
}

// change runs do and records e if it succeeded.
func (r *recorder) change(name string, e Event, do func() error) error {
	rel, ok := r.log.rel(name)
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	err := do()
	if err == nil && ok {
		e.Name = rel
		r.log.events = append(r.log.events, e)
	}
	return err
}

func (r *recorder) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	rel, ok := r.log.rel(name)
	if !ok || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return r.FS.OpenFile(name, flag, perm)
	}
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	_, err := r.FS.Stat(name)
	create := errors.Is(err, fs.ErrNotExist)
	f, err := r.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	r.log.handles++
	h := r.log.handles
	r.log.events = append(r.log.events, Event{Op: OpOpen, Name: rel, Handle: h, Create: create})
	if flag&os.O_TRUNC != 0 && !create {
		r.log.events = append(r.log.events, Event{Op: OpTruncate, Name: rel, Handle: h})
	}
	rf := &recordedFile{File: f, log: r.log, rel: rel, handle: h}
	rf.end.Store(-1)
	return rf, nil
}

func (r *recorder) Rename(oldname, newname string) error {
	_, fromInside := r.log.rel(oldname)
	to, toInside := r.log.rel(newname)
	if fromInside != toInside {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: errCrossing}
	}
	return r.change(oldname, Event{Op: OpRename, To: to}, func() error { return r.FS.Rename(oldname, newname) })
}

func (r *recorder) Remove(name string) error {
	return r.change(name, Event{Op: OpRemove}, func() error { return r.FS.Remove(name) })
}

func (r *recorder) MkdirAll(dir string, perm fs.FileMode) error {
	return r.change(dir, Event{Op: OpMkdir}, func() error { return r.FS.MkdirAll(dir, perm) })
}

func (r *recorder) SyncDir(dir string) error {
	return r.change(dir, Event{Op: OpSyncDir}, func() error { return r.FS.SyncDir(dir) })
}

type recordedFile struct {
	File
	log    *Log
	rel    string
	handle int
	end    atomic.Int64
}

func (f *recordedFile) add(e Event) {
	e.Name, e.Handle = f.rel, f.handle
	f.log.events = append(f.log.events, e)
}

func (f *recordedFile) WriteAt(p []byte, off int64) (int, error) {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	n, err := f.File.WriteAt(p, off)
	if n > 0 {
		raise(&f.end, off+int64(n))
		f.add(Event{Op: OpWrite, Off: off, Data: append([]byte(nil), p[:n]...)})
	}
	return n, err
}

func (f *recordedFile) Write(p []byte) (int, error) {
	end, err := endOf(&f.end, f.File)
	if err != nil {
		return 0, err
	}
	return f.WriteAt(p, end)
}

func (f *recordedFile) lasting(sync func() error) error {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	err := sync()
	if err == nil {
		f.add(Event{Op: OpSync})
	}
	return err
}

func (f *recordedFile) Sync() error     { return f.lasting(f.File.Sync) }
func (f *recordedFile) Datasync() error { return f.lasting(f.File.Datasync) }

func (f *recordedFile) Chtimes(modified time.Time) error {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	if err := f.File.Chtimes(modified); err != nil {
		return err
	}
	f.add(Event{Op: OpChtimes, Off: modified.UnixNano()})
	return nil
}

func (f *recordedFile) Truncate(size int64) error {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.end.Store(size)
	f.add(Event{Op: OpTruncate, Off: size})
	return nil
}
