//go:build !linux

package fsys

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// OS is the operating system's file system, by package os: no O_NOATIME,
// Datasync is Sync, Map reads the file, and Ino and Dev are 0.
var OS FS = osFS{}

type osFS struct{}

func (osFS) Open(name string) (File, error) { return wrapOS(os.Open(name)) }

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errAppend}
	}
	return wrapOS(os.OpenFile(name, flag, perm))
}

func (osFS) Rename(oldname, newname string) error        { return os.Rename(oldname, newname) }
func (osFS) Remove(name string) error                    { return os.Remove(name) }
func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

func (osFS) Stat(name string) (Info, error) {
	st, err := os.Stat(name)
	if err != nil {
		return Info{}, err
	}
	return Info{Size: st.Size(), ModTime: st.ModTime(), Dir: st.IsDir(), Odd: !st.IsDir() && !st.Mode().IsRegular()}, nil
}

func (osFS) ReadDir(name string) ([]string, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (osFS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be flushed there; NTFS journals its names
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	d.Close()
	return err
}

type osFile struct {
	*os.File
	end atomic.Int64
}

func wrapOS(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	of := &osFile{File: f}
	of.end.Store(-1)
	return of, nil
}

func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	raise(&f.end, off+int64(n))
	return n, err
}

func (f *osFile) Write(p []byte) (int, error) {
	end, err := endOf(&f.end, f)
	if err != nil {
		return 0, err
	}
	return f.WriteAt(p, end)
}

func (f *osFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func (f *osFile) Datasync() error { return f.Sync() }

func (f *osFile) Chtimes(modified time.Time) error {
	return os.Chtimes(f.Name(), time.Time{}, modified) // a zero time is left as it is
}

func (f *osFile) Truncate(size int64) error {
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	f.end.Store(size)
	return nil
}

func (f *osFile) Map() (*Mapping, error) {
	size, err := f.Size()
	if err != nil || size == 0 {
		return &Mapping{}, err
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return &Mapping{Data: data[:n]}, nil
}
