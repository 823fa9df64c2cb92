package source

import (
	"fmt"
	"io/fs"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/mbox"
)

// A file is what Mbox and Message have in common: one file, mapped or
// decompressed, which is opened again when it has changed.
type file struct {
	path string
	o    Options
	m    *mbox.File
	p    *index.Phases
}

// Record makes later calls record what they are part of, see index.Recorder.
func (f *file) Record(p *index.Phases) { f.p = p }

func openFile(path string, o Options) (file, error) {
	m, err := mbox.Open(path, mbox.Options{Dialect: o.Dialect, TempDir: o.TempDir, MemoryLimit: o.MemoryLimit, FS: o.FS})
	return file{path: path, o: o, m: m}, err
}

// look tells an mbox from a message.
func (f *file) look() (kind string, err error) {
	kind = "message"
	guardErr := f.m.Guard(func() {
		b := f.m.Data()
		if len(b) == 0 {
			kind = "mbox"
			return
		}
		if mbox.LooksLikeHeader(b) && !mboxName(f.path) {
			return
		}
		mbox.Scan(b, f.o.Dialect, func(mbox.Message) bool {
			kind = "mbox"
			return false
		})
	})
	if guardErr != nil {
		return "", fmt.Errorf("source: %s: %w", f.path, guardErr)
	}
	return kind, nil
}

// Path is the path that was opened.
func (f *file) Path() string { return f.path }

// UIDList: only maildirs have one.
func (f *file) UIDList() (string, bool) { return "", false }

// State is one stat: modification time, size, inode, device.
func (f *file) State() (index.State, error) {
	defer f.p.Begin(index.PhaseScan).End()
	info, err := f.o.FS.Stat(f.path)
	if err != nil {
		return index.State{}, fmt.Errorf("source: %w", err)
	}
	s := index.State{A: uint64(info.ModTime.UnixNano()), B: uint64(info.Size), C: info.Ino, D: info.Dev}
	s.Racy, s.Busy = young(info.ModTime.UnixNano())
	return s, nil
}

// young tells how much a modification time (ns) can be trusted to move with
// the next change. Times in the future are not.
func young(mtime int64) (racy, busy bool) {
	age := time.Now().UnixNano() - mtime
	return age < int64(2*time.Second), age < int64(50*time.Millisecond)
}

// refresh opens the file again if it is another one or has changed.
func (f *file) refresh() error {
	info, err := f.o.FS.Stat(f.path)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if f.m != nil && sameInfo(info, f.m.Info()) {
		return nil
	}
	g, err := openFile(f.path, f.o)
	if err != nil {
		return err
	}
	f.Close()
	f.m = g.m
	return nil
}

func sameInfo(a, b fsys.Info) bool {
	return a.Size == b.Size && a.ModTime.Equal(b.ModTime) && a.Ino == b.Ino && a.Dev == b.Dev
}

// gone says that an entry is not there (any more).
func (f *file) gone(e *index.Entry) error {
	return fmt.Errorf("source: %s: message %s has gone or changed: %w", f.path, e.Key, fs.ErrNotExist)
}

// Damage tells of a compressed file that is cut off or damaged
// (*mbox.DamageError); nil otherwise. A Listing has it among its problems.
func (f *file) Damage() error { return f.m.Damage() }

// Close releases the file.
func (f *file) Close() error {
	m := f.m
	f.m = nil
	if m == nil {
		return nil
	}
	return m.Close()
}
