//go:build !linux

package floor

import "errors"

// A Dir is a maildir whose floors are measured.
type Dir struct{}

var errUnsupported = errors.New("floor: directory floors are measured on Linux only")

// Maildir prepares the floors of the maildir at path.
func Maildir(string) *Dir { return &Dir{} }

// Len returns how many names the last ReadDir saw.
func (d *Dir) Len() int { return 0 }

// ReadDir lists the directory.
func (d *Dir) ReadDir() (Work, error) { return Work{}, errUnsupported }

// List lists the directory and looks at nothing.
func (d *Dir) List() (Work, error) { return Work{}, errUnsupported }

// Names lists and sorts.
func (d *Dir) Names() (Work, error) { return Work{}, errUnsupported }

// Headers reads every header.
func (d *Dir) Headers(int) (Work, error) { return Work{}, errUnsupported }
