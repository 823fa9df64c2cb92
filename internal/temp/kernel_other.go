//go:build !linux

package temp

import (
	"errors"
	"os"
)

// errUnsupported: temperature can be proven on Linux only, so far.
var errUnsupported = errors.New("temp: page-cache residency is not available on this system")

func openQuiet(path string) (*os.File, error) { return os.Open(path) }
func evict(*os.File) error                    { return errUnsupported }
func syncFS(string) error                     { return errUnsupported }

func noReadAhead(*os.File) error { return errUnsupported }

func residentPages(*os.File) (pages, resident int64, err error) { return 0, 0, errUnsupported }

// Method names the system call that residency is asked with.
func Method() string { return "none" }

// Missing says why nothing can be shown cold or evicted.
func Missing(string) string { return errUnsupported.Error() }

// CanDrop says why the caches of the machine cannot be dropped.
func CanDrop() string { return errUnsupported.Error() }

// Drop drops the caches of the machine.
func Drop() error { return errUnsupported }

// A MountInfo says what a path lies on.
type MountInfo struct{ Type, Device, Options string }

// Memory reports a file system without a device below it.
func (MountInfo) Memory() bool { return false }

// Mount finds the file system of path.
func Mount(string) (MountInfo, error) { return MountInfo{Type: "unknown"}, nil }

// IO is what this process asked of block devices since it started.
type IO struct{ Read, Written int64 }

// Sub returns what happened since before.
func (a IO) Sub(before IO) IO { return IO{a.Read - before.Read, a.Written - before.Written} }

// ProcessIO reads the counters.
func ProcessIO() (IO, error) { return IO{}, errUnsupported }

// TotalMemory returns the physical memory in bytes, 0 when unknown.
func TotalMemory() int64 { return 0 }
