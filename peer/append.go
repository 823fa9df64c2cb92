package peer

import (
	"context"
	"errors"
	"io"
	"time"

	"mailbench/peer/proc"
)

// AppendOptions say which sessions append what.
type AppendOptions struct {
	Clients  []int      // connections at once, a row each; nil = 1, 30
	Messages int        // by each client; 0 = 200
	Fsync    []string   // optimized, never: Dovecot's names; ours: group, never; nil = both
	Count    int        // rounds, interleaved; 0 = 3
	Seed     uint64     // of the messages
	Systems  []string   // nil = every one that is here: dovecot-maildir, dovecot-sdbox, dovecot-mdbox, maildir, mdbox ...
	Program  string     // of ours; "" = this executable
	Scratch  string     // where the run directory is made
	User     *proc.User // whom everything runs as; nil: as this process does
	Timeout  time.Duration
	Log      io.Writer
}

// AppendReport is what appending cost.
type AppendReport struct {
	Rows    []AppendRow `json:"rows"`
	Skipped []string    `json:"skipped,omitempty"`
}

// AppendRow is one system with one promise and one number of clients.
type AppendRow struct {
	System  string `json:"system"`
	Fsync   string `json:"fsync"`
	Clients int    `json:"clients"`
}

// MeasureAppend appends the same messages to every system.
func MeasureAppend(ctx context.Context, o AppendOptions) (*AppendReport, error) {
	return nil, errors.New("append: not yet")
}
