// Package proc starts other programs as measured processes: in a process group
// of their own, as an ordinary user where they want one, with their CPU time,
// memory and device traffic read while they live and when they end.
//
// Nothing of it outlives this process. Every process started gets SIGKILL from
// the kernel when we end, and a watchdog (see Watchdog) kills what has left its
// group and removes the directories of MakeDir, whatever we have died of.
package proc

import (
	"context"
	"io"
	"time"
)

// A User is whom a process runs as.
type User struct {
	UID, GID   uint32
	Name, Home string
}

// A Command says what to start.
type Command struct {
	Path   string
	Args   []string // without the program's name
	Env    []string // the whole environment; MAILBENCH_RUN is added to it
	Dir    string
	User   *User  // nil: as this process
	Stderr string // the file that gets it, appended to; "" = discarded
	// Unsampled processes are not looked at every 2 ms for their memory: where many
	// run at once and only time counts, that would take some of it.
	Unsampled bool
}

// A Usage is what a process has cost. User, Sys and the four counts include
// those of its descendants that it has waited for; the memory is its own.
type Usage struct {
	Wall, User, Sys          time.Duration
	Peak, PeakAnon, PeakFile int64 // bytes of memory
	Read, Written            int64 // bytes from and to devices
	ReadChars, WrittenChars  int64 // bytes through read(2) and write(2)
	Exit                     int   // 128 + the signal for one that was killed
}

// A Conn is a process that is spoken to on a pipe or a socket.
type Conn interface {
	io.Reader
	io.Writer
	// CloseWrite tells the other side that nothing more will be said.
	CloseWrite() error
	PID() int
	// Usage is what the process has cost so far, with 0 for what is not known.
	// It is for just before LOGOUT: memory cannot be read afterwards.
	Usage() Usage
	// CPU is the time on a processor so far, of all threads.
	CPU() time.Duration
	// Wait discards what has not been read, and waits until the process has
	// ended; when ctx ends first it is killed and ctx's error returned.
	Wait(ctx context.Context) (Usage, error)
	Kill()
}
