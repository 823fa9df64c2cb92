package mime

import "bytes"

// A splitter cuts the parts out of a multipart's body (RFC 2046 section 5.1.1).
type splitter struct {
	rest      []byte // behind the last delimiter line
	delimiter []byte // two dashes and the boundary
	begun     bool   // what is before the first delimiter is nobody's
	ended     bool
}

// next returns the next part. A part that no delimiter follows goes up to the
// end, as mail that was cut has it. O(bytes), all calls together.
func (s *splitter) next() (part []byte, ok bool) {
	if !s.begun {
		s.begun = true
		if s.cut(); s.ended {
			return nil, false
		}
	}
	if s.ended {
		return nil, false
	}
	return s.cut(), true
}

// cut returns what is before the next delimiter, the line end that belongs to
// the delimiter left out, and moves behind it.
func (s *splitter) cut() []byte {
	for from := 0; ; {
		i := bytes.Index(s.rest[from:], s.delimiter)
		if i < 0 {
			part := s.rest
			s.rest, s.ended = nil, true
			return part
		}
		at := from + i
		from = at + 1
		if at > 0 && s.rest[at-1] != '\n' {
			continue
		}
		end := lineEnd(s.rest, at)
		tail := s.rest[at+len(s.delimiter) : end]
		last := bytes.HasPrefix(tail, []byte("--"))
		if !last && len(bytes.Trim(tail, " \t\r\n")) > 0 {
			continue // a longer boundary that begins with this one
		}
		part := s.rest[:max(0, at-1)]
		if n := len(part); n > 0 && part[n-1] == '\r' {
			part = part[:n-1]
		}
		s.rest, s.ended = s.rest[end:], last
		return part
	}
}
