package sqlstore

import (
	"bytes"
	"mime"
	"strings"

	"mailbench/internal/rfc5322"
)

// A segment is a run of a message's bytes that is stored as one part. The
// segments of a message, put together in order, are the message: splitting
// decodes nothing, so whatever it makes of odd mail, it loses nothing.
type segment struct {
	bytes  []byte
	depth  int  // 0: of the message itself
	header bool // the message's header; a part's, with the delimiter before it
}

// Bounds of splitting: beyond them the rest of a message is one part.
const (
	maxSegments = 1000
	maxDepth    = 32
	maxBoundary = 200     // bytes; RFC 2046 5.1.1 allows 70
	maxSegment  = 4 << 20 // bytes; a longer one is cut, so that a row fits into a packet
)

// A splitter walks a message from delimiter to delimiter.
type splitter struct {
	msg  []byte
	out  []segment
	from int      // begin of the segment that is being made
	open [][]byte // boundaries with their "--", outermost first
}

// split appends the segments of msg to dst: its header with the empty line, and
// then what lies between delimiters of multiparts (RFC 2046 section 5.1):
//
//	header | preamble | delimiter and part header | part body | ... | close delimiter, epilogue
//
// The line end before a delimiter is the delimiter's. O(n * open multiparts).
func split(dst []segment, msg []byte) []segment {
	s := splitter{msg: msg, out: dst}
	body := rfc5322.HeaderEnd(msg, 0)
	if body < 0 {
		body = len(msg)
	}
	s.enter(msg[:body])
	s.cut(body, 0, true)
	for at := body; len(s.open) > 0; {
		line := s.delimiter(at)
		if line < 0 {
			break
		}
		depth := len(s.open)
		end := lineEnd(msg, line)
		level, closing := s.match(msg[line:end])
		if level < 0 {
			at = end
			continue
		}
		s.cut(beforeLineEnd(msg, line), depth, false)
		s.open = s.open[:level+1]
		if closing {
			s.open = s.open[:level]
			at = end
			continue
		}
		at = s.partHeader(end)
		if len(s.out)-len(dst) > maxSegments {
			break
		}
	}
	s.cut(len(msg), len(s.open), false)
	return s.out
}

// partHeader reads the header of a part that begins at from, and returns where
// its body does. A delimiter in there ends it too.
func (s *splitter) partHeader(from int) int {
	at := from
	for at < len(s.msg) {
		end := lineEnd(s.msg, at)
		line := s.msg[at:end]
		if level, _ := s.match(line); level >= 0 {
			s.cut(beforeLineEnd(s.msg, at), len(s.open), true)
			return at
		}
		at = end
		if line[0] == '\n' || line[0] == '\r' && len(line) == 2 {
			break
		}
	}
	depth := len(s.open)
	s.enter(s.msg[from:at])
	s.cut(at, depth, true)
	return at
}

// enter opens the multipart that a header announces.
func (s *splitter) enter(header []byte) {
	raw, ok := rfc5322.Get(header, "Content-Type")
	if !ok || len(s.open) >= maxDepth || len(raw) > 4096 {
		return
	}
	kind, params, err := mime.ParseMediaType(string(rfc5322.Unfold(nil, raw)))
	if err != nil || !strings.HasPrefix(kind, "multipart/") {
		return
	}
	if b := params["boundary"]; b != "" && len(b) <= maxBoundary {
		s.open = append(s.open, []byte("--"+b))
	}
}

// delimiter finds the next line from at on that begins with two dashes.
func (s *splitter) delimiter(at int) int {
	if at == len(s.msg) {
		return -1
	}
	if bytes.HasPrefix(s.msg[at:], []byte("--")) {
		return at // at is the begin of a line
	}
	i := bytes.Index(s.msg[at:], []byte("\n--"))
	if i < 0 {
		return -1
	}
	return at + i + 1
}

// match tells which open multipart a line delimits, the innermost first, -1:
// none. White space may follow the boundary.
func (s *splitter) match(line []byte) (level int, closing bool) {
	for i := len(s.open) - 1; i >= 0; i-- {
		rest, ok := bytes.CutPrefix(line, s.open[i])
		if !ok {
			continue
		}
		rest, closing = bytes.CutPrefix(rest, []byte("--"))
		if len(bytes.TrimRight(rest, " \t\r\n")) == 0 {
			return i, closing
		}
	}
	return -1, false
}

// cut ends the segment at to, and one that is too long before.
func (s *splitter) cut(to, depth int, header bool) {
	for s.from < to {
		end := min(to, s.from+maxSegment)
		s.out = append(s.out, segment{s.msg[s.from:end], depth, header})
		s.from = end
	}
}

// lineEnd is where the line after at begins.
func lineEnd(b []byte, at int) int {
	if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(b)
}

// beforeLineEnd is where the line end before at begins.
func beforeLineEnd(b []byte, at int) int {
	if at > 0 && b[at-1] == '\n' {
		at--
		if at > 0 && b[at-1] == '\r' {
			at--
		}
	}
	return at
}
