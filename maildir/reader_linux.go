package maildir

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dirs are the descriptors of cur/ and new/. Files are opened relative to them:
// the kernel walks one name instead of a path.
type dirs struct {
	fd    [2]int
	plain atomic.Bool // O_NOATIME was refused: the mail belongs to somebody else
}

func (d *dirs) open(path string) (err error) {
	d.fd = [2]int{-1, -1}
	if d.fd[Cur], err = openDir(path + "/cur"); err != nil {
		return err
	}
	if d.fd[New], err = openDir(path + "/new"); err != nil && !notExist(err) {
		unix.Close(d.fd[Cur])
		return err
	}
	return nil
}

func (d *dirs) close() (err error) {
	for i, fd := range d.fd {
		if fd >= 0 {
			err = errors.Join(err, unix.Close(fd))
			d.fd[i] = -1
		}
	}
	return err
}

func notExist(err error) bool { return errors.Is(err, syscall.ENOENT) }

// cName is a file name for the kernel, on the stack: the wrappers of x/sys
// would allocate one for each call.
type cName [256]byte

func (c *cName) set(file string) error {
	if len(file) >= len(c) {
		return unix.ENAMETOOLONG
	}
	if strings.IndexByte(file, '/') >= 0 || strings.IndexByte(file, 0) >= 0 {
		return unix.EINVAL // no name of a directory's; an index may be damaged
	}
	c[copy(c[:], file)] = 0
	return nil
}

// handle is an open file.
type handle int

// openFile opens for reading. O_NONBLOCK keeps a pipe that took the name of a
// message from stopping us for ever; files do not mind it.
func (d *dirs) openFile(dir Dir, file string) (handle, error) {
	var name cName
	if err := name.set(file); err != nil {
		return -1, err
	}
	if dir > New || d.fd[dir] < 0 {
		return -1, unix.ENOENT
	}
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY
	for {
		extra := unix.O_NOATIME
		if d.plain.Load() {
			extra = 0
		}
		fd, _, errno := syscall.Syscall6(unix.SYS_OPENAT, uintptr(d.fd[dir]), uintptr(unsafe.Pointer(&name)),
			uintptr(flags|extra), 0, 0, 0)
		switch {
		case errno == 0:
			return handle(fd), nil
		case errno == unix.EINTR:
		case errno == unix.EPERM && extra != 0:
			d.plain.Store(true)
		default:
			return -1, errno
		}
	}
}

// pread returns 0 and no error at the end.
func (f handle) pread(b []byte, off int64) (int, error) {
	for {
		n, err := unix.Pread(int(f), b, off)
		if err == unix.EINTR {
			continue
		}
		return max(n, 0), err
	}
}

func (f handle) stat() (size, mtimeNs int64, regular bool, err error) {
	var st unix.Stat_t
	for {
		if err = unix.Fstat(int(f), &st); err != unix.EINTR {
			return st.Size, st.Mtim.Nano(), st.Mode&unix.S_IFMT == unix.S_IFREG, err
		}
	}
}

func (f handle) close() { unix.Close(int(f)) }

func (d *dirs) stat(dir Dir, file string) (size, mtimeNs int64, err error) {
	var name cName
	if err := name.set(file); err != nil {
		return 0, 0, err
	}
	if dir > New || d.fd[dir] < 0 || file == "" {
		return 0, 0, unix.ENOENT
	}
	var st unix.Statx_t
	for {
		_, _, errno := syscall.Syscall6(unix.SYS_STATX, uintptr(d.fd[dir]), uintptr(unsafe.Pointer(&name)),
			0, unix.STATX_SIZE|unix.STATX_MTIME, uintptr(unsafe.Pointer(&st)), 0)
		switch errno {
		case 0:
			return int64(st.Size), st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec), nil
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM: // Linux before 4.11, and sandboxes that do not know statx
			var old unix.Stat_t
			if err := unix.Fstatat(d.fd[dir], file, &old, 0); err != nil {
				return 0, 0, err
			}
			return old.Size, old.Mtim.Nano(), nil
		default:
			return 0, 0, errno
		}
	}
}

func statDir(path string) (mtimeNs int64, ino uint64, err error) {
	var st unix.Stat_t
	for {
		err = unix.Stat(path, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, 0, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
		return st.Mtim.Nano(), st.Ino, nil
	}
}
