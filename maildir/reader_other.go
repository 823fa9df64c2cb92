//go:build !linux

package maildir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// dirs opens by path; no system but Linux has both openat and O_NOATIME.
type dirs struct{ path string }

func (d *dirs) open(path string) error {
	d.path = path
	_, err := os.Stat(filepath.Join(path, "cur"))
	return err
}

func (d *dirs) close() error { return nil }

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

type handle struct{ *os.File }

func (d *dirs) openFile(dir Dir, file string) (handle, error) {
	f, err := os.Open(filepath.Join(d.path, dir.String(), file))
	return handle{f}, err
}

func (f handle) pread(b []byte, off int64) (int, error) {
	n, err := f.ReadAt(b, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func (f handle) stat() (size, mtimeNs int64, regular bool, err error) {
	st, err := f.File.Stat()
	if err != nil {
		return 0, 0, false, err
	}
	return st.Size(), st.ModTime().UnixNano(), st.Mode().IsRegular(), nil
}

func (f handle) close() { f.File.Close() }

func (d *dirs) stat(dir Dir, file string) (size, mtimeNs int64, err error) {
	st, err := os.Stat(filepath.Join(d.path, dir.String(), file))
	if err != nil {
		return 0, 0, err
	}
	return st.Size(), st.ModTime().UnixNano(), nil
}

func statDir(path string) (mtimeNs int64, ino uint64, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	return st.ModTime().UnixNano(), 0, nil
}
