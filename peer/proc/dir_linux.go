package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"mailbench/internal/temp"
	"mailbench/internal/tempdir"
)

// dirPrefix begins the names of run directories.
const dirPrefix = "mailbench-peers-"

// A Dir is a directory of one run, which is removed when this process ends in
// whatever way: by the watchdog, or by the next run that makes one in the same
// place.
type Dir struct {
	Path string // absolute, without links
	User *User  // whose it is; nil: ours
	own  *tempdir.Dir
}

// MakeDir makes a directory in base, which belongs to u (nil: to us) with mode
// 0700. base "" is the first of these that lies on a device and that u can reach:
// mailbench/scratch in our cache directory, /var/tmp. A base that is named may be
// in memory, and is made where it is missing.
func MakeDir(base string, u *User) (*Dir, error) {
	if base == "" {
		var err error
		if base, err = defaultBase(u); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	base, err := filepath.Abs(base)
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	if err := reachable(base, u); err != nil {
		return nil, err
	}
	own, err := tempdir.Make(base, dirPrefix)
	if err != nil {
		return nil, fmt.Errorf("proc: %w", err)
	}
	d := &Dir{Path: own.Path, User: u, own: own}
	err = theGuard().tell("dir", d.Path)
	if err == nil {
		err = u.Chown(d.Path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("proc: %w", err), d.Remove())
	}
	return d, nil
}

// Mkdir makes a directory in d that belongs to d.User, with mode 0700, and
// returns its path.
func (d *Dir) Mkdir(name string) (string, error) {
	path := filepath.Join(d.Path, name)
	err := os.Mkdir(path, 0o700)
	if err == nil {
		err = d.User.Chown(path)
	}
	if err != nil {
		return "", fmt.Errorf("proc: %w", err)
	}
	return path, nil
}

// Remove removes the directory and what is in it. It waits up to 3 s for those
// who still write there: end them first (KillAll). A second call does nothing.
func (d *Dir) Remove() error {
	err := removeAll(d.Path)
	err = errors.Join(err, d.own.Remove())
	if err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	theGuard().tell("gone", d.Path)
	return nil
}

// defaultBase finds where to make a directory that u can reach.
func defaultBase(u *User) (string, error) {
	var bases []string
	if cache, err := os.UserCacheDir(); err == nil {
		bases = append(bases, filepath.Join(cache, "mailbench", "scratch"))
	}
	var why error
	for _, base := range append(bases, "/var/tmp") {
		if m, err := temp.Mount(base); err == nil && m.Memory() {
			why = errors.Join(why, fmt.Errorf("%s is on %s", base, m.Type))
			continue
		}
		if err := reachable(base, u); err != nil {
			why = errors.Join(why, err)
			continue
		}
		return base, nil
	}
	return "", fmt.Errorf("proc: no place for a run's directory (name one): %w", why)
}

// reachable reports, as an error, the first directory on the way to path, links
// followed, that u may not pass. What does not exist yet will let him pass.
// Access control lists are not looked at.
func reachable(path string, u *User) error {
	if u == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		real, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			return fmt.Errorf("proc: %w", &fs.PathError{Op: "stat", Path: dir, Err: err})
		}
		pass := st.Mode & unix.S_IXOTH
		switch {
		case st.Uid == u.UID:
			pass = st.Mode & unix.S_IXUSR
		case st.Gid == u.GID:
			pass = st.Mode & unix.S_IXGRP
		}
		if pass == 0 && u.UID != 0 {
			return fmt.Errorf("proc: user %s may not pass %s (mode %#o)", u.Name, dir, st.Mode&0o7777)
		}
		if dir == "/" {
			return nil
		}
	}
}
