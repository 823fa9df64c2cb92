package session

import (
	"bytes"
	"strings"

	"mailbench/internal/mime"
)

// A want is which bytes of a part a section asks for.
type want uint8

const (
	wantAll want = iota
	wantHeader
	wantFields
	wantNotFields
	wantText
	wantMIME
)

// A section is BODY[...], or one of its old names.
type section struct {
	label   string // as it is told: "BODY[1.TEXT]", "RFC822.TEXT"
	peek    bool
	path    []int
	want    want
	fields  []string
	partial bool
	off, n  uint32
}

// headerOnly reports whether the header of the message is enough.
func (s *section) headerOnly() bool {
	return len(s.path) == 0 && (s.want == wantHeader || s.want == wantFields || s.want == wantNotFields)
}

// append appends the section of a message with CRLF line ends.
func (s *section) append(dst, msg []byte) []byte {
	dst = append(dst, s.label...)
	if s.partial {
		dst = append(dst, '<')
		dst = appendUint(dst, uint64(s.off))
		dst = append(dst, '>')
	}
	dst = append(dst, ' ')
	text, ok := s.cut(msg)
	if !ok {
		return append(dst, "NIL"...)
	}
	if s.partial {
		text = text[min(uint64(s.off), uint64(len(text))):]
		text = text[:min(uint64(s.n), uint64(len(text)))]
	}
	return appendLiteral(dst, text)
}

func (s *section) cut(msg []byte) ([]byte, bool) {
	if len(s.path) == 0 && s.want == wantAll {
		return msg, true
	}
	p, ok := mime.Cut(msg, s.path)
	if !ok {
		return nil, false
	}
	if len(s.path) > 0 {
		switch s.want {
		case wantAll:
			return p.Body, true
		case wantMIME:
			return p.Header, true
		}
		if !p.Message {
			return nil, false
		}
		if p, ok = mime.Cut(p.Body, nil); !ok {
			return nil, false
		}
	}
	switch s.want {
	case wantText:
		return p.Body, true
	case wantHeader:
		return p.Header, true
	}
	return pickFields(p.Header, s.fields, s.want == wantFields), true
}

// pickFields are the fields of a header that are named, or all others, as they
// stand, and the empty line.
func pickFields(header []byte, names []string, named bool) []byte {
	var out []byte
	for at := 0; at < len(header); {
		end := fieldEnd(header, at)
		field := header[at:end]
		at = end
		if len(bytes.TrimRight(field, "\r\n")) == 0 {
			break
		}
		name, _, ok := bytes.Cut(field, []byte(":"))
		if !ok {
			if !named {
				out = append(out, field...)
			}
			continue
		}
		name = bytes.TrimRight(name, " \t")
		found := false
		for _, n := range names {
			if len(n) == len(name) && strings.EqualFold(n, string(name)) {
				found = true
				break
			}
		}
		if found == named {
			out = append(out, field...)
		}
	}
	if n := len(out); n > 0 && out[n-1] != '\n' {
		out = append(out, "\r\n"...)
	}
	return append(out, "\r\n"...)
}

// fieldEnd is the position behind the field at from, and the lines that continue
// it.
func fieldEnd(header []byte, from int) int {
	end := from
	for {
		i := bytes.IndexByte(header[end:], '\n')
		if i < 0 {
			return len(header)
		}
		end += i + 1
		if end == len(header) || header[end] != ' ' && header[end] != '\t' {
			return end
		}
	}
}

// crlf appends text with CRLF line ends to dst.
func crlf(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			return append(dst, text...)
		}
		end := i
		if i > 0 && text[i-1] == '\r' {
			end--
		}
		dst = append(dst, text[:end]...)
		dst = append(dst, "\r\n"...)
		text = text[i+1:]
	}
}
