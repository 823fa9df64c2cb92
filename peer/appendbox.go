package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
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

func (b *pipeBox) Start(context.Context) (appendServer, error) {
	command := b.Task(OpNoop).Command
	command.Unsampled = true // there may be hundreds
	return &pipeServer{command: command}, nil
}

type pipeServer struct {
	command proc.Command
	mu      sync.Mutex
	procs   []proc.Conn
}

func (s *pipeServer) Dial(ctx context.Context) (io.ReadWriter, error) {
	p, err := proc.Start(ctx, s.command)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.procs = append(s.procs, p)
	return p, nil
}

func (s *pipeServer) Procs() []proc.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.procs)
}

func (s *pipeServer) End(ctx context.Context) error { return waitAll(ctx, s.Procs()) }

func (s *pipeServer) Kill() {
	for _, p := range s.Procs() {
		p.Kill()
	}
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
		Stderr: b.log, Unsampled: true,
	}
	b.desc = Description{Config: fmt.Sprintf("mailbench session -design %s -store %s -write -fsync FSYNC -listen SOCKET", design, format)}
	return b, nil
}

func (b *listenBox) Describe() Description { return b.desc }
func (b *listenBox) LogTail() string       { return lastLine(b.log) }
func (b *listenBox) Close() error          { return nil }

func (b *listenBox) Start(ctx context.Context) (appendServer, error) {
	if err := os.Remove(b.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	p, err := proc.Start(ctx, b.command)
	if err != nil {
		return nil, err
	}
	s := &listenServer{socket: b.socket, process: p, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		p.Wait(ctx)
	}()
	return s, nil
}

type listenServer struct {
	socket  string
	process *proc.Process
	ended   chan struct{}
	mu      sync.Mutex
	conns   []net.Conn
}

func (s *listenServer) Dial(ctx context.Context) (io.ReadWriter, error) {
	c, err := dialWhenThere(ctx, s.socket, s.ended)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, c)
	return c, nil
}

func (s *listenServer) Procs() []proc.Conn { return []proc.Conn{s.process} }

func (s *listenServer) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

func (s *listenServer) Kill() {
	s.process.Kill()
	s.hangUp()
}

func (s *listenServer) End(ctx context.Context) error {
	s.hangUp()
	child, err := os.FindProcess(s.process.PID())
	if err != nil {
		return err
	}
	if err := child.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return waitAll(ctx, s.Procs())
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
