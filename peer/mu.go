package peer

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// MuOptions say which mu is a system. The zero value finds it.
type MuOptions struct {
	Program string // "" = mu of MAILBENCH_PEERS, else of PATH
}

// NewMu is mu, the indexer behind mu4e, as a system. It has no session: each
// operation is a command line of it, whose whole life is timed.
func NewMu(o MuOptions) System { return &mu{o} }

type mu struct{ o MuOptions }

func (s *mu) Name() string { return "mu" }

func (s *mu) Available() error {
	if indexerProgram(s.o.Program, "mu") == "" {
		return &Missing{What: named(s.o.Program, "mu"), Install: "apt-get install maildir-utils"}
	}
	return nil
}

func (s *mu) Prepare(ctx context.Context, run *Run) (Instance, error) {
	program := indexerProgram(s.o.Program, "mu")
	if program == "" {
		return nil, s.Available()
	}
	x, err := prepareIndexer(ctx, run, program)
	if err != nil {
		return nil, fmt.Errorf("mu: %w", err)
	}
	version, err := x.output(ctx, "--version")
	if err != nil {
		return nil, err
	}
	version, _, _ = strings.Cut(version, "\n")
	x.desc = Description{
		Version: strings.TrimSpace(version[strings.LastIndexByte(version, ' ')+1:]),
		Cached:  "from, to, cc, subject, date, size, message id, references, the words of headers and bodies",
		Notes: []string{
			"first select and first thread both are mu index from nothing: the full-text index of all mail, in several threads",
			"select again is mu index --lazy-check: it asks each directory for its time and each message whether its file is there",
			"thread and sort print a message id a line",
			"no protocol: the whole process is timed",
		},
	}
	x.class = func(path string) string {
		if filepath.Ext(path) == ".log" {
			return "log"
		}
		return "database"
	}
	m := &muInstance{x}
	x.fresh = func(ctx context.Context) error {
		_, err := x.output(ctx, m.args("init", "--quiet", "--maildir="+x.mail)...)
		return err
	}
	if err := x.Fresh(ctx); err != nil {
		return nil, fmt.Errorf("mu: %w", err)
	}
	return m, nil
}

type muInstance struct{ *indexer }

func (x *muInstance) args(verb string, more ...string) []string {
	return append([]string{verb, "--muhome=" + x.data, "--nocolor"}, more...)
}

func (x *muInstance) Task(op Op) *Task {
	index := x.command(x.args("index", "--quiet")...)
	sorted := func(key string, more ...string) *Task {
		return &Task{Command: x.command(append(x.args("find", append(more, "--fields=i", "--sortfield="+key)...), "")...)}
	}
	switch op {
	case OpNoop:
		return &Task{Command: x.command("--version")}
	case OpSelectFirst:
		return &Task{Command: index, Note: fullText}
	case OpSelectAgain:
		return &Task{Command: x.command(x.args("index", "--quiet", "--lazy-check")...)}
	case OpResync:
		return &Task{Command: index, Before: x.touched}
	case OpThreadFirst:
		return &Task{Command: index, Before: x.Fresh, Note: fullText}
	case OpThreadAgain:
		return sorted("date", "--threads")
	case OpSortDateFirst, OpSortDateAgain:
		return sorted("date")
	case OpSortSubjectFirst, OpSortSubjectAgain:
		return sorted("subject")
	}
	return nil
}
