package mbox

import (
	"bytes"
	"errors"
)

// ErrNoMessages reports bytes in which there is no From_ line.
var ErrNoMessages = errors.New("mbox: no From_ line found")

// Scan calls fn for each message of b in file order until fn returns false.
// The bytes of b are the messages, their From_ lines, one empty line or none
// after each message, and what stands before the first From_ line; nothing is
// lost. The problems are valid also with an error, which is ErrNoMessages for
// bytes without any From_ line (an empty b is an empty mbox and no error).
//
// O(len(b)), no allocation unless there are problems. The search looks for the
// letter F, which is rare in mail, and not for line ends, which are not: this
// is what makes it run at the speed of memory.
func Scan(b []byte, d Dialect, fn func(Message) bool) (Problems, error) {
	s := scanner{b: b, d: d}
	err := s.run(fn)
	return s.problems, err
}

type scanner struct {
	b        []byte
	d        Dialect
	lenient  bool // the file's own first From_ line has no date
	quoted   int  // quoted lines passed by find since the last From_ line
	problems Problems
}

func (s *scanner) run(fn func(Message) bool) error {
	n := len(s.b)
	if n == 0 {
		return nil
	}
	if s.b[n-1] != '\n' {
		defer s.problems.add(int64(n), NoNewline)
	}
	m, ok := s.first()
	if !ok {
		return ErrNoMessages
	}
	for {
		var next Message
		end, at, known := s.byLength(&m)
		if known {
			m.End = int64(end)
			if ok = at < n; ok {
				next, _ = s.accept(at, true)
			}
		} else {
			s.quoted = 0
			next, ok = s.next(int(m.BodyOff))
			if !ok {
				next.Off = int64(n)
			}
			m.End = int64(trimSeparator(s.b, int(m.BodyOff), int(next.Off)))
			m.Quoted = int32(min(s.quoted, 1<<31-1))
		}
		if !fn(m) || !ok {
			return nil
		}
		m = next
	}
}

// first finds the first From_ line.
func (s *scanner) first() (Message, bool) {
	start := 0
	if bytes.HasPrefix(s.b, []byte("\xef\xbb\xbf")) { // some editor's byte order mark
		start = 3
	}
	if bytes.HasPrefix(s.b[start:], fromSpace) {
		s.lenient = true
		m, ok := s.accept(start, true)
		if ok {
			s.lenient = !m.DateOK
			return m, true
		}
		s.lenient = false
	}
	m, ok := s.next(start)
	if ok {
		s.problems.add(0, Garbage)
	}
	return m, ok
}

// next finds the first From_ line that begins a line after from.
func (s *scanner) next(from int) (Message, bool) {
	for {
		at := s.find(from)
		if at < 0 {
			return Message{}, false
		}
		if m, ok := s.accept(at, emptyLineBefore(s.b, at)); ok {
			return m, true
		}
		from = at + 1
	}
}

var fromSpace = []byte("From ")

// find returns the offset of the next line in b[from:] that begins with
// "From ", or -1, and counts the quoted ones that it passes. The byte before
// from is looked at.
func (s *scanner) find(from int) int {
	b := s.b
	for i := from; i < len(b); {
		j := bytes.IndexByte(b[i:], 'F')
		if j < 0 {
			return -1
		}
		at := i + j
		i = at + 1
		if at == 0 || at+5 > len(b) || b[at+1] != 'r' || string(b[at+1:at+5]) != "rom " {
			continue
		}
		switch b[at-1] {
		case '\n':
			return at
		case '>':
			if s.d == MboxRD {
				k := at - 1
				for k > 0 && b[k-1] == '>' {
					k--
				}
				if k == 0 || b[k-1] == '\n' {
					s.quoted++
				}
			}
		}
	}
	return -1
}

// accept decides whether the line at, which begins with "From ", is a From_
// line. See the package comment for the rules.
func (s *scanner) accept(at int, blank bool) (m Message, ok bool) {
	line := s.b[at:min(len(s.b), at+maxFromLine)]
	next := at + len(line)
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line, next = line[:i], at+i+1
	} else if next < len(s.b) {
		return m, false
	}
	if n := len(line); line[n-1] == '\r' {
		line = line[:n-1]
	}
	f := parseFrom(line[len(fromSpace):])
	switch f.class {
	case fromDated:
		ok = blank || LooksLikeHeader(s.b[next:])
	case fromTrailing, fromBare:
		ok = blank && LooksLikeHeader(s.b[next:])
	case fromUndated:
		ok = s.lenient && blank && LooksLikeHeader(s.b[next:])
	}
	if !ok {
		return m, false
	}
	if f.class < fromTrailing {
		s.problems.add(int64(at), Undated)
	}
	if !blank {
		s.problems.add(int64(at), NoBlankLine)
	}
	return Message{
		Off: int64(at), BodyOff: int64(next),
		Date: f.unix, DateOK: f.class >= fromTrailing,
		SenderOff: int32(len(fromSpace) + f.senderOff), SenderLen: int32(f.senderEnd - f.senderOff),
	}, true
}

// emptyLineBefore reports whether the line that begins at at follows an empty
// line.
func emptyLineBefore(b []byte, at int) bool {
	if at < 2 || b[at-1] != '\n' {
		return at <= 1
	}
	return b[at-2] == '\n' || b[at-2] == '\r' && (at == 2 || b[at-3] == '\n')
}

// trimSeparator returns hi without the empty line that ends b[lo:hi], if one
// does. lo is the begin of a line.
func trimSeparator(b []byte, lo, hi int) int {
	if hi <= lo || b[hi-1] != '\n' {
		return hi
	}
	i := hi - 1
	if i == lo || b[i-1] == '\n' {
		return i
	}
	if b[i-1] == '\r' && (i-1 == lo || b[i-2] == '\n') {
		return i - 1
	}
	return hi
}

// maxFieldName bounds the search for the colon of a header line.
const maxFieldName = 256

// LooksLikeHeader reports whether b begins with a field name and a colon
// (RFC 5322 section 2.2; spaces before the colon as in section 4.5).
func LooksLikeHeader(b []byte) bool {
	b = b[:min(len(b), maxFieldName)]
	i := 0
	for i < len(b) && b[i] > ' ' && b[i] < 127 && b[i] != ':' {
		i++
	}
	if i == 0 {
		return false
	}
	i = skipSpace(b, i)
	return i < len(b) && b[i] == ':'
}
