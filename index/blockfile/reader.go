package blockfile

import (
	"errors"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"mailbench/internal/fsys"
)

// ReadHeader reads the header page alone: one open, one read. A missing file
// gives fs.ErrNotExist, damage a *CorruptError. size is the file's.
func ReadHeader(fsy fsys.FS, name string) (h Header, size int64, err error) {
	f, err := fsy.Open(name)
	if err != nil {
		return h, 0, err
	}
	defer f.Close()
	page := make([]byte, PageSize)
	n, err := f.ReadAt(page, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, 0, err
	}
	if err := h.decode(name, page[:n]); err != nil {
		return h, 0, err
	}
	size, err = f.Size()
	return h, size, err
}

// Reader is an open file: mapped, or, where the file system does not map
// (fsys.Unmapped), read in the parts that are asked for. Sections may be read
// from several goroutines.
type Reader struct {
	name    string
	header  Header
	pageSum uint64
	m       *fsys.Mapping
	data    []byte    // mapped
	f       fsys.File // nil: mapped
	failed  error     // the first read that failed while the file was opened
	size    int64
	end     int64 // of the last whole segment
	segs    []Segment
}

// Segment is a group of sections that was written at once.
type Segment struct {
	Off, End int64
	sections []*Section
}

// Section is a named part of a segment.
type Section struct {
	entry
	r  *Reader
	ok atomic.Pointer[[]byte] // raw: all of it, every block checked
}

// Open maps the file and reads header page and directories: O(segments).
func Open(fsy fsys.FS, name string) (*Reader, error) {
	f, err := fsy.Open(name)
	if err != nil {
		return nil, err
	}
	r := &Reader{name: name}
	if fsys.Maps(fsy) {
		r.m, err = f.Map()
		f.Close() // the map outlives it
		if err != nil {
			return nil, err
		}
		r.data, r.size = r.m.Data, int64(len(r.m.Data))
	} else {
		r.f = f
		if r.size, err = f.Size(); err != nil {
			f.Close()
			return nil, err
		}
	}
	if err := r.load(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// bytes returns bytes from..to of the file, which has them.
func (r *Reader) bytes(from, to int64) ([]byte, error) {
	if r.f == nil {
		return r.data[from:to:to], nil
	}
	b := make([]byte, to-from)
	if n, err := r.f.ReadAt(b, from); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) { // it was longer when it was opened
			err = r.corrupt(from, "file was cut")
		}
		return nil, err
	}
	return b, nil
}

// look is bytes while the file is being opened: a failure is kept in r.failed,
// and gives zeros, which are nothing.
func (r *Reader) look(from, to int64) []byte {
	b, err := r.bytes(from, to)
	if err != nil {
		if r.failed == nil {
			r.failed = err
		}
		return make([]byte, to-from)
	}
	return b
}

func (r *Reader) load() error {
	err := r.read()
	if r.failed != nil {
		return r.failed
	}
	return err
}

func (r *Reader) read() error {
	page := r.look(0, min(PageSize, r.size))
	if err := r.header.decode(r.name, page); err != nil {
		return err
	}
	r.header.Meta = append([]byte(nil), r.header.Meta...)
	r.pageSum = le.Uint64(page[PageSize-8:])
	if r.header.end0 > r.size {
		return r.corrupt(r.size, "file ends inside segment 0")
	}
	seg0, err := r.segment(r.header.end0, 0)
	if err != nil {
		return err
	}
	if le.Uint64(r.look(r.header.end0-8, r.header.end0)) != r.header.foot {
		return r.corrupt(r.header.end0-footSize, "foot of segment 0 is another file's")
	}
	r.segs, r.end = []Segment{seg0}, r.header.end0
	if r.size == r.end {
		return nil
	}
	if !r.backward() {
		r.forward()
	}
	return nil
}

// backward finds all segments from the foot at the end of the file.
func (r *Reader) backward() bool {
	if r.size-r.header.end0 < headSize+footSize {
		return false
	}
	seq := le.Uint32(r.look(r.size-footSize+8, r.size-footSize+12))
	if seq == 0 || int64(seq) > (r.size-r.header.end0)/(headSize+footSize) {
		return false
	}
	segs := make([]Segment, seq+1)
	segs[0] = r.segs[0]
	end := r.size
	for i := seq; i > 0; i-- {
		s, err := r.segment(end, i)
		if err != nil || !r.headOK(s.Off, end-s.Off, i) {
			return false
		}
		segs[i], end = s, s.Off
		if end < r.header.end0+int64(i-1)*(headSize+footSize) {
			return false
		}
	}
	if end != r.header.end0 {
		return false
	}
	r.segs, r.end = segs, r.size
	return true
}

// forward keeps the whole segments up to the first bad one.
func (r *Reader) forward() {
	for off, seq := r.end, uint32(1); r.size-off >= headSize+footSize; seq++ {
		n := int64(le.Uint64(r.look(off+24, off+32)))
		if n < headSize+footSize || n > r.size-off || !r.headOK(off, n, seq) {
			return
		}
		s, err := r.segment(off+n, seq)
		if err != nil || s.Off != off || !r.whole(&s) {
			return
		}
		r.segs = append(r.segs, s)
		off += n
		r.end = off
	}
}

// whole checks every section: what follows a torn write is not to be trusted by its foot alone.
func (r *Reader) whole(s *Segment) bool {
	for _, sec := range s.sections {
		if sec.Verify() != nil {
			return false
		}
	}
	return true
}

func (r *Reader) headOK(off, n int64, seq uint32) bool {
	h := r.look(off, off+headSize)
	return string(h[:8]) == magicHead && le.Uint32(h[8:]) == seq && le.Uint64(h[16:]) == r.header.Generation &&
		int64(le.Uint64(h[24:])) == n && le.Uint64(h[56:]) == xxhash.Sum64(h[:56])
}

// segment reads the foot that ends at end, and the directory before it.
func (r *Reader) segment(end int64, seq uint32) (Segment, error) {
	foot := r.look(end-footSize, end)
	at := end - footSize
	if string(foot[:8]) != magicFoot || le.Uint64(foot[56:]) != xxhash.Sum64(foot[:56]) {
		return Segment{}, r.corrupt(at, "foot of a segment")
	}
	if le.Uint32(foot[8:]) != seq || le.Uint64(foot[16:]) != r.header.Generation {
		return Segment{}, r.corrupt(at, "sequence or generation of a segment")
	}
	n := int64(le.Uint32(foot[12:]))
	start, dirOff := int64(le.Uint64(foot[24:])), int64(le.Uint64(foot[32:]))
	if n > maxSections || start < PageSize || dirOff < start || dirOff+n*entrySize != at {
		return Segment{}, r.corrupt(at, "directory outside its segment")
	}
	dir := r.look(dirOff, at)
	if xxhash.Sum64(dir) != le.Uint64(foot[40:]) {
		return Segment{}, r.corrupt(dirOff, "checksum of a directory")
	}
	s := Segment{Off: start, End: end, sections: make([]*Section, n)}
	secs := make([]Section, n)
	for i := range secs {
		secs[i].decode(dir[i*entrySize:])
		secs[i].r = r
		if !secs[i].valid(start, dirOff) {
			return Segment{}, r.corrupt(dirOff+int64(i)*entrySize, "section "+secs[i].name+" outside its segment")
		}
		s.sections[i] = &secs[i]
	}
	return s, nil
}

func (r *Reader) corrupt(off int64, what string) error {
	return &CorruptError{File: r.name, Off: off, What: what}
}

// Name is the file's path.
func (r *Reader) Name() string { return r.name }

// Header returns the header page.
func (r *Reader) Header() Header { return r.header }

// Size is the file's size when it was opened.
func (r *Reader) Size() int64 { return r.size }

// Torn is the number of bytes at the end that belong to no whole segment.
func (r *Reader) Torn() int64 { return r.size - r.end }

// Segments is the number of segments, at least 1.
func (r *Reader) Segments() int { return len(r.segs) }

// Segment returns segment i.
func (r *Reader) Segment(i int) *Segment { return &r.segs[i] }

// Section finds a section of segment 0; nil if there is none.
func (r *Reader) Section(name string) *Section { return r.segs[0].Section(name) }

// Section finds a section by name; nil if there is none.
func (s *Segment) Section(name string) *Section {
	for _, sec := range s.sections {
		if sec.name == name {
			return sec
		}
	}
	return nil
}

// Sections lists the sections in the order of writing.
func (s *Segment) Sections() []*Section { return s.sections }

// Verify checks every byte of the file, and yields what is wrong.
func (r *Reader) Verify(yield func(error) bool) {
	if r.Torn() > 0 && !yield(r.corrupt(r.end, "torn tail")) {
		return
	}
	for i := range r.segs {
		for _, sec := range r.segs[i].sections {
			if err := sec.verify(); err != nil && !yield(err) {
				return
			}
		}
		if err := r.padding(i); err != nil && !yield(err) {
			return
		}
	}
}

// Close unmaps the file: bytes of raw sections are gone.
func (r *Reader) Close() error {
	if r.f != nil {
		return r.f.Close()
	}
	return r.m.Close()
}

// IsAbsent reports whether err says that there is no usable file: missing or damaged.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrCorrupt)
}
