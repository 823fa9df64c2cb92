package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NotmuchOptions say which notmuch is a system. The zero value finds it.
type NotmuchOptions struct {
	Program string // "" = notmuch of MAILBENCH_PEERS, else of PATH
}

// NewNotmuch is notmuch as a system. It has no session: each operation is a
// command line of it, whose whole life is timed.
func NewNotmuch(o NotmuchOptions) System { return &notmuch{o} }

type notmuch struct{ o NotmuchOptions }

func (s *notmuch) Name() string { return "notmuch" }

func (s *notmuch) Available() error {
	if indexerProgram(s.o.Program, "notmuch") == "" {
		return &Missing{What: named(s.o.Program, "notmuch"), Install: "apt-get install notmuch"}
	}
	return nil
}

func (s *notmuch) Prepare(ctx context.Context, run *Run) (Instance, error) {
	program := indexerProgram(s.o.Program, "notmuch")
	if program == "" {
		return nil, s.Available()
	}
	x, err := prepareIndexer(ctx, run, program)
	if err != nil {
		return nil, fmt.Errorf("notmuch: %w", err)
	}
	// What notmuch setup writes, but for the places and the name.
	config := "[database]\npath=" + x.data + "\nmail_root=" + filepath.Dir(x.mail) + "\n" +
		"[user]\nname=mailbench\nprimary_email=mailbench@localhost\n" +
		"[new]\ntags=unread;inbox\n" +
		"[search]\nexclude_tags=deleted;spam\n" +
		"[maildir]\nsynchronize_flags=true\n"
	name := filepath.Join(x.home, "notmuch-config")
	if err := os.WriteFile(name, []byte(config), 0o644); err != nil {
		return nil, fmt.Errorf("notmuch: %w", err)
	}
	x.env = append(x.env, "NOTMUCH_CONFIG="+name)
	version, err := x.output(ctx, "--version")
	if err != nil {
		return nil, err
	}
	x.desc = Description{
		Version: strings.TrimSpace(strings.TrimPrefix(version, "notmuch")),
		Config:  config,
		Cached:  "from, subject, date, message id, threads, the words of headers and bodies",
		Notes: []string{
			"first select and first thread both are notmuch new from nothing: full-text index and threads of all mail",
			"messages with the same Message-ID are one; files that it takes for no mail are left out",
			"thread is notmuch search, a line for each thread; sort by date is the message ids, oldest first; none by subject",
			"no protocol: the whole process is timed",
		},
	}
	// A directory that has changed in the second of its scan is scanned again.
	x.settle = 1100 * time.Millisecond
	x.fresh = func(context.Context) error { return nil }
	if err := x.Fresh(ctx); err != nil {
		return nil, fmt.Errorf("notmuch: %w", err)
	}
	return &notmuchInstance{x}, nil
}

type notmuchInstance struct{ *indexer }

const fullText = "includes the full-text index"

func (x *notmuchInstance) Task(op Op) *Task {
	update := []string{"new", "--quiet", "--no-hooks"}
	switch op {
	case OpNoop:
		return &Task{Command: x.command("--version")}
	case OpSelectFirst:
		return &Task{Command: x.command(update...), Before: x.settled, Note: fullText}
	case OpSelectAgain:
		return &Task{Command: x.command(update...), Before: x.settled}
	case OpResync:
		return &Task{Command: x.command(update...), Before: x.touched}
	case OpThreadFirst:
		// There is no index without threads: this is everything once more.
		return &Task{Command: x.command(update...), Before: x.Fresh, Note: fullText}
	case OpThreadAgain:
		return &Task{Command: x.command("search", "*")}
	case OpSortDateFirst, OpSortDateAgain:
		return &Task{Command: x.command("search", "--sort=oldest-first", "--output=messages", "*")}
	case OpCompact:
		return &Task{Command: x.command("compact", "--quiet"), Note: fullText}
	}
	return nil
}
