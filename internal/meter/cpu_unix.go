//go:build unix

package meter

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpu returns what all threads of this process have used so far.
func cpu() (user, sys time.Duration) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0, 0
	}
	return time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano())
}
