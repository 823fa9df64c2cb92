//go:build unix && !solaris && !aix

package fsys

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// TryLockDir locks dir, with others (shared) or alone, until unlock is called or
// the process ends. It does not wait: an error that wraps ErrLocked says that
// somebody else holds it, who may be this process by another call. Nothing is
// written. Where a file system has no such locks it succeeds.
func TryLockDir(dir string, shared bool) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_EX | unix.LOCK_NB
	if shared {
		how = unix.LOCK_SH | unix.LOCK_NB
	}
	for err = unix.Flock(int(f.Fd()), how); errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), how)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("%s: %w", dir, ErrLocked)
	}
	return func() { f.Close() }, nil
}
