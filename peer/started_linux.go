package peer

import (
	"context"

	"golang.org/x/sys/unix"

	"mailbench/internal/temp"
	"mailbench/peer/proc"
)

// started starts c with the limit of limited: set from outside, so that no
// shell is in the figures, where the process is ours to limit. Otherwise the
// shell's start, about a millisecond, is in those of the whole process.
func started(ctx context.Context, c proc.Command) (*proc.Process, error) {
	if c.User != nil {
		return proc.Start(ctx, limited(c))
	}
	p, err := proc.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	if most := uint64(temp.TotalMemory()) / 4 * 3; most > 0 {
		// It may have ended already.
		_ = unix.Prlimit(p.PID(), unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
	return p, nil
}
