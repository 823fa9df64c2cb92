package pebbleidx

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mailbench/index"
)

// errBuried is what an engine gets that was given up and still runs.
var errBuried = errors.New("pebbleidx: this engine was given up")

// engineFS is an index.FS as pebble sees it. A call that changes the disk and
// fails ends pebble (fatal): there are places where pebble panics in goroutines
// of its own when a log or a directory cannot be written, and none where it
// could go on. When buried is set nothing changes the disk any more: an engine
// that was given up may still have goroutines.
type engineFS struct {
	under  index.FS
	buried *atomic.Bool
	fatal  func(err error) // does not return
}

// change runs do, which changes the disk. An error that comes back is
// fs.ErrNotExist.
func (e *engineFS) change(do func() error) error {
	err := errBuried
	if !e.buried.Load() {
		err = do()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.fatal(err)
	}
	return err
}

func (e *engineFS) openFile(name string, flag int) (vfs.File, error) {
	var f index.File
	err := e.change(func() (err error) {
		f, err = e.under.OpenFile(name, flag, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &engineFile{File: f, fs: e}, nil
}

// marked syncs the directory of a marker, which names the manifest that counts,
// before it is made or removed. Pebble syncs once, after both: a file system
// that does not keep the order of names may then have a marker without its
// manifest, or none.
func (e *engineFS) marked(name string) error {
	if !strings.HasPrefix(filepath.Base(name), "marker.") {
		return nil
	}
	return e.under.SyncDir(filepath.Dir(name))
}

func (e *engineFS) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	if err := e.change(func() error { return e.marked(name) }); err != nil {
		return nil, err
	}
	_ = e.change(func() error { return e.under.Remove(name) }) // it need not be there
	return e.openFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (e *engineFS) Link(oldname, newname string) error {
	return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: vfs.ErrUnsupported}
}

func (e *engineFS) Open(name string, _ ...vfs.OpenOption) (vfs.File, error) {
	f, err := e.under.Open(name)
	if err != nil {
		return nil, err
	}
	return &engineFile{File: f, fs: e}, nil
}

func (e *engineFS) OpenReadWrite(name string, _ vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	return e.openFile(name, os.O_RDWR|os.O_CREATE)
}

func (e *engineFS) OpenDir(name string) (vfs.File, error) {
	if _, err := e.under.Stat(name); err != nil {
		return nil, err
	}
	return &engineDir{name: name, fs: e}, nil
}

func (e *engineFS) Remove(name string) error {
	return e.change(func() error {
		if err := e.marked(name); err != nil {
			return err
		}
		return e.under.Remove(name)
	})
}

func (e *engineFS) RemoveAll(name string) error {
	_ = e.Remove(name) // what remains is that it was not there
	return nil
}

func (e *engineFS) Rename(oldname, newname string) error {
	return e.change(func() error { return e.under.Rename(oldname, newname) })
}

func (e *engineFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := e.Remove(oldname); err != nil {
		return nil, err
	}
	return e.Create(newname, c)
}

func (e *engineFS) MkdirAll(dir string, perm os.FileMode) error {
	return e.change(func() error { return e.under.MkdirAll(dir, perm) })
}

// Lock locks nothing: engine holds the directory's lock, which leaves no file.
func (e *engineFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

func (e *engineFS) List(dir string) ([]string, error) { return e.under.ReadDir(dir) }

func (e *engineFS) Stat(name string) (vfs.FileInfo, error) {
	in, err := e.under.Stat(name)
	if err != nil {
		return nil, err
	}
	return fileInfo{filepath.Base(name), in.Size, in.ModTime, in.Dir}, nil
}

func (*engineFS) PathBase(path string) string    { return filepath.Base(path) }
func (*engineFS) PathJoin(elem ...string) string { return filepath.Join(elem...) }
func (*engineFS) PathDir(path string) string     { return filepath.Dir(path) }
func (*engineFS) Unwrap() vfs.FS                 { return nil }
func (*engineFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{}, vfs.ErrUnsupported
}

// engineFile is an index.File as pebble sees it.
type engineFile struct {
	index.File
	fs  *engineFS
	off int64 // of Read
}

func (f *engineFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.off)
	f.off += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *engineFile) Write(p []byte) (n int, err error) {
	err = f.fs.change(func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *engineFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.fs.change(func() (err error) {
		n, err = f.File.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f *engineFile) Sync() error     { return f.fs.change(f.File.Sync) }
func (f *engineFile) SyncData() error { return f.fs.change(f.Datasync) }

func (f *engineFile) Stat() (vfs.FileInfo, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return fileInfo{name: filepath.Base(f.Name()), size: size}, nil
}

func (*engineFile) Preallocate(int64, int64) error { return nil }
func (*engineFile) SyncTo(int64) (bool, error)     { return false, nil }
func (*engineFile) Prefetch(int64, int64) error    { return nil }
func (*engineFile) Fd() uintptr                    { return vfs.InvalidFd }

// engineDir is a directory that is opened to be synced.
type engineDir struct {
	name string
	fs   *engineFS
}

var errDir = errors.New("pebbleidx: a directory has no bytes")

func (d *engineDir) Sync() error {
	return d.fs.change(func() error { return d.fs.under.SyncDir(d.name) })
}

func (d *engineDir) SyncData() error                  { return d.Sync() }
func (d *engineDir) Stat() (vfs.FileInfo, error)      { return d.fs.Stat(d.name) }
func (*engineDir) Close() error                       { return nil }
func (*engineDir) Read([]byte) (int, error)           { return 0, errDir }
func (*engineDir) ReadAt([]byte, int64) (int, error)  { return 0, errDir }
func (*engineDir) Write([]byte) (int, error)          { return 0, errDir }
func (*engineDir) WriteAt([]byte, int64) (int, error) { return 0, errDir }
func (*engineDir) Preallocate(int64, int64) error     { return nil }
func (*engineDir) SyncTo(int64) (bool, error)         { return false, nil }
func (*engineDir) Prefetch(int64, int64) error        { return nil }
func (*engineDir) Fd() uintptr                        { return vfs.InvalidFd }

type fileInfo struct {
	name string
	size int64
	time time.Time
	dir  bool
}

func (i fileInfo) Name() string         { return i.name }
func (i fileInfo) Size() int64          { return i.size }
func (i fileInfo) ModTime() time.Time   { return i.time }
func (i fileInfo) IsDir() bool          { return i.dir }
func (i fileInfo) Sys() any             { return nil }
func (fileInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

func (i fileInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
