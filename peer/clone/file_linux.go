package clone

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// errNoMail is no error: the name is not a regular file's.
var errNoMail = errors.New("not a regular file")

// A fromError is an error of the source's file, not of its clone.
type fromError struct {
	op  string
	err error
}

func (e fromError) Error() string { return e.op + ": " + e.err.Error() }
func (e fromError) Unwrap() error { return e.err }

// file clones e from one directory to another, under name, and returns its size
// in bytes.
func (c *cloner) file(from int, e entry, to int, name string, buf []byte) (int64, error) {
	if c.how == Hardlink {
		return c.link(from, e, to, name)
	}
	// A pipe would be waited for without O_NONBLOCK.
	in, err := openQuietly(from, e.name, unix.O_NONBLOCK)
	if err == unix.ENXIO || err == unix.ELOOP {
		return 0, errNoMail // a socket; a link in a circle
	}
	if err == unix.ENOENT && e.link {
		return 0, errNoMail // to nowhere
	}
	if err != nil {
		return 0, fromError{"open", err}
	}
	defer unix.Close(in)
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(in, &st) }); err != nil {
		return 0, fromError{"stat", err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, errNoMail
	}
	out, err := createAt(to, name, st.Mode&0o777|0o600)
	if err != nil {
		return 0, err
	}
	n, err := c.fill(out, in, st.Size, buf)
	if err == nil && c.User != nil {
		err = unix.Fchown(out, int(c.User.UID), int(c.User.GID))
	}
	if err == nil {
		err = unix.UtimesNanoAt(to, name, []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if closeErr := unix.Close(out); err == nil && closeErr != unix.EINTR {
		err = closeErr
	}
	if err != nil {
		unix.Unlinkat(to, name, 0)
	}
	return n, err
}

// fill puts the contents of in into out.
func (c *cloner) fill(out, in int, size int64, buf []byte) (n int64, err error) {
	if c.how == Reflink {
		if err := again(func() error { return unix.IoctlFileClone(out, in) }); err != nil {
			return 0, fmt.Errorf("reflink: %w", err)
		}
		return size, nil
	}
	for {
		var k int
		err := again(func() (err error) { k, err = unix.Read(in, buf); return err })
		if err != nil {
			return n, fromError{"read", err}
		}
		for part := buf[:k]; len(part) > 0; {
			var w int
			if err := again(func() (err error) { w, err = unix.Write(out, part); return err }); err != nil {
				return n, err
			}
			part = part[w:]
		}
		n += int64(k)
		// A short read at the size that fstat told is the end: one call saved.
		if k == 0 || n == size && k < len(buf) {
			return n, nil
		}
	}
}

// link makes a hard link. Its owner stays the source's, who must let the clone's
// user read it.
func (c *cloner) link(from int, e entry, to int, name string) (int64, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(from, e.name, &st, 0) })
	switch {
	case err == unix.ENOENT && e.link, err == unix.ELOOP, err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG:
		return 0, errNoMail
	case err != nil:
		return 0, fromError{"stat", err}
	}
	if u := c.User; u != nil {
		read := st.Mode & 0o004
		switch {
		case st.Uid == u.UID:
			read = st.Mode & 0o400
		case st.Gid == u.GID:
			read = st.Mode & 0o040
		}
		if read == 0 {
			return 0, fromError{"link", fmt.Errorf("a hard link keeps its owner, and user %s may not read it: clone by copy", u.Name)}
		}
	}
	err = again(func() error { return unix.Linkat(from, e.name, to, name, unix.AT_SYMLINK_FOLLOW) })
	if err == unix.ENOENT {
		return 0, fromError{"link", err}
	}
	return st.Size, err
}

// choose says whether reflinks work from here to there. It tries with the first
// message that it can open; without any there is nothing to do.
func (c *cloner) choose() Mode {
	for _, f := range c.src {
		for _, e := range f.entries[:min(100, len(f.entries))] {
			in, err := openQuietly(f.fd, e.name, unix.O_NONBLOCK)
			if err != nil {
				continue
			}
			var st unix.Stat_t
			if unix.Fstat(in, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size == 0 {
				unix.Close(in)
				continue
			}
			const probe = "reflink-probe"
			out, err := createAt(c.dst[inNew], probe, 0o600)
			if err != nil {
				unix.Close(in)
				return Copy // whose error will say why
			}
			err = again(func() error { return unix.IoctlFileClone(out, in) })
			unix.Close(out)
			unix.Close(in)
			unix.Unlinkat(c.dst[inNew], probe, 0)
			if err == nil {
				return Reflink
			}
			return Copy
		}
	}
	return Copy
}

func createAt(dir int, name string, mode uint32) (fd int, err error) {
	err = again(func() (err error) {
		fd, err = unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		return err
	})
	return fd, err
}

// openQuietly opens for reading without a trace in the access time, where the
// system lets us: only the owner and root may ask for that.
func openQuietly(dir int, name string, flags int) (fd int, err error) {
	flags |= unix.O_RDONLY | unix.O_CLOEXEC
	open := func(flags int) error {
		return again(func() (err error) { fd, err = unix.Openat(dir, name, flags, 0); return err })
	}
	if err = open(flags | unix.O_NOATIME); err == unix.EPERM {
		err = open(flags)
	}
	return fd, err
}

// again repeats a call that a signal has interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
