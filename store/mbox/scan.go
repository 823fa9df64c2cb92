package mbox

import (
	"bytes"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"mailbench/store/catalog"
)

// A window is a file seen through a buffer that moves forward.
type window struct {
	f    io.ReaderAt
	size int64
	buf  []byte
	off  int64 // of buf
}

// windowLen holds some twenty messages of 3 KB.
const windowLen = 64 << 10

// at returns n bytes from off on, fewer at the end of the file. They are valid
// until the next call.
func (w *window) at(off int64, n int) ([]byte, error) {
	if n = int(min(int64(n), w.size-off)); n <= 0 {
		return nil, nil
	}
	if off < w.off || off+int64(n) > w.off+int64(len(w.buf)) {
		length := int(min(int64(max(n, windowLen)), w.size-off))
		if cap(w.buf) < length {
			w.buf = make([]byte, length)
		}
		w.buf, w.off = w.buf[:length], off
		if err := catalog.ReadFullAt(w.f, w.buf, off); err != nil {
			w.buf = w.buf[:0]
			return nil, err
		}
	}
	at := int(off - w.off)
	return w.buf[at : at+n], nil
}

// each gives fn the bytes from one offset to another in pieces.
func (w *window) each(from, to int64, fn func([]byte) error) error {
	for from < to {
		b, err := w.at(from, int(min(to-from, windowLen)))
		if err == nil && len(b) == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = fn(b)
		}
		if err != nil {
			return err
		}
		from += int64(len(b))
	}
	return nil
}

// maxProblems bounds what a scanner remembers of a file full of them.
const maxProblems = 100

// A scanner goes through the file once.
type scanner struct {
	w        window
	last     uint32 // the highest UID so far
	reach    int64  // the highest end that a record cut short claims
	gap      int64  // what must stand before a record behind the end, see records
	problems []error
}

func (s *scanner) problem(off int64, what string) {
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, fmt.Errorf("offset %d: %s: %w", off, what, ErrCorrupt))
	}
}

func (s *scanner) head() head {
	b, err := s.w.at(0, int(headLen))
	if err != nil {
		return head{}
	}
	return parseHead(b)
}

// records calls add for each record: up to good all that can be found, behind it
// those that are whole up to the first that is not. verify: SUMs up to good are
// compared, too, and one that is wrong is a problem. It returns where the last
// one ends, good at least.
//
// When it is damage that ends there, s.gap is how many bytes must stand between
// that end and the next record (B5), else 0.
func (s *scanner) records(good int64, verify bool, add func(*record)) (end int64, err error) {
	off, whole := headLen, true
	for off < good {
		r, ok, err := s.record(off, good)
		if err != nil {
			return 0, err
		}
		if whole = ok; !ok {
			s.problem(off, "no record")
			if off, err = s.find(off+1, good); err != nil {
				return 0, err
			}
			continue
		}
		if r.odd {
			s.problem(off, "the flags of UID "+r.row(0).Key)
		}
		if verify {
			if same, err := s.verify(&r); err != nil {
				return 0, err
			} else if !same {
				s.problem(off, "the message of UID "+r.row(0).Key)
			}
		}
		s.last = r.uid
		add(&r)
		off = r.end()
	}
	if s.gap = 0; !whole {
		s.gap = max(0, s.reach-off) + 2
	}
	for off+s.gap < s.w.size {
		r, ok, err := s.record(off+s.gap, s.w.size)
		if ok && err == nil {
			ok, err = s.verify(&r)
		}
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		s.last = r.uid
		add(&r)
		off, s.gap = r.end(), 0
	}
	return off, nil
}

// record reads the record at off; ok is false when there is none that ends at
// limit or before and has a UID above the last one.
func (s *scanner) record(off, limit int64) (r record, ok bool, err error) {
	r.off = off
	b, err := s.w.at(off, int(min(maxPrefix, limit-off)))
	if err != nil {
		return r, false, err
	}
	if len(b) < maxPrefix {
		// Zeros are what would stand behind a prefix that was cut short (B5).
		b = append(make([]byte, 0, maxPrefix), b...)[:maxPrefix]
	}
	if !r.parse(b) {
		return r, false, nil
	}
	if r.end() > limit {
		s.reach = max(s.reach, r.end())
		return r, false, nil
	}
	if r.uid <= s.last {
		return r, false, nil
	}
	b, err = s.w.at(r.end()-1-r.open, int(1+r.open))
	if err != nil {
		return r, false, err
	}
	for _, c := range b {
		if c != '\n' {
			return r, false, nil
		}
	}
	return r, true, nil
}

// find returns where the next record begins, limit when there is none.
func (s *scanner) find(from, limit int64) (int64, error) {
	mark := []byte("\n" + fromStart)
	for from < limit {
		b, err := s.w.at(from-1, windowLen/2)
		if err != nil {
			return 0, err
		}
		i := bytes.Index(b, mark)
		if i < 0 {
			from += int64(max(1, len(b)-len(mark)+1))
			continue
		}
		from += int64(i)
		if from >= limit {
			break
		}
		if _, ok, err := s.record(from, limit); ok || err != nil {
			return from, err
		}
		from++
	}
	return limit, nil
}

// verify reads a message and compares its SUM.
func (s *scanner) verify(r *record) (bool, error) {
	var d xxhash.Digest
	d.Reset()
	from := r.off + r.prefix
	err := s.w.each(from, from+r.stored(), func(b []byte) error {
		d.Write(b)
		return nil
	})
	return d.Sum64() == r.sum, err
}
