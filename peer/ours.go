package peer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// OursOptions say how a design of ours is served.
type OursOptions struct {
	Program string // mailbench; "" = this executable
	Name    string // of the column; "" = the design's
	Fields  string // what is cached: thread, envelope; "" = thread
	Answers string // stored, computed; "" = stored
}

// NewOurs returns an index design of ours as a system: mailbench session on a
// pipe, a fresh process for each operation like the servers. It reads mail as
// Dovecot does (-compat dovecot), so that equal answers are equal bytes.
func NewOurs(design string, o OursOptions) System {
	if o.Name == "" {
		o.Name = design
	}
	if o.Fields == "" {
		o.Fields = "thread"
	}
	if o.Answers == "" {
		o.Answers = "stored"
	}
	return &ours{design, o}
}

type ours struct {
	design string
	o      OursOptions
}

func (s *ours) Name() string { return s.o.Name }

// Available is always nil: we run.
func (s *ours) Available() error { return nil }

// An oursInstance is a design over one clone.
type oursInstance struct {
	*pipeInstance
	s       *ours
	program string
}

func (s *ours) Prepare(ctx context.Context, run *Run) (Instance, error) {
	program := s.o.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	// It serves whoever we are, so its files are ours too.
	own := *run
	own.User = nil
	x := &oursInstance{&pipeInstance{run: &own, mail: filepath.Join(run.Dir, "mail"), index: filepath.Join(run.Dir, "index")}, s, program}
	if err := os.MkdirAll(run.Dir, 0o700); err != nil {
		return nil, err
	}
	fmt.Fprintf(run.Log, "%s: cloning %s\n", s.o.Name, run.Corpus)
	if err := clone.Maildir(ctx, run.Corpus, x.mail, run.Clone, nil); err != nil {
		return nil, err
	}
	if err := ageMaildir(x.mail); err != nil {
		return nil, err
	}
	x.command = x.verb("session")
	return x, x.Fresh(ctx)
}

// verb is one of our commands on the clone and its index.
func (x *oursInstance) verb(words ...string) proc.Command {
	args := append(words, "-design", x.s.design, "-index-dir", x.index, "-compat", "dovecot", "-fields", x.s.o.Fields, "-answers", x.s.o.Answers)
	return proc.Command{
		Path: x.program, Args: append(args, x.mail), Env: os.Environ(), Dir: x.run.Dir, Stderr: filepath.Join(x.run.Dir, "stderr.log"),
	}
}

func (x *oursInstance) Describe() Description {
	d := Description{
		Config: strings.ReplaceAll("mailbench "+strings.Join(x.command.Args, " "), x.run.Dir, "$RUN"),
		Cached: "date, subject, message ids",
		Notes:  []string{"a Go program: start and NOOP show what its runtime takes"},
	}
	if x.s.o.Fields == "envelope" {
		d.Cached += ", the envelope"
	}
	switch x.s.design {
	case "scan":
		d.Cached = ""
	case "column":
		d.Notes = append(d.Notes, "thread trees and sort orders are kept: their making is in the first of each")
		d.Notes = append(d.Notes, "a bound, not a server's design")
	}
	return d
}

func (x *oursInstance) Task(op Op) *Task {
	if op == OpCompact {
		return &Task{Command: x.verb("index", "compact"), Note: "process start in it"}
	}
	return x.pipeInstance.Task(op)
}

// Files are classed by their names: mailbench.cache is "cache".
func (x *oursInstance) Files() ([]File, error) {
	files, err := x.pipeInstance.Files()
	for i := range files {
		name := strings.TrimRight(files[i].Path, ".0123456789") // mailbench.log.2
		if ext := filepath.Ext(name); len(ext) > 1 {
			files[i].Class = ext[1:]
		}
	}
	return files, err
}
