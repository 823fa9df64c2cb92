package fsys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OS is the operating system's file system. On Linux its files are bare
// descriptors: no finalizer, no poller, so an unclosed File leaks.
var OS FS = osFS{}

type osFS struct{}

// retry repeats a call that a signal interrupted; Go's own preemption signals
// reach slow file systems (NFS, FUSE) that return EINTR despite SA_RESTART.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func open(name string, flag int, perm uint32) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Open(name, flag|unix.O_CLOEXEC, perm)
		return err
	})
	return fd, err
}

func (osFS) Open(name string) (File, error) {
	fd, err := open(name, unix.O_RDONLY|unix.O_NOATIME, 0)
	if err == unix.EPERM { // only the owner may ask for O_NOATIME
		fd, err = open(name, unix.O_RDONLY, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return newOSFile(fd, name), nil
}

func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if flag&os.O_APPEND != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errAppend}
	}
	fd, err := open(name, flag, uint32(perm.Perm()))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return newOSFile(fd, name), nil
}

func (osFS) Rename(oldname, newname string) error {
	if err := retry(func() error { return unix.Rename(oldname, newname) }); err != nil {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	return nil
}

func (osFS) Remove(name string) error { return os.Remove(name) }

func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

func (osFS) Stat(name string) (Info, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Stat(name, &st) }); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return Info{
		Size:    st.Size,
		ModTime: time.Unix(st.Mtim.Unix()),
		Dir:     st.Mode&unix.S_IFMT == unix.S_IFDIR,
		Odd:     st.Mode&unix.S_IFMT != unix.S_IFDIR && st.Mode&unix.S_IFMT != unix.S_IFREG,
		Ino:     st.Ino,
		Dev:     uint64(st.Dev), // 32 bits on some architectures
	}, nil
}

func (osFS) ReadDir(name string) ([]string, error) {
	d, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		d, err = os.Open(name)
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (osFS) SyncDir(dir string) error {
	fd, err := open(filepath.Clean(dir), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return &fs.PathError{Op: "syncdir", Path: dir, Err: err}
	}
	err = retry(func() error { return unix.Fsync(fd) })
	unix.Close(fd)
	if err != nil {
		return &fs.PathError{Op: "syncdir", Path: dir, Err: err}
	}
	return nil
}

type osFile struct {
	fd   int
	name string
	end  atomic.Int64 // where Write appends; -1 not asked yet
}

func newOSFile(fd int, name string) *osFile {
	f := &osFile{fd: fd, name: name}
	f.end.Store(-1)
	return f
}

func (f *osFile) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

func (f *osFile) Name() string { return f.name }

func (f *osFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := unix.Pread(f.fd, p[n:], off+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, f.fail("read", err)
		case m == 0:
			return n, io.EOF
		default:
			n += m
		}
	}
	return n, nil
}

func (f *osFile) WriteAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := unix.Pwrite(f.fd, p[n:], off+int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, f.fail("write", err)
		case m == 0: // must not happen; never spin on it
			return n, f.fail("write", io.ErrShortWrite)
		}
		n += m
		raise(&f.end, off+int64(n))
	}
	return n, nil
}

func (f *osFile) Write(p []byte) (int, error) {
	end, err := endOf(&f.end, f)
	if err != nil {
		return 0, err
	}
	return f.WriteAt(p, end)
}

func (f *osFile) Size() (int64, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(f.fd, &st) })
	return st.Size, f.fail("stat", err)
}

func (f *osFile) Sync() error {
	return f.fail("sync", retry(func() error { return unix.Fsync(f.fd) }))
}

func (f *osFile) Datasync() error {
	return f.fail("datasync", retry(func() error { return unix.Fdatasync(f.fd) }))
}

func (f *osFile) Chtimes(modified time.Time) error {
	ts, err := unix.TimeToTimespec(modified)
	if err != nil {
		return f.fail("chtimes", err)
	}
	// By descriptor, as futimens(3) does it: the name may be another file's by now.
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, ts}
	err = retry(func() error {
		_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(f.fd), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
		if e != 0 {
			return e
		}
		return nil
	})
	return f.fail("chtimes", err)
}

func (f *osFile) Truncate(size int64) error {
	if err := retry(func() error { return unix.Ftruncate(f.fd, size) }); err != nil {
		return f.fail("truncate", err)
	}
	f.end.Store(size)
	return nil
}

func (f *osFile) Map() (*Mapping, error) {
	size, err := f.Size()
	if err != nil || size == 0 { // a mapping of no bytes is EINVAL
		return &Mapping{}, err
	}
	if size != int64(int(size)) {
		return nil, f.fail("map", unix.EFBIG)
	}
	data, err := unix.Mmap(f.fd, 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, f.fail("map", err)
	}
	return &Mapping{Data: data, unmap: unix.Munmap}, nil
}

func (f *osFile) Close() error {
	fd := f.fd
	if f.fd = -1; fd < 0 {
		return f.fail("close", fs.ErrClosed)
	}
	return f.fail("close", unix.Close(fd)) // never retried: Linux has freed the descriptor even on EINTR
}
