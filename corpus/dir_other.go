//go:build !linux

package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// maildirOut is the plain way; see dir_linux.go for the fast one.
type maildirOut struct{ dir string }

func openMaildir(dir string) (*maildirOut, error) { return &maildirOut{dir}, makeMaildir(dir) }

func (m *maildirOut) close() {}

func (m *maildirOut) sync() error { return nil }

func (m *maildirOut) write(b *parcel) (int, error) {
	data, name := 0, 0
	for i := range b.items {
		it := &b.items[i]
		sub := "cur"
		if it.fresh {
			sub = "new"
		}
		path := filepath.Join(m.dir, sub, string(b.names[name:it.nameEnd-1]))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return i, err
		}
		_, err = f.Write(b.data[data:it.dataEnd])
		if err = errors.Join(err, f.Close()); err != nil {
			return i, err
		}
		t := time.Unix(it.mtime, 0)
		if err := os.Chtimes(path, t, t); err != nil {
			return i, err
		}
		data, name = it.dataEnd, it.nameEnd
	}
	return len(b.items), nil
}

func freeSpace(string) (bytes, inodes int64, err error) { return -1, -1, nil }

// tryLock cannot lock here: two makers at once waste work, but the rename of
// Cached keeps the result whole.
func tryLock(*os.File) (bool, error) { return true, nil }

func reflink(dst, src *os.File) error { return errors.ErrUnsupported }

func openQuietly(path string) (*os.File, error) { return os.Open(path) }

func syncDir(string) error { return nil }
