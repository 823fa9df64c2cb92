//go:build unix && !solaris && !aix

package tempdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold opens dir and locks it; nil when another process (or another Dir of
// this one) holds it, or when it cannot be locked. The lock ends when the file
// is closed.
func hold(dir string) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	for {
		switch unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) {
		case nil:
			return f
		case unix.EINTR:
		default:
			f.Close()
			return nil
		}
	}
}
