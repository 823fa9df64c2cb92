//go:build !linux

package peer

// limitMemory does nothing: one process cannot limit another on this system.
func limitMemory(int) error { return nil }
