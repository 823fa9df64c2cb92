package imap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"
)

const (
	// maxText bounds what is kept of a tagged line, a greeting or a BYE.
	maxText = 64 << 10
	// maxLine bounds the line that is put together for a caller.
	maxLine = 1 << 30
	// headSize is enough of a line to know what it is, and for a message about it.
	headSize = 160
	// tailSize is enough of a line's end for the "{18446744073709551615+}" and
	// CRLF of a literal.
	tailSize = 26
)

// A reader cuts a server's bytes into lines. A line goes on after the literals
// in it.
type reader struct {
	from io.Reader
	buf  []byte
	r, w int // buf[r:w] is not read yet
	err  error

	head   []byte // the beginning of the last line, "" between commands
	tail   []byte // the end of the current physical line so far
	line   []byte // put together
	digest xxhash.Digest
}

type kind uint8

const (
	untagged     kind = iota + 1
	tagged            // with the tag of wants
	continuation      // +
)

// wants says what is needed of a line.
type wants struct {
	tag    []byte
	digest string // name of the untagged lines to hash
	lines  bool   // put untagged ones together
	text   bool   // put any status line's text together (tagged and BYE always)
}

// A line is what next has read.
type line struct {
	kind kind
	word string // "OK", "NO", "BAD", "BYE", "PREAUTH"; "" when it is data
	text string // what follows it
	size int64  // bytes with CRLF and literals
}

var errNotIMAP = errors.New("not a line of IMAP")

// forget ends what last tells.
func (r *reader) forget() { r.head = r.head[:0] }

func (r *reader) resetDigest() { r.digest.Reset() }

// last is the beginning of the last line read, or of the one being read.
func (r *reader) last() string { return strings.TrimRight(string(r.head), "\r\n") }

// fill reads once into the free end of buf, what is not read yet having been
// moved to its beginning.
func (r *reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.r > 0 {
		copy(r.buf, r.buf[r.r:r.w])
		r.w -= r.r
		r.r = 0
	}
	for range 100 {
		n, err := r.from.Read(r.buf[r.w:])
		if n < 0 || n > len(r.buf)-r.w {
			n, err = 0, errors.New("a reader that counts wrong")
		}
		r.w += n
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		r.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.err = io.ErrNoProgress
	return r.err
}

// next reads one line. An end of the input is io.ErrUnexpectedEOF: the caller
// waits for something. onLine gets it when w.lines is set and it is untagged.
func (r *reader) next(w wants, onLine func([]byte)) (l line, err error) {
	for r.w-r.r < headSize && bytes.IndexByte(r.buf[r.r:r.w], '\n') < 0 {
		if err := r.fill(); err != nil {
			if r.r < r.w {
				r.head = append(r.head[:0], r.buf[r.r:r.w]...)
			}
			return l, err
		}
	}
	head := r.buf[r.r:min(r.w, r.r+headSize)]
	if i := bytes.IndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	r.head = append(r.head[:0], head...)
	l.kind, l.word = classify(head, w.tag)
	if l.kind == 0 {
		return l, fmt.Errorf("%w: %.80q", errNotIMAP, head)
	}
	keep := 0 // how much of it to put together
	switch {
	case l.kind == tagged, l.word == "BYE", w.text && l.word != "":
		keep = maxText
	case l.kind == untagged && w.lines:
		keep = maxLine
	}
	hash := l.kind == untagged && w.digest != "" && named(head[2:], w.digest)
	whole, err := r.body(&l, keep, hash)
	if err != nil {
		return l, err
	}
	if l.kind == tagged || l.word != "" && keep > 0 {
		l.text = textOf(whole, l.kind, l.word)
	}
	if l.kind == untagged && w.lines && onLine != nil {
		onLine(whole[2:])
	}
	return l, nil
}

// body reads the line that begins at buf[r:] to its end and returns it without
// its CRLF, at most keep bytes of it. It is a part of buf where it can be.
func (r *reader) body(l *line, keep int, hash bool) (whole []byte, err error) {
	literals := l.word == "" && l.kind == untagged // a status line's text may end in {1}
	assembled := false
	r.line, r.tail = r.line[:0], r.tail[:0]
	skip := int64(2) // "* " is not hashed
	take := func(piece []byte, last bool) error {
		l.size += int64(len(piece))
		content := piece
		if last {
			content = bytes.TrimSuffix(content[:len(content)-1], []byte("\r"))
		}
		if hash {
			h := content[min(skip, int64(len(content))):]
			skip = max(0, skip-int64(len(content)))
			r.digest.Write(h)
			if last {
				r.digest.WriteString("\n")
			}
		}
		if last && !assembled {
			whole = content[:min(keep, len(content))]
			return nil
		}
		assembled = true
		if keep == maxLine && len(r.line)+len(content) > maxLine {
			return fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if len(r.line) < keep {
			r.line = append(r.line, content[:min(len(content), keep-len(r.line))]...)
		}
		return nil
	}
	for {
		p := r.buf[r.r:r.w]
		end := bytes.IndexByte(p, '\n')
		if end >= 0 {
			p = p[:end+1]
		} else {
			p = bytes.TrimSuffix(p, []byte("\r")) // it may belong to the LF that comes
		}
		if end >= 0 && literals {
			if n, ok := literal(r.ending(p)); ok {
				if err := take(p, false); err != nil {
					return nil, err
				}
				r.r += len(p)
				r.tail = r.tail[:0]
				if err := r.literal(n, take); err != nil {
					return nil, err
				}
				continue
			}
		}
		if len(p) > 0 {
			if err := take(p, end >= 0); err != nil {
				return nil, err
			}
			r.tail = append(r.tail[:0], r.ending(p)...)
			r.r += len(p)
		}
		if end >= 0 {
			if assembled {
				whole = r.line
			}
			return whole, nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// ending is the end of the current physical line, p being its last piece.
func (r *reader) ending(p []byte) []byte {
	if len(p) >= tailSize || len(r.tail) == 0 {
		return p[max(0, len(p)-tailSize):]
	}
	both := append(bytes.Clone(r.tail), p...)
	return both[max(0, len(both)-tailSize):]
}

// literal passes on the n bytes of one.
func (r *reader) literal(n int64, take func([]byte, bool) error) error {
	for n > 0 {
		if r.r == r.w {
			if err := r.fill(); err != nil {
				return err
			}
		}
		p := r.buf[r.r:min(int64(r.w), int64(r.r)+n)]
		if err := take(p, false); err != nil {
			return err
		}
		r.r += len(p)
		n -= int64(len(p))
	}
	return nil
}

// literal takes the length out of a line that ends in "{12}" CRLF.
func literal(tail []byte) (n int64, ok bool) {
	tail = bytes.TrimSuffix(bytes.TrimSuffix(tail, []byte("\n")), []byte("\r"))
	tail, ok = bytes.CutSuffix(tail, []byte("}"))
	if !ok {
		return 0, false
	}
	tail = bytes.TrimSuffix(tail, []byte("+"))
	open := bytes.LastIndexByte(tail, '{')
	digits := tail[open+1:]
	if open < 0 || len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// statuses are the words after which comes text for people.
var statuses = []string{"OK", "NO", "BAD", "BYE", "PREAUTH"}

// classify looks at the beginning of a line. Kind 0: it is none that may come.
func classify(head, tag []byte) (kind, string) {
	if bytes.HasPrefix(head, []byte("* ")) {
		for _, s := range statuses {
			if word(head[2:], s) {
				return untagged, s
			}
		}
		return untagged, ""
	}
	if head[0] == '+' {
		return continuation, ""
	}
	if rest, ok := bytes.CutPrefix(head, tag); ok && len(tag) > 0 && len(rest) > 0 && rest[0] == ' ' {
		for _, s := range statuses[:3] {
			if word(rest[1:], s) {
				return tagged, s
			}
		}
	}
	return 0, ""
}

// named reports whether data begins with the word name, or with a number and
// name, in any case.
func named(data []byte, name string) bool {
	if i := bytes.IndexFunc(data, func(c rune) bool { return c < '0' || c > '9' }); i > 0 && data[i] == ' ' {
		data = data[i+1:]
	}
	return word(data, name)
}

// word reports whether data begins with the word name, in any case.
func word(data []byte, name string) bool {
	if len(data) < len(name) || !strings.EqualFold(string(data[:len(name)]), name) {
		return false
	}
	rest := data[len(name):]
	return len(rest) == 0 || rest[0] == ' ' || rest[0] == '\r' || rest[0] == '\n'
}

// textOf is what stands after a line's status word.
func textOf(line []byte, k kind, word string) string {
	if k == tagged {
		_, line, _ = bytes.Cut(line, []byte(" "))
	} else {
		line = line[2:]
	}
	return strings.TrimSpace(string(line[min(len(word), len(line)):]))
}
