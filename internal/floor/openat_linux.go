package floor

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openat takes a NUL-terminated name as it stands in the arena; unix.Openat
// would copy it to the heap first.
func openat(dirfd int, name *byte) (int, error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK // a pipe must not be waited for
	fd, _, e := syscall.Syscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(unsafe.Pointer(name)), flags|unix.O_NOATIME, 0, 0, 0)
	if e == unix.EPERM {
		fd, _, e = syscall.Syscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(unsafe.Pointer(name)), flags, 0, 0, 0)
	}
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}
