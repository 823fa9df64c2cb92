package floor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Dir is a maildir whose floors are measured. Buffers are kept between
// calls. Not for concurrent use.
type Dir struct {
	paths []string
	buf   []byte
	names []byte   // NUL-terminated, one after the other
	off   []uint32 // of each name in names
	dir   []uint8  // index into paths, by name
	keys  []uint64
	tmp   []uint64
}

// Maildir prepares the floors of the maildir at path.
func Maildir(path string) *Dir {
	return &Dir{
		paths: []string{filepath.Join(path, "cur"), filepath.Join(path, "new")},
		buf:   make([]byte, 256<<10),
	}
}

// Len returns how many names the last ReadDir saw.
func (d *Dir) Len() int { return len(d.off) }

// ReadDir is getdents64 of new/ and cur/ with a 256 KiB buffer; the names are
// left in one arena. Its work is the bytes of directory entries delivered.
func (d *Dir) ReadDir() (Work, error) {
	d.names, d.off, d.dir = d.names[:0], d.off[:0], d.dir[:0]
	return d.list(d.take)
}

// List is getdents64 alone: what a program cannot do without that looks at
// every name and takes them up on another processor meanwhile.
func (d *Dir) List() (Work, error) { return d.list(func([]byte, uint8) {}) }

func (d *Dir) list(take func(entries []byte, dir uint8)) (Work, error) {
	var w Work
	for i, p := range d.paths {
		fd, err := openDir(p)
		if err != nil {
			return w, err
		}
		if fd < 0 {
			continue
		}
		for {
			n, err := unix.Getdents(fd, d.buf)
			w.Calls++
			if err != nil {
				unix.Close(fd)
				return w, fmt.Errorf("floor: getdents64 %s: %w", p, err)
			}
			if n <= 0 {
				break
			}
			w.Bytes += int64(n)
			take(d.buf[:n], uint8(i))
		}
		unix.Close(fd)
	}
	return w, nil
}

// openDir opens a directory; -1 without an error is a new/ that is not there:
// then nothing is new.
func openDir(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) && filepath.Base(path) == "new" {
		return -1, nil
	}
	if err != nil {
		return -1, fmt.Errorf("floor: open %s: %w", path, err)
	}
	return fd, nil
}

// take appends the names of one getdents64 buffer. Layout: ino u64, off i64,
// reclen u16, type u8, name.
func (d *Dir) take(b []byte, dir uint8) {
	for len(b) >= 20 {
		reclen := int(binary.NativeEndian.Uint16(b[16:]))
		if reclen < 20 || reclen > len(b) {
			return
		}
		if name := b[19:reclen]; name[0] != '.' && name[0] != ':' && mayBeMail(b[18]) {
			end := bytes.IndexByte(name, 0)
			d.off = append(d.off, uint32(len(d.names)))
			d.dir = append(d.dir, dir)
			d.names = append(d.names, name[:end+1]...)
		}
		b = b[reclen:]
	}
}

// mayBeMail passes over directories, pipes, sockets and devices by their
// d_type: no mail, and opening a pipe would wait for its writer.
func mayBeMail(dtype byte) bool {
	return dtype == unix.DT_REG || dtype == unix.DT_LNK || dtype == unix.DT_UNKNOWN
}

// Names is ReadDir and one radix sort of the names' leading decimal number.
func (d *Dir) Names() (Work, error) {
	w, err := d.ReadDir()
	if err != nil {
		return w, err
	}
	d.keys = d.keys[:0]
	for _, o := range d.off {
		var k uint64
		for _, c := range d.names[o:] {
			if c < '0' || c > '9' {
				break
			}
			k = k*10 + uint64(c-'0')
		}
		d.keys = append(d.keys, k)
	}
	if cap(d.tmp) < len(d.keys) {
		d.tmp = make([]uint64, len(d.keys))
	}
	radix(d.keys, d.tmp[:len(d.keys)])
	return w, nil
}

// Headers is ReadDir and then openat, read to the end of the header, close
// for every file, by workers goroutines (0: GOMAXPROCS).
func (d *Dir) Headers(workers int) (Work, error) {
	w, err := d.ReadDir()
	if err != nil {
		return w, err
	}
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	fds := make([]int, len(d.paths))
	for i, p := range d.paths {
		if fds[i], err = openDir(p); err != nil {
			return w, err
		}
		if fds[i] >= 0 {
			defer unix.Close(fds[i])
		}
	}
	var (
		next  atomic.Int64
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	const batch = 256
	for range workers {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			var mine Work
			var err error
			for err == nil {
				lo := int(next.Add(batch)) - batch
				if lo >= len(d.off) {
					break
				}
				for i := lo; i < min(lo+batch, len(d.off)) && err == nil; i++ {
					err = d.header(fds[d.dir[i]], i, buf, &mine)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			w.add(mine)
			if first == nil {
				first = err
			}
		})
	}
	wg.Wait()
	return w, first
}

// header opens name i and reads until an empty line has been seen.
func (d *Dir) header(dirfd, i int, buf []byte, w *Work) error {
	fd, err := openat(dirfd, &d.names[d.off[i]])
	if err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
			return nil // a mailbox lives
		}
		return fmt.Errorf("floor: open %s: %w", d.path(i), err)
	}
	have := 0
	for want := 8 << 10; ; want = len(buf) {
		n, err := unix.Read(fd, buf[have:want])
		w.Calls++
		if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EAGAIN) {
			break // what a link leads to is no mail
		}
		if err != nil {
			unix.Close(fd)
			return fmt.Errorf("floor: read %s: %w", d.path(i), err)
		}
		w.Bytes += int64(n)
		from := max(0, have-2)
		have += n
		if n == 0 || have == len(buf) || headerEnds(buf[from:have]) {
			break
		}
	}
	w.Calls += 2
	return unix.Close(fd)
}

// path is that of name i.
func (d *Dir) path(i int) string {
	name := d.names[d.off[i]:]
	return filepath.Join(d.paths[d.dir[i]], string(name[:bytes.IndexByte(name, 0)]))
}

func headerEnds(b []byte) bool {
	return bytes.Contains(b, []byte("\n\n")) || bytes.Contains(b, []byte("\n\r\n"))
}
