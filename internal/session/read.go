package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// The bounds of what a client may send.
const (
	maxLine    = 1 << 20   // of a command without its literals
	maxLiteral = 64 << 10  // of a literal that is no message
	maxSum     = 1 << 20   // of those of a command together
	maxSkip    = 256 << 20 // of a literal that is refused and came nevertheless
)

// A reader reads commands.
type reader struct {
	r     *bufio.Reader
	w     *bufio.Writer
	limit int64 // of a message
	buf   []byte
}

// A tooLong is a command that is refused for its length; it has been read past.
type tooLong struct{ tag, why string }

func (e *tooLong) Error() string { return e.why }

var errFlood = errors.New("session: a line or a literal without end")

// command returns the next command, literals included as they are sent: "{3}",
// CRLF, three bytes. It is valid until the next call.
func (r *reader) command() ([]byte, error) {
	r.buf = r.buf[:0]
	if cap(r.buf) > 1<<20 {
		r.buf = nil
	}
	lines, sum, message := 0, int64(0), false
	var refused *tooLong
	for {
		start := len(r.buf)
		n, end, err := r.line(maxLine - lines)
		lines += n
		if err != nil {
			return nil, err
		}
		if lines > maxLine {
			if refused == nil {
				refused = &tooLong{tagOf(r.buf), "the command is too long"}
			}
			r.buf = r.buf[:start] // what goes on in literals is read past
			lines = maxLine
		}
		size, sync, ok := literalAt(end)
		if !ok {
			if refused != nil {
				return nil, refused
			}
			r.buf = bytes.TrimSuffix(bytes.TrimSuffix(r.buf, []byte("\n")), []byte("\r"))
			return r.buf, nil
		}
		limit := int64(maxLiteral)
		if isAppend(r.buf) && !message {
			limit = r.limit
		}
		if size > maxLiteral {
			message = true // it has one
		} else {
			sum += size
		}
		if refused == nil && (size > limit || sum > maxSum) {
			refused = &tooLong{tagOf(r.buf), "[TOOBIG] a literal of " + strconv.FormatInt(size, 10) + " bytes is longer than is taken"}
		}
		if refused != nil {
			if sync {
				return nil, refused // the client does not send it
			}
			if size > maxSkip {
				return nil, errFlood
			}
			if _, err := io.CopyN(io.Discard, r.r, size); err != nil {
				return nil, err
			}
			r.buf = r.buf[:start]
			continue
		}
		if sync {
			r.w.WriteString("+ go on\r\n")
			if err := r.w.Flush(); err != nil {
				return nil, err
			}
		}
		if err := r.literal(int(size)); err != nil {
			return nil, err
		}
	}
}

// literal reads n bytes, a part at a time: what a client only announces takes no
// memory.
func (r *reader) literal(n int) error {
	for n > 0 {
		part := min(n, 256<<10)
		at := len(r.buf)
		if cap(r.buf)-at < part {
			r.buf = append(r.buf, make([]byte, part)...)[:at]
		}
		if _, err := io.ReadFull(r.r, r.buf[at:at+part]); err != nil {
			return err
		}
		r.buf = r.buf[:at+part]
		n -= part
	}
	return nil
}

// line appends a line to r.buf and returns its length and its end, in which a
// literal may be announced. Of a line longer than most there is the begin alone.
func (r *reader) line(most int) (n int, end []byte, err error) {
	for {
		b, err := r.r.ReadSlice('\n')
		n += len(b)
		end = append(end, b[max(0, len(b)-announced):]...)
		end = end[max(0, len(end)-announced):]
		if n <= most+1 {
			r.buf = append(r.buf, b...)
		} else if n > maxSkip {
			return n, end, errFlood
		}
		if err != bufio.ErrBufferFull {
			return n, end, err
		}
	}
}

// announced is how long "{n+}" and the line end behind it may be.
const announced = 32

// literalAt reports whether a line ends in the announcement of a literal.
func literalAt(line []byte) (size int64, sync, ok bool) {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	n := len(line)
	if n == 0 || line[n-1] != '}' {
		return 0, false, false
	}
	open := bytes.LastIndexByte(line, '{')
	if open < 0 {
		return 0, false, false
	}
	digits := string(line[open+1 : n-1])
	sync = true
	if d, plus := strings.CutSuffix(digits, "+"); plus {
		digits, sync = d, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false, false
		}
	}
	size, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, false, false
	}
	return size, sync, true
}

// tagOf is the tag of a command, "*" when it has none.
func tagOf(b []byte) string {
	tag, _, _ := bytes.Cut(b[:min(len(b), 256)], []byte(" "))
	if !isTag(tag) {
		return "*"
	}
	return string(tag)
}

func isTag(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c > '~' || strings.IndexByte(`(){%*"\+`, c) >= 0 {
			return false
		}
	}
	return len(b) > 0 && len(b) < 128
}

func isAppend(b []byte) bool {
	_, rest, _ := bytes.Cut(b[:min(len(b), 256)], []byte(" "))
	return len(rest) >= 7 && bytes.EqualFold(rest[:7], []byte("APPEND "))
}
