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
	"time"
)

// fresh is in the names of directories that have no owner yet.
const fresh = "new-"

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
	temp, err := os.MkdirTemp(base, prefix+fresh)
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: filepath.Join(base, fmt.Sprintf("%s%d%s", prefix, os.Getpid(), filepath.Base(temp)[len(prefix+fresh):])), hold: hold(temp)}
	if err := os.Rename(temp, d.Path); err != nil {
		d.Path = temp
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

// RemoveBusy is Remove while others of this process still write below Path. The
// directory gets another name first, so that they find it gone; what they make
// there in between is removed again, for half a second at most.
func (d *Dir) RemoveBusy() error {
	aside := d.Path + "0" // still a name that sweep knows
	if err := os.Rename(d.Path, aside); err != nil {
		return d.Remove()
	}
	var err error
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		err = errors.Join(os.RemoveAll(aside), os.RemoveAll(d.Path))
		if _, left := os.Lstat(d.Path); err == nil && errors.Is(left, os.ErrNotExist) {
			break
		}
	}
	return errors.Join(err, d.Remove())
}

// sweep is best effort: what cannot be removed is in nobody's way.
func sweep(base, prefix string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !made(e.Name(), prefix) && !(made(e.Name(), prefix+fresh) && old(e)) {
			continue
		}
		path := filepath.Join(base, e.Name())
		if own := hold(path); own != nil {
			os.RemoveAll(path)
			own.Close()
		}
	}
}

// old reports whether a directory has been fresh for longer than it takes to
// give it an owner.
func old(e os.DirEntry) bool {
	st, err := e.Info()
	return err == nil && time.Since(st.ModTime()) > time.Minute
}

// made reports whether os.MkdirTemp makes such names: never a user's own.
func made(name, prefix string) bool {
	tail, ok := strings.CutPrefix(name, prefix)
	return ok && tail != "" && strings.Trim(tail, "0123456789") == ""
}
