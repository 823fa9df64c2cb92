package mime

import (
	"bytes"
	"strings"

	"github.com/emersion/go-message"
)

// A field is a header field that a structure or an envelope tells of.
type field uint8

const (
	contentType field = iota
	contentDisposition
	contentID
	contentDescription
	contentEncoding
	contentMD5
	contentLanguage
	contentLocation
	date
	subject
	from
	sender
	replyTo
	to
	cc
	bcc
	inReplyTo
	messageID
	numFields
)

var fieldNames = [numFields]string{"content-type", "content-disposition", "content-id", "content-description",
	"content-transfer-encoding", "content-md5", "content-language", "content-location",
	"date", "subject", "from", "sender", "reply-to", "to", "cc", "bcc", "in-reply-to", "message-id"}

// maxValue bounds what is looked at of one field.
const maxValue = 64 << 10

// A header has the first field of each name, folds included; nil: none.
type header struct{ raw [numFields][]byte }

// scan reads the header of b and returns where the body begins. Without an
// empty line all of b is header.
func (h *header) scan(b []byte) (body int) {
	for at := 0; at < len(b); {
		end := lineEnd(b, at)
		if blank(b[at:end]) {
			return end
		}
		next := end
		for next < len(b) && (b[next] == ' ' || b[next] == '\t') {
			next = lineEnd(b, next)
		}
		h.take(b[at:next])
		at = next
	}
	return len(b)
}

func (h *header) take(line []byte) {
	colon := bytes.IndexByte(line[:min(len(line), 64)], ':')
	if colon < 2 {
		return
	}
	name := bytes.TrimRight(line[:colon], " \t")
	for f, want := range fieldNames {
		if len(name) == len(want) && h.raw[f] == nil && bytes.EqualFold(name, []byte(want)) {
			h.raw[f] = line[colon+1 : min(len(line), colon+1+maxValue)]
			return
		}
	}
}

// lineEnd is the position behind the line feed of the line at from.
func lineEnd(b []byte, from int) int {
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(b)
}

func blank(line []byte) bool { return string(line) == "\n" || string(line) == "\r\n" }

// value is a field unfolded (RFC 5322 section 2.2.3) and trimmed; nil when
// there is none or nothing in it.
func (h *header) value(f field) []byte {
	raw := bytes.Trim(h.raw[f], " \t\r\n")
	if len(raw) == 0 {
		return nil
	}
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for _, c := range raw {
		if c != '\r' && c != '\n' {
			out = append(out, c)
		}
	}
	return out
}

// A mediaType is a Content-Type.
type mediaType struct {
	kind, sub string
	params    map[string]string
}

// plain is what a body is that says nothing else (RFC 2045 section 5.2).
var plain = mediaType{kind: "text", sub: "plain", params: map[string]string{"charset": "us-ascii"}}

func (t mediaType) param(name string) string { return t.params[name] }

// contentType is the type, the zero one where there is no usable field.
func (h *header) contentType() (t mediaType) {
	kind, params := h.withParams(contentType)
	var ok bool
	if t.kind, t.sub, ok = strings.Cut(kind, "/"); !ok || !token(t.kind) || !token(t.sub) {
		return mediaType{}
	}
	t.params = params
	return t
}

func (h *header) disposition() (kind string, params map[string]string, ok bool) {
	kind, params = h.withParams(contentDisposition)
	return kind, params, token(kind)
}

// withParams reads a field of a word and parameters: by go-message, and if that
// will not have it as well as can be.
func (h *header) withParams(f field) (word string, params map[string]string) {
	v := string(h.value(f))
	if v == "" {
		return "", nil
	}
	var m message.Header
	m.Set("Content-Type", v)
	word, params, err := m.ContentType()
	if err != nil {
		word, params = lenient(v)
	}
	return strings.ToLower(strings.TrimSpace(word)), params
}

// maxParams bounds the parameters that lenient takes.
const maxParams = 100

// lenient reads "word; name=value; ...", where values may hold what RFC 2045
// wants quoted, and leaves out what is no parameter. The first of a name counts.
func lenient(v string) (word string, params map[string]string) {
	word, rest, _ := strings.Cut(v, ";")
	params = map[string]string{}
	for rest != "" && len(params) < maxParams {
		name, after, ok := strings.Cut(rest, "=")
		if semi := strings.IndexByte(rest, ';'); !ok || semi >= 0 && semi < len(name) {
			if semi < 0 {
				break
			}
			rest = rest[semi+1:]
			continue
		}
		var value string
		value, rest = paramValue(strings.TrimLeft(after, " \t"))
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := params[name]; !twice && token(name) {
			params[name] = value
		}
	}
	return word, params
}

// paramValue reads a value, quoted or up to a semicolon, and what follows.
func paramValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		return strings.TrimSpace(value), rest
	}
	var b []byte
	i := 1
	for ; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b = append(b, s[i])
	}
	_, rest, _ = strings.Cut(s[min(i+1, len(s)):], ";")
	return string(b), rest
}

// token reports whether s is one (RFC 2045 section 5.1).
func token(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 127 || strings.IndexByte(`()<>@,;:\"/[]?=`, c) >= 0 {
			return false
		}
	}
	return s != "" && len(s) <= 256
}
