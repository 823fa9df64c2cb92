// Package peer drives the real mail servers and indexers (Dovecot, Courier,
// Cyrus, notmuch, mu), our designs through mailbench session, and any program
// that speaks IMAP on a pipe, offline and one after the other over clones of
// one corpus, and measures what each operation of the 2003 benchmark costs
// them: as rows beside ours and as the oracle of our answers.
package peer

import (
	"context"
	"fmt"
	"io"
	"time"

	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// An Op is one operation of the table, each done by a fresh process.
type Op string

// The operations, in the order in which a round does them. Those called first
// find what the ones before have left: SortDateFirst follows ThreadFirst.
const (
	OpNoop             Op = "noop"               // start, NOOP, end: protocol and process alone
	OpSelectFirst      Op = "select-first"       // no index
	OpSelectAgain      Op = "select-again"       // nothing has changed
	OpResync           Op = "resync"             // cur/ was touched
	OpThreadFirst      Op = "thread-first"       // UID THREAD REFERENCES, nothing cached
	OpThreadAgain      Op = "thread-again"       //
	OpSortDateFirst    Op = "sort-date-first"    // UID SORT (DATE), after threading
	OpSortDateAgain    Op = "sort-date-again"    //
	OpSortSubjectFirst Op = "sort-subject-first" // UID SORT (SUBJECT), after threading
	OpSortSubjectAgain Op = "sort-subject-again" //
	OpCompact          Op = "compact"            // rewrite the cache file
)

// Ops are all of them, in order.
var Ops = []Op{
	OpNoop, OpSelectFirst, OpSelectAgain, OpResync, OpThreadFirst, OpThreadAgain,
	OpSortDateFirst, OpSortDateAgain, OpSortSubjectFirst, OpSortSubjectAgain, OpCompact,
}

// A System is a column of the table.
type System interface {
	// Name is what the user says and the column's head: "dovecot", "column".
	Name() string
	// Available is nil, or a *Missing: what of it this machine lacks.
	Available() error
	// Prepare makes the system ready to serve the mail of run: its own clone,
	// configuration and directories inside run.Dir, nothing outside it.
	Prepare(ctx context.Context, run *Run) (Instance, error)
}

// A Missing says what is not installed and how to get it, a line each.
type Missing struct{ What, Install string }

func (m *Missing) Error() string { return fmt.Sprintf("%s not found: %s", m.What, m.Install) }

// CloneMode is how a clone of the corpus is made.
type CloneMode = clone.Mode

// A Run is what Prepare works in.
type Run struct {
	Dir     string     // a directory of this system alone, in which it may write; all of it goes afterwards
	Corpus  string     // the maildir to serve, never to be written to
	Clone   CloneMode  // how to make a maildir of the system's own from it
	User    *proc.User // whom servers run as; nil: as this process does
	Timeout time.Duration
	Log     io.Writer // progress, a line at a time; never nil
}

// An Instance is a System made ready over one clone.
type Instance interface {
	Describe() Description
	// Fresh removes every index and cache file, so that the next select is the
	// first.
	Fresh(ctx context.Context) error
	// Task says how the system does op; nil: it has no such operation.
	Task(op Op) *Task
	// Files lists the files that the system keeps beside the mail, with their
	// sizes, for the rows of sizes.
	Files() ([]File, error)
	// LogTail is the last line that the system wrote to its log, "" without one.
	LogTail() string
	// Close ends what still runs. The caller removes Run.Dir.
	Close() error
}

// A Description is what the reader of a table must know of a column.
type Description struct {
	Version string   // "2.3.19.1 (9b53102964)"
	Config  string   // the effective configuration, as text
	Cached  string   // which fields are cached: "date, subject, ...", "" when it caches nothing
	Notes   []string // what its times contain that the others' do not, a line each
}

// A Task is one way to do one operation.
type Task struct {
	// Command is the process to start, unless Connect is set.
	Command proc.Command
	// Connect gets a session from a server that makes its processes itself
	// (Cyrus), already authenticated.
	Connect func(ctx context.Context) (proc.Conn, error)
	// Script is what is said to it, in order; then LOGOUT. Empty: the process is
	// not spoken to (notmuch, mu, doveadm) and its whole life is timed.
	Script []Step
	// Before is called before the process is started, not timed: touch cur/, wait
	// until the directory is old enough.
	Before func(ctx context.Context) error
	// Answer names what the step marked Timed must answer, so that systems can be
	// compared: "thread-references", "sort-date", "sort-subject", "".
	Answer string
	// Note stands beside the figure: "includes the full-text index".
	Note string
}

// A Step is one IMAP command, without its tag and CRLF.
type Step struct {
	Command string
	Timed   bool // one of a script: its CPU and wall time are the operation's
}

// A File is a file that a system keeps, by class: "index", "cache", "uidlist",
// "log", "thread", "database", ...
type File struct {
	Class string
	Path  string // relative to the system's directory
	Size  int64
}

// A Sample is what one operation cost once.
type Sample struct {
	Process proc.Usage // of the whole process, start and protocol in it
	// Of the timed command alone: from before it was sent to its tagged OK. Zero
	// for a process that is not spoken to.
	Wall   time.Duration
	CPU    time.Duration
	Reply  int64  // bytes of the answer
	Digest uint64 // of the untagged answer that Task.Answer names
	Doubt  string `json:",omitempty"` // why it may not have had its temperature until the end
}
