package envelope

import (
	"errors"
	"io/fs"

	"mailbench/index"
)

const (
	cacheMagic = "mbenvc\x00\x01"
	namesMagic = "mbenvn\x00\x01"
	fileHead   = 32
)

// fileHeader is the header of a cache or names file.
func fileHeader(magic string, identity, generation uint64) []byte {
	b := append(make([]byte, 0, fileHead), magic...)
	b = le.AppendUint64(b, identity)
	b = le.AppendUint64(b, generation)
	b = le.AppendUint32(b, 0)
	return le.AppendUint32(b, checksum(b))
}

// window reads pieces of a file, ahead where they follow each other.
type window struct {
	f    index.File
	name string
	size int64
	off  int64 // of buf
	buf  []byte
	next int64 // where the piece after the last one begins
}

// openFile opens a cache or names file of the generation of m.h. A file that
// is missing or another one is damage.
func (m *mailbox) openFile(name, magic string) (*window, error) {
	f, err := m.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, m.corrupt(name, 0, "missing")
	}
	if err != nil {
		return nil, err
	}
	w := &window{f: f, name: name}
	if w.size, err = f.Size(); err != nil {
		f.Close()
		return nil, err
	}
	b, err := w.get(0, fileHead)
	if err == nil && string(b) != string(fileHeader(magic, m.h.identity, m.h.generation)) {
		err = m.corrupt(name, 0, "header")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

func (m *mailbox) openNames() (*window, error) {
	return m.openFile(m.namesName(m.h.generation), namesMagic)
}

func (m *mailbox) openCache() (*window, error) {
	return m.openFile(m.cacheName(m.h.generation), cacheMagic)
}

func (w *window) close() { w.f.Close() }

// get returns n bytes at off, valid until the next call.
func (w *window) get(off uint64, n uint32) ([]byte, error) {
	if off > uint64(w.size) || uint64(n) > uint64(w.size)-off {
		return nil, &index.CorruptError{File: w.name, Off: int64(min(off, 1<<62)), What: "beyond the end"}
	}
	at, end := int64(off), int64(off)+int64(n)
	if at < w.off || end > w.off+int64(len(w.buf)) {
		want := int64(n)
		if at >= w.next && at-w.next < readAhead/4 { // dead pieces are read over
			want = max(want, min(readAhead, w.size-at))
		}
		if int64(cap(w.buf)) < want {
			w.buf = make([]byte, want)
		}
		w.buf, w.off = w.buf[:want], at
		if err := readFull(w.f, w.buf, at); err != nil {
			w.buf = w.buf[:0]
			return nil, err
		}
	}
	w.next = end
	return w.buf[at-w.off : end-w.off : end-w.off], nil
}
