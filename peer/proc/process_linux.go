package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is a Conn to a child of ours (Start) or to somebody else's process
// (Attach).
type Process struct {
	pid   int
	child *os.Process // nil: it is not ours
	pidfd int         // of one that is not ours, else -1
	in    io.WriteCloser
	out   io.ReadCloser
	begin time.Time
	watch *sampler

	done     chan struct{} // closed when it has ended and usage is final
	closeIn  sync.Once
	inErr    error
	unbind   func() bool // ends what the ctx of Start does
	finished sync.Once

	mu    sync.Mutex
	ended bool  // reaped: pid may be another's
	cause error // the ctx of Start has ended
	usage Usage
	cpu   time.Duration
}

// starter runs functions on one thread that lives as long as this process. The
// kernel kills a child with Pdeathsig when the thread that made it ends, and
// threads of Go come and go.
var starter = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
})

// Start starts c in a process group of its own, with pipes as its standard
// input and output, and its path as the name by which it is called. It is killed
// when ctx ends. When it ends, what it has left
// in its group is killed as well; a daemon that has left the group lives on,
// until KillAll or our own end.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("proc: %s: %w", c.Path, err)
	}
	path := c.Path
	if !strings.Contains(path, "/") {
		return nil, fmt.Errorf("proc: %s: not a path of a program", path)
	}
	files, err := c.files()
	if err != nil {
		return nil, fmt.Errorf("proc: %s: %w", path, err)
	}
	guard := theGuard()
	attr := &os.ProcAttr{
		Dir:   c.Dir,
		Env:   guard.mark(c.Env),
		Files: []*os.File{files.childIn, files.childOut, files.stderr},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL},
	}
	if c.User != nil {
		attr.Sys.Credential = &syscall.Credential{Uid: c.User.UID, Gid: c.User.GID}
	}
	p := &Process{pidfd: -1, in: files.in, out: files.out, done: make(chan struct{})}
	started := make(chan error)
	starter() <- func() {
		p.begin = time.Now()
		var err error
		p.child, err = os.StartProcess(path, append([]string{path}, c.Args...), attr)
		started <- err
	}
	err = <-started
	files.closeTheirs()
	if err != nil {
		files.in.Close()
		files.out.Close()
		return nil, fmt.Errorf("proc: %w", err)
	}
	p.pid = p.child.Pid
	p.watch = newSampler(p.pid, false, !c.Unsampled)
	go p.reap()
	if err := guard.tell("group", p.pid); err != nil {
		p.Kill()
		p.Wait(ctx)
		return nil, err
	}
	p.unbind = context.AfterFunc(ctx, func() {
		p.mu.Lock()
		if !p.ended {
			p.cause = context.Cause(ctx)
		}
		p.mu.Unlock()
		p.Kill()
	})
	return p, nil
}

type files struct{ in, out, childIn, childOut, stderr *os.File }

func (f *files) closeTheirs() {
	f.childIn.Close()
	f.childOut.Close()
	f.stderr.Close()
}

func (c Command) files() (f files, err error) {
	name, how := c.Stderr, os.O_WRONLY|os.O_CREATE|os.O_APPEND
	if name == "" {
		name, how = os.DevNull, os.O_WRONLY
	}
	if f.stderr, err = os.OpenFile(name, how, 0o644); err != nil {
		return f, err
	}
	if f.childIn, f.in, err = os.Pipe(); err != nil {
		f.stderr.Close()
		return f, err
	}
	if f.out, f.childOut, err = os.Pipe(); err != nil {
		f.stderr.Close()
		f.childIn.Close()
		f.in.Close()
	}
	return f, err
}

// reap waits for a child. Between its death and its burial its counters can
// still be read; its memory cannot.
func (p *Process) reap() {
	var err error
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	wall := time.Since(p.begin)
	seen := p.watch.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cpu, _ = cpuClock(p.pid)
	p.usage = seen.usage(p.pid)
	unix.Kill(-p.pid, unix.SIGKILL) // the zombie still holds the number of the group
	state, err := p.child.Wait()
	p.ended = true
	p.usage.Wall = wall
	if err == nil {
		p.usage.User, p.usage.Sys = state.UserTime(), state.SystemTime()
		p.usage.Exit = state.ExitCode()
		if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			p.usage.Exit = 128 + int(ws.Signal())
		}
		// Its maxrss counts the memory of the process it was before exec, us, too:
		// it tells something only where it is more than that.
		if ru, ok := state.SysUsage().(*syscall.Rusage); ok && ru.Maxrss<<10 > highWater(os.Getpid()) {
			p.usage.Peak = max(p.usage.Peak, ru.Maxrss<<10)
		}
	}
	theGuard().tell("free", p.pid)
	close(p.done)
}

func (p *Process) Read(b []byte) (int, error)  { return p.out.Read(b) }
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p *Process) PID() int                    { return p.pid }

// CloseWrite ends the standard input of a child. Of an attached connection it
// ends the writing half where that has one.
func (p *Process) CloseWrite() error {
	p.closeIn.Do(func() {
		if half, ok := p.in.(interface{ CloseWrite() error }); ok {
			p.inErr = half.CloseWrite()
		} else if p.child != nil {
			p.inErr = p.in.Close()
		}
	})
	return p.inErr
}

// SetReadDeadline is that of the pipe or connection.
func (p *Process) SetReadDeadline(t time.Time) error {
	if d, ok := p.out.(interface{ SetReadDeadline(time.Time) error }); ok {
		return d.SetReadDeadline(t)
	}
	return os.ErrNoDeadline
}

// SetWriteDeadline is that of the pipe or connection.
func (p *Process) SetWriteDeadline(t time.Time) error {
	if d, ok := p.in.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline(t)
	}
	return os.ErrNoDeadline
}

// Usage takes some 0.1 ms. User and Sys are in clock ticks of 10 ms while it
// lives.
func (p *Process) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return p.usage
	}
	u := p.watch.look().usage(p.pid)
	u.Wall = time.Since(p.begin)
	return u
}

// CPU is the process's CPU clock, in nanoseconds of the scheduler: all threads,
// those that have ended too, without descendants. It takes some 0.5 us.
func (p *Process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		if t, err := cpuClock(p.pid); err == nil {
			p.cpu = max(p.cpu, t)
		}
	}
	return p.cpu
}

// Kill kills the process group, or the one process that is not ours.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended:
	case p.child == nil:
		unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0)
	default:
		unix.Kill(-p.pid, unix.SIGKILL)
	}
}

// Wait closes the standard input, discards what has not been read, and waits
// for the end. An exit code other than 0 is no error.
func (p *Process) Wait(ctx context.Context) (Usage, error) {
	p.CloseWrite()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(io.Discard, p.out)
	}()
	var err error
	select {
	case <-p.done:
	case <-ctx.Done():
		err = context.Cause(ctx)
		p.Kill()
		<-p.done
	}
	p.finished.Do(func() {
		if p.unbind != nil {
			p.unbind()
		}
		// Somebody who has left the group may hold the other end for ever.
		select {
		case <-drained:
		case <-time.After(100 * time.Millisecond):
		}
		p.in.Close()
		p.out.Close()
	})
	<-drained
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		err = p.cause
	}
	if err != nil {
		err = fmt.Errorf("proc: process %d: %w", p.pid, err)
	}
	return p.usage, err
}

// Attach makes a Conn of a connection to a process that another one has started
// (a daemon's), which is measured while it lives: what it costs in its last
// milliseconds is not seen. Its Wait closes the connection and returns when the
// process is gone.
func Attach(conn io.ReadWriteCloser, pid int) (*Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("proc: process %d: %w", pid, err)
	}
	p := &Process{pid: pid, pidfd: fd, in: conn, out: conn, begin: time.Now(), done: make(chan struct{})}
	p.watch = newSampler(pid, true, true)
	go p.attend()
	return p, nil
}

// attend waits for the end of a process that is not ours.
func (p *Process) attend() {
	poll := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	wall := time.Since(p.begin)
	seen := p.watch.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.usage = seen.last
	p.usage.Wall = wall
	p.cpu = max(p.cpu, seen.cpu)
	unix.Close(p.pidfd)
	close(p.done)
}
