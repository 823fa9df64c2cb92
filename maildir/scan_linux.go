package maildir

import (
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

// direntBuf is what one getdents64 may fill: some 3,500 names of mail. 256 KiB
// took 0.13 s for 370,000 names where the C library's 32 KiB took 0.17.
const direntBuf = 256 << 10

func (s *Scan) listDir(path string) error {
	fd, err := openDir(path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if s.buf == nil {
		s.buf = make([]byte, direntBuf)
	}
	n, err := getdents(fd, path, s.buf)
	if err == nil && n > direntBuf/2 {
		return s.listLarge(fd, path, n)
	}
	for err == nil && n > 0 {
		s.dirents(fd, s.buf[:n])
		n, err = getdents(fd, path, s.buf)
	}
	return err
}

// listLarge goes on with a directory whose first n bytes are in s.buf: one
// goroutine reads, which is most of the work, while this one takes out names.
func (s *Scan) listLarge(fd int, path string, n int) (err error) {
	if len(s.more) == 0 {
		s.more = make([]byte, direntBuf)
	}
	full, free := make(chan []byte, 2), make(chan []byte, 2)
	full <- s.buf[:n]
	free <- s.more
	go func() {
		defer close(full) // err is read after that
		for b := range free {
			if n, err = getdents(fd, path, b[:direntBuf]); n <= 0 || err != nil {
				return
			}
			full <- b[:n]
		}
	}()
	for b := range full {
		s.dirents(fd, b)
		free <- b
	}
	return err
}

func getdents(fd int, path string, b []byte) (int, error) {
	for {
		n, err := unix.Getdents(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, &fs.PathError{Op: "getdents64", Path: path, Err: err}
		}
		return max(n, 0), nil
	}
}

// dirents takes names out of what getdents64 returned:
//
//	d_ino u64, d_off u64, d_reclen u16, d_type u8, name, NUL, padding
func (s *Scan) dirents(fd int, b []byte) {
	const header = 19
	for len(b) > header {
		reclen := int(binary.NativeEndian.Uint16(b[16:]))
		if reclen <= header || reclen > len(b) {
			return // no kernel writes this
		}
		kind, name := b[18], b[header:reclen]
		b = b[reclen:]
		if name[0] == '.' {
			continue
		}
		// The name ends in the last eight bytes of its record; looking from
		// there is cheaper than looking for NUL from the front.
		end := max(0, len(name)-8)
		for end < len(name) && name[end] != 0 {
			end++
		}
		name = name[:end]
		if kind == unix.DT_REG {
			s.add(name)
		} else {
			s.addOdd(fd, kind, string(name))
		}
	}
}

// addOdd decides about names that are not plainly files.
func (s *Scan) addOdd(fd int, kind byte, name string) {
	if kind == unix.DT_UNKNOWN || kind == unix.DT_LNK {
		var st unix.Stat_t
		for {
			err := unix.Fstatat(fd, name, &st, 0)
			if err == unix.EINTR {
				continue
			}
			if err == unix.ENOENT && kind == unix.DT_UNKNOWN {
				return // gone since the directory was read
			}
			if err != nil { // a link to nowhere, or in a circle
				s.skip(name, err)
				return
			}
			break
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			s.add([]byte(name))
			return
		}
	}
	s.skip(name, ErrNotRegular)
}

// openDir opens a directory without leaving a trace in its access time if the
// system lets us.
func openDir(path string) (int, error) {
	flags := unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOATIME
	for {
		fd, err := unix.Open(path, flags, 0)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR:
		case unix.EPERM: // only the owner may ask for O_NOATIME
			if flags&unix.O_NOATIME == 0 {
				return -1, &fs.PathError{Op: "open", Path: path, Err: err}
			}
			flags &^= unix.O_NOATIME
		default:
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
