//go:build !linux

package peer

import "runtime"

// kernel is the system's name.
func kernel() string { return runtime.GOOS }
