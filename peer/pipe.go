package peer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

// NewPipe returns any program that speaks IMAP on its standard input and output,
// already authenticated (PREAUTH), as a system. command is a shell's; in it {}
// stands for the maildir, a clone of its own, which is also in MAILBENCH_MAILDIR;
// its index files belong into the directory MAILBENCH_INDEX_DIR, which Fresh
// empties. The environment is ours otherwise.
func NewPipe(name, command string) System { return &pipe{name: name, command: command} }

type pipe struct{ name, command string }

func (p *pipe) Name() string { return p.name }

func (p *pipe) Available() error {
	if !executable(pipeShell) {
		return &Missing{pipeShell, "a shell"}
	}
	return nil
}

const pipeShell = "/bin/sh"

// A pipeInstance is the program over one clone.
type pipeInstance struct {
	run     *Run
	mail    string
	index   string
	command proc.Command
}

func (p *pipe) Prepare(ctx context.Context, run *Run) (Instance, error) {
	x := &pipeInstance{run: run, mail: filepath.Join(run.Dir, "mail"), index: filepath.Join(run.Dir, "index")}
	if err := indexerDir(run.Dir, run.User); err != nil {
		return nil, err
	}
	fmt.Fprintf(run.Log, "%s: cloning %s\n", p.name, run.Corpus)
	if err := clone.Maildir(ctx, run.Corpus, x.mail, run.Clone, run.User); err != nil {
		return nil, err
	}
	if err := ageMaildir(x.mail); err != nil {
		return nil, err
	}
	x.command = proc.Command{
		Path: pipeShell, Args: []string{"-c", strings.ReplaceAll(p.command, "{}", shellQuote(x.mail))},
		Env:  append(os.Environ(), "MAILBENCH_MAILDIR="+x.mail, "MAILBENCH_INDEX_DIR="+x.index),
		User: run.User, Stderr: filepath.Join(run.Dir, "stderr.log"),
	}
	var err error
	if x.command.Dir, err = os.Getwd(); err != nil { // ./my-imapd is the user's
		return nil, err
	}
	return x, x.Fresh(ctx)
}

// shellQuote makes one word of s.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (x *pipeInstance) Describe() Description {
	return Description{Config: strings.ReplaceAll(x.command.Args[1], x.run.Dir, "$RUN")}
}

func (x *pipeInstance) Fresh(context.Context) error {
	if err := os.RemoveAll(x.index); err != nil {
		return err
	}
	return indexerDir(x.index, x.run.User)
}

func (x *pipeInstance) Task(op Op) *Task {
	t := &Task{Command: x.command, Before: x.settled}
	switch op {
	case OpNoop:
		t.Before = nil
	case OpResync:
		t.Before = x.touched
	}
	if t.Script, t.Answer = scriptOf(op); t.Script == nil {
		return nil // nobody knows how it compacts
	}
	return t
}

func (x *pipeInstance) settled(ctx context.Context) error { return settleMaildir(ctx, x.mail) }

func (x *pipeInstance) touched(ctx context.Context) error {
	if err := touchMaildir(x.mail); err != nil {
		return err
	}
	return x.settled(ctx)
}

func (x *pipeInstance) Files() (files []File, err error) {
	err = filepath.WalkDir(x.index, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(x.run.Dir, path)
		files = append(files, File{Class: "index", Path: rel, Size: st.Size()})
		return err
	})
	return files, err
}

func (x *pipeInstance) LogTail() string { return lastLine(x.command.Stderr) }

func (x *pipeInstance) Close() error { return nil }
