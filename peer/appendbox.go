package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"mailbench/peer/proc"
)

// appendSystems lists Dovecot and our designs with each format, in the order of
// a table: what is compared stands together.
func appendSystems(o *AppendOptions) (list []appendSystem) {
	for _, format := range o.Formats {
		dovecot := "dovecot-" + format
		with := func(fsync string) System {
			d := o.Dovecot
			d.Name, d.Format, d.Fsync = dovecot, format, fsync
			return NewDovecot(d)
		}
		list = append(list, appendSystem{
			name: dovecot, missing: with("optimized").Available(),
			make: func(ctx context.Context, run *Run, fsync string) (appendBox, error) {
				inst, err := with(fsync).Prepare(ctx, run)
				if err != nil {
					return nil, err
				}
				return &pipeBox{inst}, nil
			},
		})
		for _, design := range o.Designs {
			list = append(list, appendSystem{
				name: design + "-" + format, against: dovecot,
				make: func(ctx context.Context, run *Run, fsync string) (appendBox, error) {
					return newListenBox(o, run, design, format, oursFsync[fsync])
				},
			})
		}
	}
	return list
}

// A pipeBox is served by a process for each session, on a pipe.
type pipeBox struct{ Instance }

func (b *pipeBox) Connect(ctx context.Context, n int) (*appendSessions, error) {
	s := &appendSessions{}
	command := b.Task(OpNoop).Command
	for range n {
		p, err := proc.Start(ctx, command)
		if err != nil {
			s.kill()
			return nil, err
		}
		s.conns, s.procs = append(s.conns, p), append(s.procs, p)
	}
	s.end = func(ctx context.Context) error { return waitAll(ctx, s.procs) }
	return s, nil
}

// waitAll waits for processes to end; one that does not end well is an error.
func waitAll(ctx context.Context, procs []proc.Conn) error {
	var errs []error
	for _, p := range procs {
		use, err := p.Wait(ctx)
		if err == nil && use.Exit != 0 {
			err = fmt.Errorf("process %d: exit status %d", p.PID(), use.Exit)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// A listenBox is served by one process of ours for all sessions, on a unix
// socket in its own directory.
type listenBox struct {
	command proc.Command
	socket  string
	desc    Description
	log     string
}

func newListenBox(o *AppendOptions, run *Run, design, format, fsync string) (*listenBox, error) {
	program := o.Program
	if program == "" {
		// What the kernel runs us from: a path below a directory that the user of
		// the run cannot enter would not do.
		program = "/proc/self/exe"
		if _, err := os.Stat(program); err != nil {
			if program, err = os.Executable(); err != nil {
				return nil, err
			}
		}
	}
	b := &listenBox{socket: filepath.Join(run.Dir, "s"), log: filepath.Join(run.Dir, "stderr.log")}
	// struct sockaddr_un has 108 bytes, and a zero at the end.
	if len(b.socket) > 107 {
		return nil, fmt.Errorf("%s: too long for the name of a socket: choose a scratch directory with a shorter one", b.socket)
	}
	index := filepath.Join(run.Dir, "index")
	if err := indexerDir(index, run.User); err != nil {
		return nil, err
	}
	b.command = proc.Command{
		Path: program,
		Args: []string{"session", "-design", design, "-index-dir", index, "-store", format, "-write", "-fsync", fsync,
			"-listen", b.socket, filepath.Join(run.Dir, "mail")},
		Env:    append([]string{"HOME=" + run.Dir, "TMPDIR=" + run.Dir, "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}, o.Env...),
		Dir:    run.Dir,
		User:   run.User,
		Stderr: b.log,
	}
	b.desc = Description{Config: fmt.Sprintf("mailbench session -design %s -store %s -write -fsync FSYNC -listen SOCKET", design, format)}
	return b, nil
}

func (b *listenBox) Describe() Description { return b.desc }
func (b *listenBox) LogTail() string       { return lastLine(b.log) }
func (b *listenBox) Close() error          { return nil }

func (b *listenBox) Connect(ctx context.Context, n int) (*appendSessions, error) {
	if err := os.Remove(b.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	p, err := proc.Start(ctx, b.command)
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Wait(ctx)
	}()
	s := &appendSessions{procs: []proc.Conn{p}}
	for range n {
		c, err := dialWhenThere(ctx, b.socket, ended)
		if err != nil {
			s.kill()
			return nil, err
		}
		s.conns = append(s.conns, c)
	}
	s.end = func(ctx context.Context) error {
		for _, c := range s.conns {
			c.(io.Closer).Close()
		}
		child, err := os.FindProcess(p.PID())
		if err != nil {
			return err
		}
		if err := child.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		return waitAll(ctx, s.procs)
	}
	return s, nil
}

// dialWhenThere connects to a socket that a process just started is about to
// make.
func dialWhenThere(ctx context.Context, socket string, ended <-chan struct{}) (net.Conn, error) {
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-ended:
			return nil, errors.New("the server has ended")
		case <-time.After(5 * time.Millisecond):
		}
	}
}
