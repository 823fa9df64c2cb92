//go:build !linux

package peer

import (
	"context"

	"mailbench/peer/proc"
)

// started starts c.
func started(ctx context.Context, c proc.Command) (*proc.Process, error) {
	return proc.Start(ctx, limited(c))
}
