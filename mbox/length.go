package mbox

import "bytes"

// byLength finds the end of a message by its Content-Length (mboxcl, mboxcl2)
// and the offset of what follows: a From_ line or the end of the file. A field
// that is repeated, is no number, or leads to anything else tells nothing
// (known is false) and the From_ lines decide. Nothing is ever allocated by it.
//
// Cost: one look at the begin of each header line. A line that begins with
// "From " ends the search, so each byte is looked at for one message only.
func (s *scanner) byLength(m *Message) (end, at int, known bool) {
	if !s.d.usesLength() {
		return 0, 0, false
	}
	body, length, found := contentLength(s.b, int(m.BodyOff))
	if !found {
		return 0, 0, false
	}
	if length >= 0 && length <= len(s.b)-body {
		end = body + length
		if at, ok := s.leadsTo(end); ok {
			return end, at, true
		}
	}
	s.problems.add(m.Off, ContentLength)
	return 0, 0, false
}

// leadsTo reports whether a message may end at end: there is a From_ line or
// the end of the file, or one line end and then one of these.
func (s *scanner) leadsTo(end int) (at int, ok bool) {
	for _, sep := range []string{"", "\n", "\r\n"} {
		at = end + len(sep)
		if at > len(s.b) || string(s.b[end:at]) != sep {
			continue
		}
		if at == len(s.b) {
			return at, true
		}
		if s.b[at-1] != '\n' || !bytes.HasPrefix(s.b[at:], fromSpace) {
			continue
		}
		total := s.problems
		_, ok := s.accept(at, true)
		s.problems = total // the caller accepts again
		if ok {
			return at, true
		}
	}
	return 0, false
}

// contentLength reads the header at off. length is -1 for a field that must be
// ignored. body is the first byte after the header's empty line.
func contentLength(b []byte, off int) (body, length int, found bool) {
	const name = "content-length"
	for off < len(b) {
		eol := bytes.IndexByte(b[off:], '\n')
		if eol < 0 {
			return 0, 0, false
		}
		line, next := b[off:off+eol], off+eol+1
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		switch {
		case len(line) == 0:
			return next, length, found
		case line[0] == 'F' && bytes.HasPrefix(line, fromSpace):
			return 0, 0, false
		case isField(line, name):
			value := bytes.Trim(line[bytes.IndexByte(line, ':')+1:], " \t")
			length = -1
			if n, ok := number(value, 1, 18); ok && !found {
				length = n
			}
			found = true
		}
		off = next
	}
	return 0, 0, false
}

// isField reports whether a header line has the given name, in lower case.
func isField(line []byte, name string) bool {
	if len(line) <= len(name) || line[0]|0x20 != name[0] || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return false
	}
	i := skipSpace(line, len(name))
	return i < len(line) && line[i] == ':'
}
