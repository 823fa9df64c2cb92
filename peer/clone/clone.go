// Package clone makes a maildir of a server's own from a corpus: the messages,
// with their names, flags, contents and times, and nothing of what servers have
// put beside them.
//
// The corpus is only read: its access times too stay where the system lets us,
// and its change times and link counts always, except with Hardlink.
package clone

import (
	"context"
	"fmt"

	"mailbench/peer/proc"
)

// A Mode says how files are cloned.
type Mode uint8

// The modes.
const (
	Auto     Mode = iota // reflink where the file system has it, else copy
	Reflink              // share the blocks (FICLONE)
	Copy                 // copy the bytes
	Hardlink             // link(2): cheap, but changes the link count and ctime of the corpus
)

var modeNames = [...]string{"auto", "reflink", "copy", "hardlink"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// Parse is the inverse of String.
func Parse(s string) (Mode, error) {
	for i, name := range modeNames {
		if s == name {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("clone: no mode %q (auto, reflink, copy, hardlink)", s)
}

// Maildir is Options{Mode: mode, User: u}.Maildir without its counts.
func Maildir(ctx context.Context, from, to string, mode Mode, u *proc.User) error {
	_, err := Options{Mode: mode, User: u}.Maildir(ctx, from, to)
	return err
}

// Options say how to clone.
type Options struct {
	Mode Mode
	User *proc.User // who owns the clone; nil: who we are
	// Progress is called now and then, from one goroutine at a time, with the
	// messages done and those found so far; nil: nobody asks.
	Progress func(done, found int)
}

// Counts are what a clone is made of.
type Counts struct {
	Messages int
	Bytes    int64
	Vanished int  // names that were gone before they could be opened
	Mode     Mode // how it was done: never Auto
}
