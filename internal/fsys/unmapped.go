package fsys

import (
	"errors"
	"io"
	"io/fs"
)

// Unmapped makes a file system whose files are not mapped: Map reads the whole
// file by ReadAt, and who can do with parts of it asks Maps first and reads
// these. It is how io=pread is run.
func Unmapped(under FS) FS { return unmapped{under} }

// Maps reports whether mapping a file of fs is a map and not a read of it all.
func Maps(fs FS) bool {
	_, no := fs.(unmapped)
	return !no
}

type unmapped struct{ FS }

func (u unmapped) Open(name string) (File, error) { return unmap(u.FS.Open(name)) }

func (u unmapped) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return unmap(u.FS.OpenFile(name, flag, perm))
}

func unmap(f File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return unmappedFile{f}, nil
}

type unmappedFile struct{ File }

func (f unmappedFile) Map() (*Mapping, error) {
	size, err := f.Size()
	if err != nil || size == 0 {
		return &Mapping{}, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return &Mapping{Data: b[:n:n]}, nil
}
