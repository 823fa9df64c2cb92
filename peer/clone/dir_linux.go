package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"mailbench/peer/proc"
)

// Dir copies the regular files of the directory from and those below it to to,
// which must not exist: a user's index files, which a server will write to, so
// they are never links. They belong to u (nil: to us), who may read and write
// them; modes and times are kept otherwise. Links and what else is no file or
// directory is an error: an index has none. After an error there is no to.
func Dir(ctx context.Context, from, to string, u *proc.User) (err error) {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("clone: %w", pathError("mkdir", to, fs.ErrExist))
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("clone: %w", err), os.RemoveAll(to))
		}
	}()
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	c := &cloner{Options: Options{User: u}, how: Copy}
	buf := make([]byte, 256<<10)
	type times struct {
		path string
		info fs.FileInfo
	}
	var dirs []times
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			info, err := d.Info()
			if err != nil {
				return err
			}
			dirs = append(dirs, times{target, info})
			if err := os.Mkdir(target, info.Mode().Perm()|0o700); err != nil {
				return err
			}
			return u.Chown(target)
		case d.Type().IsRegular():
			_, err := c.file(unix.AT_FDCWD, entry{name: path}, unix.AT_FDCWD, target, buf)
			if err != nil {
				return pathError("copy", path, err)
			}
			return nil
		}
		return pathError("copy", path, errNoMail)
	})
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- { // the innermost first
		err = os.Chtimes(dirs[i].path, dirs[i].info.ModTime(), dirs[i].info.ModTime())
	}
	return err
}
