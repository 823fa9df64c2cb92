package fsys

import "golang.org/x/sys/unix"

// ReadOnly reports that at least one of the files or directories is there and
// may not be written by this process. One system call each.
func ReadOnly(names ...string) bool {
	for _, name := range names {
		switch unix.Faccessat(unix.AT_FDCWD, name, unix.W_OK, unix.AT_EACCESS) {
		case unix.EACCES, unix.EPERM, unix.EROFS:
			return true
		}
	}
	return false
}
