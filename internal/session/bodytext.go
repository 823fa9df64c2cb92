package session

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // texts are searched in UTF-8

	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
)

// The bounds of what is searched in one message.
const (
	maxParts = 1000
	maxDepth = 32
)

// A needle is a search string as it is compared.
type needle []byte

func newNeedle(s string) needle { return mailsort.Casemap(nil, []byte(s)) }

// in reports whether the needle is in UTF-8 text, of any case (RFC 3501
// section 6.4.4).
func (n needle) in(text []byte, scratch *[]byte) bool {
	if len(n) == 0 {
		return true
	}
	*scratch = mailsort.Casemap((*scratch)[:0], text)
	return bytes.Contains(*scratch, n)
}

// headerText is a field's value as it is searched: unfolded and decoded, with
// spaces for tabs, by which folds are often made.
func headerText(dst, raw []byte) []byte {
	from := len(dst)
	dst = rfc5322.DecodeWords(dst, rfc5322.Unfold(nil, raw))
	for i := from; i < len(dst); i++ {
		if dst[i] == '\t' {
			dst[i] = ' '
		}
	}
	return dst
}

// eachText calls fn for each part of a message that is text, decoded and in
// UTF-8 as far as its charset is known, until fn returns false; headers: for the
// fields of all headers too. What cannot be parsed is given as it is.
func eachText(msg []byte, headers bool, fn func(text []byte) bool) {
	t := &texts{fn: fn, headers: headers}
	t.entity(msg, 0)
}

type texts struct {
	fn      func([]byte) bool
	headers bool
	parts   int
	done    bool
}

func (t *texts) tell(b []byte) {
	if !t.done && len(b) > 0 {
		t.done = !t.fn(b)
	}
}

// entity is for a message: its header is read by our own scanner, which takes
// any, its body by go-message.
func (t *texts) entity(b []byte, depth int) {
	end := rfc5322.HeaderEnd(b, 0)
	if end < 0 {
		end = len(b)
	}
	if t.headers {
		t.fields(b[:end])
	}
	var h message.Header
	for _, name := range []string{"Content-Type", "Content-Transfer-Encoding"} {
		if raw, ok := rfc5322.Get(b[:end], name); ok {
			h.Set(name, string(rfc5322.Unfold(nil, raw)))
		}
	}
	t.body(h, bytes.NewReader(b[end:]), b[end:], depth)
}

func (t *texts) body(h message.Header, r io.Reader, raw []byte, depth int) {
	e, err := message.New(h, r)
	if e == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		t.tell(raw)
		return
	}
	t.part(e, depth)
}

// fields tells of a header, a field at a time, names included.
func (t *texts) fields(header []byte) {
	for at := 0; at < len(header) && !t.done; {
		end := fieldEnd(header, at)
		t.tell(headerText(nil, header[at:end]))
		at = end
	}
}

// part is for an entity whose body gets decoded as it is read.
func (t *texts) part(e *message.Entity, depth int) {
	if t.parts++; t.parts > maxParts || depth > maxDepth || t.done {
		return
	}
	kind, _, err := e.Header.ContentType()
	if err != nil || kind == "" {
		kind = "text/plain"
	}
	if mr := e.MultipartReader(); mr != nil {
		for !t.done {
			p, err := mr.NextPart()
			if err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) || p == nil {
				return
			}
			if t.headers {
				for f := p.Header.Fields(); f.Next(); {
					t.tell(headerText(nil, []byte(f.Value())))
				}
			}
			t.part(p, depth+1)
		}
		return
	}
	if strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "message/") {
		t.leaf(e, kind, depth)
	}
}

func (t *texts) leaf(e *message.Entity, kind string, depth int) {
	b, err := io.ReadAll(e.Body)
	if err != nil && len(b) == 0 && !errors.Is(err, io.EOF) {
		return
	}
	if kind == "message/rfc822" {
		t.entity(b, depth+1)
		return
	}
	t.tell(b)
}
