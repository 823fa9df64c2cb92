package peer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// limitMemory keeps a server from taking the whole machine with it: its address
// space may grow to three quarters of the memory. (A Dovecot 2.3.19 of Debian's
// that was asked for THREAD REFERENCES of 3,000 messages, three of them with
// 3,000 references, took 23 GB before the kernel ended it.)
func limitMemory(pid int) error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return err
	}
	most := uint64(info.Totalram) * uint64(info.Unit) / 4 * 3
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, nil, &old); err != nil || old.Cur <= most {
		return err
	}
	lim := unix.Rlimit{Cur: most, Max: most}
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, &lim, nil); err != nil {
		return fmt.Errorf("peer: limit of memory of process %d: %w", pid, err)
	}
	return nil
}
