package mbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mailbench/internal/fsys"
)

// A sink takes decompressed bytes: in memory first, in a spill file when they
// become many.
type sink struct {
	fs          fsys.FS
	dir         string
	memory, max int64

	mem   region
	n     int64
	spill fsys.File
	err   error // the first failure, of which the decompressor is not guilty
}

var errTooLarge = errors.New("decompresses to more than the limit")

// Write appends p.
func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.n+int64(len(p)) > s.max {
		s.err = fmt.Errorf("%w of %d bytes", errTooLarge, s.max)
		return 0, s.err
	}
	if s.spill == nil {
		if s.mem.append(p, int(s.memory)) {
			s.n += int64(len(p))
			return len(p), nil
		}
		if s.err = s.toDisk(); s.err != nil {
			return 0, s.err
		}
	}
	n, err := s.spill.Write(p)
	s.n += int64(n)
	s.err = err
	return n, err
}

// toDisk moves what there is to a file without a name.
func (s *sink) toDisk() error {
	name := filepath.Join(s.dir, "mailbench-"+rand.Text()+".tmp")
	f, err := s.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	// Without a name it is gone when the process is, however that ends.
	if err := s.fs.Remove(name); err != nil {
		f.Close()
		return err
	}
	s.spill = f
	if _, err := f.Write(s.mem.data); err != nil {
		return err
	}
	return s.mem.close()
}

// finish returns all bytes and how to release them.
func (s *sink) finish() (data []byte, release func() error, err error) {
	if s.spill == nil {
		return s.mem.data, s.mem.close, nil
	}
	m, err := s.spill.Map()
	s.spill.Close()
	if err != nil {
		return nil, nil, err
	}
	return m.Data, m.Close, nil
}

func (s *sink) close() {
	s.mem.close()
	if s.spill != nil {
		s.spill.Close()
	}
}
