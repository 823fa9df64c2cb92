package mbox

import (
	"encoding/binary"
	"os"

	"github.com/cespare/xxhash/v2"

	"mailbench/internal/fsys"
)

const (
	goodSuffix = ".good"

	sideMagic = "mbgood1\n"
	sideLen   = 40
)

// A side is mbox.good: a lower bound of what is on disk, never synced but by
// Close.
type side struct {
	f      fsys.File
	gen    uint64
	length int64
	last   uint32
}

// openSide reads the file; one that cannot be understood tells nothing.
func openSide(fs fsys.FS, name string) (*side, error) {
	f, err := fs.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &side{f: f}
	s.read(f)
	return s, nil
}

func (s *side) read(f fsys.File) {
	var b [sideLen]byte
	n, _ := f.ReadAt(b[:], 0)
	s.parse(b[:n])
}

func (s *side) parse(b []byte) (ok bool) {
	if len(b) != sideLen || string(b[:8]) != sideMagic || binary.LittleEndian.Uint64(b[32:]) != xxhash.Sum64(b[:32]) {
		return false
	}
	length, last := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	if length >= 1<<62 || last >= 1<<32 {
		return false
	}
	s.gen, s.length, s.last = binary.LittleEndian.Uint64(b[8:]), int64(length), uint32(last)
	return true
}

// note writes new numbers if they are new. A write that fails costs a longer
// look at the next opening, nothing else.
func (s *side) note(gen uint64, length int64, last uint32) {
	if s.gen == gen && s.length == length && s.last == last {
		return
	}
	s.gen, s.length, s.last = gen, length, last
	b := append(make([]byte, 0, sideLen), sideMagic...)
	b = binary.LittleEndian.AppendUint64(b, gen)
	b = binary.LittleEndian.AppendUint64(b, uint64(length))
	b = binary.LittleEndian.AppendUint64(b, uint64(last))
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
	s.f.WriteAt(b, 0)
}

func (s *side) sync() { s.f.Datasync() }

func (s *side) close() {
	if s != nil {
		s.f.Close()
	}
}
