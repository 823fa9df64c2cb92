//go:build !linux

package clone

import (
	"context"
	"errors"

	"mailbench/peer/proc"
)

var errSystem = errors.New("clone: not available on this system")

// Maildir is not available on this system.
func (o Options) Maildir(context.Context, string, string) (Counts, error) {
	return Counts{}, errSystem
}

// Dir is not available on this system.
func Dir(context.Context, string, string, *proc.User) error { return errSystem }
