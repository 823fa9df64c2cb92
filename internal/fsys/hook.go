package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// A ShortWrite is what the fail function of Failing returns to let the first N
// bytes of a write reach the file before Err.
type ShortWrite struct {
	N   int
	Err error // nil means "no space left on device"
}

func (e *ShortWrite) Error() string {
	return fmt.Sprintf("fsys: write cut after %d bytes: %v", e.N, e.Unwrap())
}

func (e *ShortWrite) Unwrap() error {
	if e.Err == nil {
		return syscall.ENOSPC
	}
	return e.Err
}

// Failing asks fail before each call to under. When fail returns an error the
// call is not made and returns that error in a *fs.PathError; a *ShortWrite
// lets part of a write through. off and n are the place and the length of a
// read or write (off is the size for OpTruncate, n the file's size for OpMap),
// otherwise 0. fail must be safe for concurrent use; Close never fails.
func Failing(under FS, fail func(op Op, name string, off int64, n int) error) FS {
	return &hooked{under: under, before: fail}
}

// hooked runs a function before each call; Failing and Delaying are made of it.
type hooked struct {
	under  FS
	before func(op Op, name string, off int64, n int) error
}

func (h *hooked) ask(op Op, name string) error {
	return wrapHook(op, name, h.before(op, name, 0, 0))
}

func wrapHook(op Op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op.String(), Path: name, Err: err}
}

func (h *hooked) Open(name string) (File, error) { return h.open(name, os.O_RDONLY, 0, true) }

func (h *hooked) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return h.open(name, flag, perm, false)
}

func (h *hooked) open(name string, flag int, perm fs.FileMode, plain bool) (f File, err error) {
	if err = h.ask(OpOpen, name); err != nil {
		return nil, err
	}
	if plain {
		f, err = h.under.Open(name)
	} else {
		f, err = h.under.OpenFile(name, flag, perm)
	}
	if err != nil {
		return nil, err
	}
	hf := &hookedFile{File: f, h: h}
	hf.end.Store(-1)
	return hf, nil
}

func (h *hooked) Rename(oldname, newname string) error {
	if err := h.ask(OpRename, newname); err != nil {
		return err
	}
	return h.under.Rename(oldname, newname)
}

func (h *hooked) Remove(name string) error {
	if err := h.ask(OpRemove, name); err != nil {
		return err
	}
	return h.under.Remove(name)
}

func (h *hooked) MkdirAll(dir string, perm fs.FileMode) error {
	if err := h.ask(OpMkdir, dir); err != nil {
		return err
	}
	return h.under.MkdirAll(dir, perm)
}

func (h *hooked) Stat(name string) (Info, error) {
	if err := h.ask(OpStat, name); err != nil {
		return Info{}, err
	}
	return h.under.Stat(name)
}

func (h *hooked) ReadDir(name string) ([]string, error) {
	if err := h.ask(OpReadDir, name); err != nil {
		return nil, err
	}
	return h.under.ReadDir(name)
}

func (h *hooked) SyncDir(dir string) error {
	if err := h.ask(OpSyncDir, dir); err != nil {
		return err
	}
	return h.under.SyncDir(dir)
}

type hookedFile struct {
	File
	h   *hooked
	end atomic.Int64
}

func (f *hookedFile) ask(op Op, off int64, n int) error {
	return wrapHook(op, f.Name(), f.h.before(op, f.Name(), off, n))
}

func (f *hookedFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ask(OpRead, off, len(p)); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *hookedFile) WriteAt(p []byte, off int64) (n int, err error) {
	hookErr := f.ask(OpWrite, off, len(p))
	var short *ShortWrite
	switch {
	case hookErr == nil:
		n, err = f.File.WriteAt(p, off)
	case errors.As(hookErr, &short) && short.N > 0:
		n, err = f.File.WriteAt(p[:min(short.N, len(p))], off)
		if err == nil {
			err = hookErr
		}
	default:
		err = hookErr
	}
	if n > 0 {
		raise(&f.end, off+int64(n))
	}
	return n, err
}

// Write goes through WriteAt so that the hook sees the offset.
func (f *hookedFile) Write(p []byte) (int, error) {
	end, err := endOf(&f.end, f.File)
	if err != nil {
		return 0, err
	}
	return f.WriteAt(p, end)
}

func (f *hookedFile) Size() (int64, error) {
	if err := f.ask(OpStat, 0, 0); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *hookedFile) Sync() error {
	if err := f.ask(OpSync, 0, 0); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *hookedFile) Datasync() error {
	if err := f.ask(OpSync, 0, 0); err != nil {
		return err
	}
	return f.File.Datasync()
}

func (f *hookedFile) Chtimes(modified time.Time) error {
	if err := f.ask(OpChtimes, 0, 0); err != nil {
		return err
	}
	return f.File.Chtimes(modified)
}

func (f *hookedFile) Truncate(size int64) error {
	if err := f.ask(OpTruncate, size, 0); err != nil {
		return err
	}
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.end.Store(size)
	return nil
}

func (f *hookedFile) Map() (*Mapping, error) {
	size, err := f.File.Size()
	if err != nil {
		return nil, err
	}
	if err := f.ask(OpMap, 0, int(size)); err != nil {
		return nil, err
	}
	return f.File.Map()
}
