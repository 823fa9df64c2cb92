package fsys

import (
	"errors"
	"io"
	"time"
)

var errSkeleton = errors.New("fsys: not yet")

// OS is the operating system's file system.
var OS FS

// Counts is what a Counter saw.
type Counts struct {
	Opens, Reads, Writes, Syncs, SyncDirs, Renames, Removes, Truncates, Maps, Stats, ReadDirs int64
	BytesRead, BytesWritten, BytesMapped                                                      int64
}

// Counter is an FS that counts.
type Counter struct{ FS }

// Counting counts calls and bytes.
func Counting(under FS) *Counter { return &Counter{under} }

// Counts returns a snapshot.
func (c *Counter) Counts() Counts { return Counts{} }

// ShortWrite cuts a write after N bytes.
type ShortWrite struct {
	N   int
	Err error
}

func (e *ShortWrite) Error() string { return "fsys: short write" }

// Failing asks fail before each call.
func Failing(under FS, fail func(op Op, name string, off int64, n int) error) FS { return under }

// Delaying makes each call slower.
func Delaying(under FS, latency time.Duration, bytesPerSecond float64) FS { return under }

// Log is a recording.
type Log struct{}

// Len is the number of events.
func (l *Log) Len() int { return 0 }

// Recording records every change below root into log.
func Recording(under FS, root string, log *Log) (FS, error) { return under, nil }

// A Fate is what a crash does to changes that were not made to last.
type Fate uint8

const (
	Kept  Fate = iota // everything reached the disk (only the process died)
	Lost              // nothing reached the disk
	Mixed             // each change by a coin
)

// A Crash says what survives.
type Crash struct {
	Data, Names Fate
	Torn        bool // the last write is cut in the middle
	Seed        uint64
}

// Crashes lists the crashes worth trying.
func Crashes(seed uint64) []Crash { return nil }

// Replay rebuilds in dir what root held after the first n events and a crash.
func (l *Log) Replay(dir string, n int, c Crash) error { return errSkeleton }

// WriteFileAtomic writes name so that a crash leaves the old file or the new.
func WriteFileAtomic(fs FS, name string, write func(w io.Writer) error) error { return errSkeleton }
