package corpus

import (
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maildirOut writes files relative to open directories: the kernel then looks
// up one name, not a path. The system calls are made without the wrappers of
// os, which would allocate a path, a File and a finalizer for each message.
type maildirOut struct{ cur, fresh *os.File }

func openMaildir(dir string) (*maildirOut, error) {
	if err := makeMaildir(dir); err != nil {
		return nil, err
	}
	cur, err := os.Open(filepath.Join(dir, "cur"))
	if err != nil {
		return nil, err
	}
	fresh, err := os.Open(filepath.Join(dir, "new"))
	if err != nil {
		cur.Close()
		return nil, err
	}
	return &maildirOut{cur, fresh}, nil
}

func (m *maildirOut) close() {
	m.cur.Close()
	m.fresh.Close()
}

// sync flushes the whole file system: one call instead of one per file.
func (m *maildirOut) sync() error { return unix.Syncfs(int(m.cur.Fd())) }

// write writes a parcel's files and returns how many are complete.
func (m *maildirOut) write(b *parcel) (int, error) {
	cur, fresh := m.cur.Fd(), m.fresh.Fd()
	data, name := 0, 0
	for i := range b.items {
		it := &b.items[i]
		dir := cur
		if it.fresh {
			dir = fresh
		}
		if err := createAt(dir, b.names[name:it.nameEnd], b.data[data:it.dataEnd], it.mtime); err != nil {
			return i, &os.PathError{Op: "write", Path: string(b.names[name : it.nameEnd-1]), Err: err}
		}
		data, name = it.dataEnd, it.nameEnd
	}
	return len(b.items), nil
}

// createAt makes one file. name ends in NUL.
func createAt(dir uintptr, name, data []byte, mtime int64) error {
	var fd uintptr
	for {
		var e unix.Errno
		fd, _, e = unix.Syscall6(unix.SYS_OPENAT, dir, uintptr(unsafe.Pointer(&name[0])),
			unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644, 0, 0)
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			return e
		}
		break
	}
	for len(data) > 0 {
		n, _, e := unix.Syscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)))
		if e == unix.EINTR {
			continue
		}
		if e != 0 {
			unix.Close(int(fd))
			return e
		}
		data = data[n:]
	}
	times := [2]unix.Timespec{{Sec: mtime}, {Sec: mtime}}
	if _, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, fd, 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0); e != 0 {
		unix.Close(int(fd))
		return e
	}
	return unix.Close(int(fd))
}

// freeSpace returns the octets and inodes that an ordinary user may still take;
// -1 is unknown.
func freeSpace(dir string) (bytes, inodes int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return -1, -1, err
	}
	bytes, inodes = int64(st.Bavail)*st.Bsize, -1
	if st.Files > 0 { // btrfs has no such number
		inodes = int64(st.Ffree)
	}
	return bytes, inodes, nil
}

// tryLock takes an exclusive lock that ends with the process.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// reflink makes dst share src's blocks, where the file system can.
func reflink(dst, src *os.File) error { return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())) }

// openQuietly opens a file to read without touching its atime, where allowed.
func openQuietly(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOATIME, 0)
	if err != nil && os.IsPermission(err) {
		return os.Open(path)
	}
	return f, err
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
