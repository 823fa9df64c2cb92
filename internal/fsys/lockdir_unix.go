//go:build unix && !solaris && !aix

package fsys

import (
	"os"

	"golang.org/x/sys/unix"
)

// LockDir waits until no other process has dir locked and locks it until
// unlock is called or the process ends, however that ends. Nothing is written.
// Where a file system has no such locks it does not wait.
func LockDir(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for unix.Flock(int(f.Fd()), unix.LOCK_EX) == unix.EINTR {
	}
	return func() { f.Close() }, nil
}
