package proc

import (
	"context"
	"errors"
	"io"
	"time"
)

var errNotYet = errors.New("proc: not yet")

// A Process is a Conn to a child of ours (Start) or to somebody else's process
// (Attach).
type Process struct{}

// Start starts c, with pipes as its standard input and output. It is killed
// when ctx ends.
func Start(ctx context.Context, c Command) (*Process, error) { return nil, errNotYet }

// Attach makes a Conn of a connection to a process that another one has started
// (a daemon's), which is measured while it lives. Its Wait returns when the
// connection is at its end and the process is gone.
func Attach(conn io.ReadWriteCloser, pid int) (*Process, error) { return nil, errNotYet }

func (p *Process) Read(b []byte) (int, error)              { return 0, errNotYet }
func (p *Process) Write(b []byte) (int, error)             { return 0, errNotYet }
func (p *Process) CloseWrite() error                       { return errNotYet }
func (p *Process) SetReadDeadline(t time.Time) error       { return errNotYet }
func (p *Process) SetWriteDeadline(t time.Time) error      { return errNotYet }
func (p *Process) PID() int                                { return 0 }
func (p *Process) Usage() Usage                            { return Usage{} }
func (p *Process) CPU() time.Duration                      { return 0 }
func (p *Process) Wait(ctx context.Context) (Usage, error) { return Usage{}, errNotYet }
func (p *Process) Kill()                                   {}

// OrdinaryUser is whom a server runs as that refuses root: nil when we are not
// root; else the user of that name, "" = nobody.
func OrdinaryUser(name string) (*User, error) { return nil, errNotYet }

// A Dir is a directory of one run, which is removed when this process ends in
// whatever way.
type Dir struct{ Path string }

// MakeDir makes one in base, owned by u (nil: by us) and with mode 0700. base ""
// is the first place on a real disk that u can reach of: mailbench/scratch in
// the user's cache directory, /var/tmp.
func MakeDir(base string, u *User) (*Dir, error) { return nil, errNotYet }

// Remove ends the processes that still run in it and removes it.
func (d *Dir) Remove() error { return errNotYet }

// Guard makes the watchdog kill the process group of pid too: that of a daemon
// that has left ours.
func Guard(pid int) error { return errNotYet }

// Watchdog must be called first by main and TestMain of a program that calls
// Start or MakeDir: in the watchdog process, which is the same program, it does
// not return.
func Watchdog() {}
