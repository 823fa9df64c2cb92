// Package mime prints what IMAP tells of a message's MIME structure: the
// BODYSTRUCTURE of RFC 9051 section 7.5.2, with its extension data.
//
// # How it reads
//
// Parts are split here, by lines, because mail is what it is: a header line
// without a colon, a missing closing delimiter or a boundary with an '=' in it
// costs one field or one line and not the message. Content-Type and
// Content-Disposition are taken apart by go-message: parameters are decoded (RFC
// 2231, and RFC 2047 where mailers use it) and, its map having no order, sorted.
// Types and parameter names come in lower case, everything else as it stands.
//
// Sizes are bytes with CRLF line ends, as IMAP would send the part; lines are
// line feeds.
//
// # Bounds
//
// MaxDepth nested parts and messages, MaxParts parts in all, maxValue bytes of a
// field. What is deeper is a leaf, what is more is not told. Time is O(bytes
// times depth), memory O(parts).
//
// # Not done
//
//   - Values that are not ASCII are literals of UTF-8, which IMAP4rev1 clients
//     take for 8-bit text; the RFC 2231 form is not made again.
//   - A message/rfc822 in base64, which RFC 2046 section 5.2.1 forbids, is not
//     decoded: its envelope is empty.
//   - Addresses of an envelope keep their encoded words; obsolete routes are
//     told, comments inside of addresses are dropped.
package mime

import "bytes"

// The bounds of a structure.
const (
	MaxDepth = 32   // parts and messages inside each other
	MaxParts = 1000 // leaves and multiparts of one message
)

// AppendBodyStructure appends the BODYSTRUCTURE of msg, header and body, to
// dst: "(...)" without a name before it. It never fails: what cannot be
// understood is a text/plain leaf.
func AppendBodyStructure(dst, msg []byte) []byte {
	p := printer{dst: dst}
	p.entity(msg, 0, false)
	return p.dst
}

// A printer prints one message.
type printer struct {
	dst   []byte
	parts int
}

// entity prints a header and the body behind it. digest: it is a part of a
// multipart/digest, whose parts are messages when they say nothing (RFC 2046
// section 5.1.5).
func (p *printer) entity(b []byte, depth int, digest bool) {
	p.parts++
	var h header
	body := b[h.scan(b):]
	t := h.contentType()
	if t.kind == "" {
		t = plain
		if digest {
			t = mediaType{kind: "message", sub: "rfc822"}
		}
	}
	switch {
	case t.kind == "multipart" && depth < MaxDepth && p.multipart(&h, t, body, depth):
		return
	case t.kind == "multipart", depth == MaxDepth && t.kind == "message":
		t = plain
	}
	p.leaf(&h, t, body, depth)
}

// multipart prints the parts of body; false, and nothing printed, when it has
// none.
func (p *printer) multipart(h *header, t mediaType, body []byte, depth int) bool {
	s := splitter{rest: body, delimiter: []byte("--" + t.param("boundary"))}
	part, ok := s.next()
	if len(s.delimiter) == 2 || !ok {
		return false
	}
	p.byte('(')
	for ok {
		p.entity(part, depth+1, t.sub == "digest")
		if p.parts >= MaxParts {
			break
		}
		part, ok = s.next()
	}
	p.byte(' ')
	p.string(t.sub)
	p.byte(' ')
	p.params(t.params)
	p.extension(h)
	p.byte(')')
	return true
}

// leaf prints a body that is not a multipart.
func (p *printer) leaf(h *header, t mediaType, body []byte, depth int) {
	p.byte('(')
	p.string(t.kind)
	p.byte(' ')
	p.string(t.sub)
	p.byte(' ')
	p.params(t.params)
	p.byte(' ')
	p.nstring(h.value(contentID))
	p.byte(' ')
	p.nstring(h.value(contentDescription))
	p.byte(' ')
	encoding := h.value(contentEncoding)
	if encoding == nil {
		encoding = []byte("7bit")
	}
	p.nstring(encoding)
	p.byte(' ')
	lines := bytes.Count(body, []byte("\n"))
	p.number(len(body) + lines - bytes.Count(body, []byte("\r\n")))
	switch {
	case t.kind == "message" && (t.sub == "rfc822" || t.sub == "global"):
		p.byte(' ')
		p.envelope(body)
		p.byte(' ')
		p.entity(body, depth+1, false)
		p.byte(' ')
		p.number(lines)
	case t.kind == "text":
		p.byte(' ')
		p.number(lines)
	}
	p.byte(' ')
	p.nstring(h.value(contentMD5))
	p.extension(h)
	p.byte(')')
}

// extension prints what all bodies may have at the end: disposition, language
// and location.
func (p *printer) extension(h *header) {
	p.byte(' ')
	if kind, params, ok := h.disposition(); ok {
		p.byte('(')
		p.string(kind)
		p.byte(' ')
		p.params(params)
		p.byte(')')
	} else {
		p.nil()
	}
	p.byte(' ')
	p.languages(h.value(contentLanguage))
	p.byte(' ')
	p.nstring(h.value(contentLocation))
}

// languages prints the tags of a Content-Language field (RFC 3282).
func (p *printer) languages(value []byte) {
	n := 0
	for tag := range bytes.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if n++; n == 1 {
			p.byte('(')
		} else {
			p.byte(' ')
		}
		p.nstring(tag)
	}
	if n == 0 {
		p.nil()
		return
	}
	p.byte(')')
}
