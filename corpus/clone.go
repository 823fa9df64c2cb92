package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// CloneHow says how Clone copies a file.
type CloneHow uint8

// The ways to clone. Only CloneHardlink touches the source: it changes each
// file's link count and ctime, and whoever writes into a clone's file writes
// into the source's.
const (
	CloneAuto     CloneHow = iota // reflinks where the file system has them, else copies
	CloneCopy                     // copies
	CloneReflink                  // reflinks, or an error
	CloneHardlink                 // hard links
)

// Clone copies a maildir, an mbox or any other tree of files and directories
// from src to dst, which must not exist. src may be a link. Modes and mtimes are
// kept, those of the directories too, except that their owner may write into
// each; other kinds of files are refused. What was made is
// removed again when Clone fails or ctx ends. Nothing is synced.
func Clone(ctx context.Context, src, dst string, how CloneHow) (err error) {
	if _, err := os.Lstat(dst); err == nil {
		return fmt.Errorf("corpus: clone: %s: %w", dst, fs.ErrExist)
	}
	src, err = filepath.EvalSymlinks(src)
	if err != nil {
		return fmt.Errorf("corpus: clone: %w", err)
	}
	info, err := os.Stat(src)
	if err != nil {
		return fmt.Errorf("corpus: clone: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return fmt.Errorf("corpus: clone: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("corpus: clone: %w", err), os.RemoveAll(dst))
		}
	}()
	c := &cloner{how: how}
	if !info.IsDir() {
		return c.file(src, dst, make([]byte, 256<<10))
	}
	return c.tree(ctx, src, dst)
}

type cloner struct {
	how     CloneHow
	plainly atomic.Bool // reflinks were tried and do not work here
}

// pair is a source and its place.
type pair struct{ src, dst string }

func (c *cloner) tree(ctx context.Context, src, dst string) error {
	files := make(chan pair, 1024)
	var dirs []pair
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(files)
		return filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(src, path)
			if err != nil {
				return err
			}
			p := pair{path, filepath.Join(dst, rel)}
			switch {
			case e.IsDir():
				dirs = append(dirs, p)
				return os.Mkdir(p.dst, 0o755)
			case !e.Type().IsRegular():
				info, err := os.Stat(path)
				switch {
				case err != nil || !info.IsDir() && !info.Mode().IsRegular():
					return nil // a pipe, a link to nowhere: no mail
				case info.IsDir():
					return fmt.Errorf("%s is a link to a directory, whose mail would be missing", path)
				}
			}
			select {
			case files <- p:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	})
	for range min(4, max(2, runtime.GOMAXPROCS(0))) {
		g.Go(func() error {
			buf := make([]byte, 256<<10)
			for p := range files {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := c.file(p.src, p.dst, buf); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := len(dirs) - 1; i >= 0; i-- { // the innermost first: a parent's mtime is set when nothing moves in it any more
		info, err := os.Stat(dirs[i].src)
		if err == nil {
			err = errors.Join(os.Chmod(dirs[i].dst, info.Mode().Perm()|0o700), os.Chtimes(dirs[i].dst, info.ModTime(), info.ModTime()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cloner) file(src, dst string, buf []byte) error {
	if c.how == CloneHardlink {
		return os.Link(src, dst)
	}
	in, err := openQuietly(src)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	if err = c.fill(out, in, buf); err != nil {
		out.Close()
		return err
	}
	return errors.Join(out.Close(), os.Chtimes(dst, info.ModTime(), info.ModTime()))
}

func (c *cloner) fill(out, in *os.File, buf []byte) error {
	if c.how != CloneCopy && !c.plainly.Load() {
		err := reflink(out, in)
		if err == nil || c.how == CloneReflink {
			return err
		}
		c.plainly.Store(true)
	}
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
