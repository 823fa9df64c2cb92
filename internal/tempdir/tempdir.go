// Package tempdir makes directories that belong to a process: when it ends
// without removing them, killed or interrupted, the next one that makes a
// directory in the same place does.
//
// An owner holds a lock (flock) on its directory, which ends with the process
// however that ends. A directory that carries the prefix and that nobody holds
// is left over. Where the system has no such locks nothing is swept.
package tempdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Dir is a directory of this process. Its Path must not be given to
// processes that outlive this one.
type Dir struct {
	Path string
	hold *os.File // nil: the system has no locks
}

// Make makes a directory of a new name that begins with prefix in base, which
// exists, and removes those of that prefix whose owners have ended.
func Make(base, prefix string) (*Dir, error) {
	sweep(base, prefix)
	// It gets the name by which others find it when it has its owner.
	fresh, err := os.MkdirTemp(base, prefix+"new-")
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: filepath.Join(base, fmt.Sprintf("%s%d%s", prefix, os.Getpid(), filepath.Base(fresh)[len(prefix+"new-"):])), hold: hold(fresh)}
	if err := os.Rename(fresh, d.Path); err != nil {
		d.Path = fresh
		return nil, errors.Join(err, d.Remove())
	}
	return d, nil
}

// Remove removes the directory and what is in it. A second call does nothing.
func (d *Dir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.hold != nil {
		d.hold.Close()
		d.hold = nil
	}
	return err
}

// sweep is best effort: what cannot be removed is in nobody's way.
func sweep(base, prefix string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !made(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(base, e.Name())
		if own := hold(path); own != nil {
			os.RemoveAll(path)
			own.Close()
		}
	}
}

// made reports whether os.MkdirTemp makes such names: never a user's own.
func made(name, prefix string) bool {
	tail, ok := strings.CutPrefix(name, prefix)
	return ok && tail != "" && strings.Trim(tail, "0123456789") == ""
}
