package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// Maildir clones the messages of the maildir from, its new/ and cur/ without
// its subfolders, to the maildir to, which must not exist. All come to its cur/:
// a name of new/ gets ":2," where it has no info. Only what is in cur/ already
// under that name stays in new/, as it is. Directories have mode 0700 and their
// source's mtime, files keep mtime, atime and mode, but their owner may read and
// write them. A message that vanishes meanwhile is counted and no error. After an
// error there is no to.
//
// Nothing is synced. Copying takes 60 to 100 us of CPU a message of 7 KB on ext4,
// nearly all of it the kernel's, Hardlink 20, shared by some workers.
func (o Options) Maildir(ctx context.Context, from, to string) (counts Counts, err error) {
	if int(o.Mode) >= len(modeNames) {
		return counts, fmt.Errorf("clone: %v is no mode", o.Mode)
	}
	c := &cloner{Options: o, from: from, to: to, how: o.Mode}
	defer c.close()
	if err := c.open(); err != nil {
		return counts, fmt.Errorf("clone: %w", err)
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return counts, fmt.Errorf("clone: %w", err)
	}
	if err := c.run(ctx); err != nil {
		return counts, errors.Join(fmt.Errorf("clone: %w", err), os.RemoveAll(to))
	}
	return Counts{Messages: int(c.done.Load()), Bytes: c.bytes.Load(), Vanished: int(c.vanished.Load()), Mode: c.how}, nil
}

// A cloner makes one clone. Files are reached by name from open directories: a
// path from the root would be walked four times a message.
type cloner struct {
	Options
	from, to string
	how      Mode // Auto until it is known

	src                   [2]folder // new, cur: read in this order, so that one that moves is seen twice rather than never
	dst                   [2]int    // new, cur
	done, vanished, bytes atomic.Int64
}

const (
	inNew = iota
	inCur
)

var folderNames = [2]string{"new", "cur"}

type folder struct {
	fd      int
	entries []entry
}

func (c *cloner) open() error {
	for i := range c.src {
		c.src[i].fd, c.dst[i] = -1, -1
	}
	for i, name := range folderNames {
		fd, err := openQuietly(unix.AT_FDCWD, filepath.Join(c.from, name), unix.O_DIRECTORY)
		if err != nil {
			return pathError("open", filepath.Join(c.from, name), err)
		}
		c.src[i].fd = fd
	}
	return nil
}

func (c *cloner) close() {
	for i := range c.src {
		if c.src[i].fd >= 0 {
			unix.Close(c.src[i].fd)
		}
		if c.dst[i] >= 0 {
			unix.Close(c.dst[i])
		}
	}
}

func (c *cloner) run(ctx context.Context) error {
	for i := range c.src {
		var err error
		if c.src[i].entries, err = list(c.src[i].fd); err != nil {
			return pathError("getdents64", filepath.Join(c.from, folderNames[i]), err)
		}
	}
	for _, name := range []string{"", "tmp", "new", "cur"} {
		path := filepath.Join(c.to, name)
		if name != "" {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
		}
		if err := c.User.Chown(path); err != nil {
			return err
		}
	}
	for i, name := range folderNames {
		path := filepath.Join(c.to, name)
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return pathError("open", path, err)
		}
		c.dst[i] = fd
	}
	if c.how == Auto {
		c.how = c.choose()
	}
	if err := c.checkSpace(); err != nil {
		return err
	}
	if err := c.all(ctx); err != nil {
		return err
	}
	return c.times()
}

// all clones all files, cur/ first: what new/ has twice must find its name taken.
func (c *cloner) all(ctx context.Context) error {
	defer c.report(len(c.src[inNew].entries) + len(c.src[inCur].entries))()
	for _, in := range []int{inCur, inNew} {
		if err := c.folder(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// folder clones the files of one folder, batches of them by several workers.
func (c *cloner) folder(ctx context.Context, in int) error {
	const batch = 256
	entries := c.src[in].entries
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(8, 2*runtime.GOMAXPROCS(0), (len(entries)+batch-1)/batch) {
		g.Go(func() error {
			buf := make([]byte, 256<<10)
			for {
				i := int(next.Add(batch)) - batch
				if i >= len(entries) {
					return nil
				}
				for _, e := range entries[i:min(i+batch, len(entries))] {
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					if err := c.message(in, e, buf); err != nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

// report calls Progress until the function it returns has been called.
func (c *cloner) report(found int) func() {
	if c.Progress == nil {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		t := time.NewTicker(200 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-quit:
				c.Progress(int(c.done.Load()), found)
				return
			case <-t.C:
				c.Progress(int(c.done.Load()), found)
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// message clones one file of a folder of the source.
func (c *cloner) message(in int, e entry, buf []byte) error {
	name, into := e.name, inCur
	if in == inNew && !strings.Contains(name, ":") {
		name += ":2,"
	}
	n, err := c.file(c.src[in].fd, e, c.dst[into], name, buf)
	if in == inNew && errors.Is(err, fs.ErrExist) {
		name, into = e.name, inNew
		n, err = c.file(c.src[in].fd, e, c.dst[into], name, buf)
	}
	var from fromError
	switch {
	case err == nil:
		c.done.Add(1)
		c.bytes.Add(n)
		return nil
	case errors.Is(err, errNoMail):
		return nil
	case errors.As(err, &from) && from.err == unix.ENOENT:
		c.vanished.Add(1)
		return nil
	case errors.As(err, &from):
		return pathError(from.op, filepath.Join(c.from, folderNames[in], e.name), from.err)
	case errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("the disk was full after %d of %d messages: %w", c.done.Load(),
			len(c.src[inNew].entries)+len(c.src[inCur].entries), pathError("write", filepath.Join(c.to, folderNames[into], name), err))
	}
	return pathError("clone to", filepath.Join(c.to, folderNames[into], name), err)
}

// times gives the directories the times of their sources. cur/ has got what was
// in new/: it is as young as the younger of them.
func (c *cloner) times() error {
	var newest time.Time
	for i := range folderNames {
		info, err := os.Stat(filepath.Join(c.from, folderNames[i]))
		if err != nil {
			return err
		}
		if i == inNew && len(c.src[inNew].entries) == 0 {
			newest = time.Time{}
		} else if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		at := info.ModTime()
		if i == inCur {
			at = newest
		}
		if err := os.Chtimes(filepath.Join(c.to, folderNames[i]), at, at); err != nil {
			return err
		}
	}
	for _, name := range []string{"tmp", ""} {
		info, err := os.Stat(filepath.Join(c.from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.Chtimes(filepath.Join(c.to, name), info.ModTime(), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}
