//go:build !linux

package proc

import (
	"context"
	"errors"
	"io"
	"time"
)

var errSystem = errors.New("proc: measuring other programs is not available on this system")

// A Process is a program that was started to be measured.
type Process struct{}

// Start is not available on this system.
func Start(context.Context, Command) (*Process, error) { return nil, errSystem }

// Attach is not available on this system.
func Attach(io.ReadWriteCloser, int) (*Process, error) { return nil, errSystem }

func (p *Process) Read([]byte) (int, error)            { return 0, errSystem }
func (p *Process) Write([]byte) (int, error)           { return 0, errSystem }
func (p *Process) CloseWrite() error                   { return errSystem }
func (p *Process) SetReadDeadline(time.Time) error     { return errSystem }
func (p *Process) SetWriteDeadline(time.Time) error    { return errSystem }
func (p *Process) PID() int                            { return 0 }
func (p *Process) Usage() Usage                        { return Usage{} }
func (p *Process) CPU() time.Duration                  { return 0 }
func (p *Process) Wait(context.Context) (Usage, error) { return Usage{}, errSystem }
func (p *Process) Kill()                               {}

// A Dir is a directory of one run.
type Dir struct {
	Path string
	User *User
}

// MakeDir is not available on this system.
func MakeDir(string, *User) (*Dir, error) { return nil, errSystem }

// Mkdir is not available on this system.
func (d *Dir) Mkdir(string) (string, error) { return "", errSystem }

// Remove is not available on this system.
func (d *Dir) Remove() error { return errSystem }

// Guard is not available on this system.
func Guard(int) error { return errSystem }

// KillAll has nothing to kill on this system.
func KillAll() {}

// Watchdog does nothing on this system.
func Watchdog() {}
