package mime

// AppendEnvelope appends the ENVELOPE of a header (RFC 9051 section 7.5.2) to
// dst: "(...)" without a name before it. What is behind the header is not looked
// at.
func AppendEnvelope(dst, msg []byte) []byte {
	p := printer{dst: dst}
	p.envelope(msg)
	return p.dst
}

// A Part is one body of a message, as BODY[1.2] names it.
type Part struct {
	Header, Body []byte // as they stand; the header with its empty line
	Message      bool   // it is a message/rfc822: Body is one
}

// Cut finds the part of a message that part numbers name (RFC 3501 section
// 6.4.5), counted as AppendBodyStructure prints them; without numbers it is the
// message. O(bytes * numbers).
func Cut(msg []byte, path []int) (p Part, ok bool) {
	p, t := whole(msg, false)
	root := true // of the message, or of one inside: its body is also its part 1
	for depth, n := range path {
		if n < 1 || depth > 2*MaxDepth {
			return Part{}, false
		}
		if !root && p.Message {
			p, t = whole(p.Body, false)
			root = true
		}
		if part, found, multipart := nth(p, t, n); multipart {
			if !found {
				return Part{}, false
			}
			p, t = whole(part, t.sub == "digest")
			root = false
			continue
		}
		if !root || n != 1 {
			return Part{}, false
		}
		root = false
	}
	if root {
		p.Message = true
	}
	return p, true
}

// whole takes an entity apart.
func whole(b []byte, digest bool) (Part, mediaType) {
	var h header
	end := h.scan(b)
	t := h.contentType()
	if t.kind == "" {
		t = plain
		if digest {
			t = mediaType{kind: "message", sub: "rfc822"}
		}
	}
	return Part{Header: b[:end:end], Body: b[end:], Message: t.kind == "message" && (t.sub == "rfc822" || t.sub == "global")}, t
}

// nth is part n of a multipart; multipart is false when p is none or has no
// parts.
func nth(p Part, t mediaType, n int) (part []byte, found, multipart bool) {
	if t.kind != "multipart" {
		return nil, false, false
	}
	s := splitter{rest: p.Body, delimiter: []byte("--" + t.param("boundary"))}
	part, ok := s.next()
	if len(s.delimiter) == 2 || !ok {
		return nil, false, false
	}
	for i := 1; ok && i <= MaxParts; i++ {
		if i == n {
			return part, true, true
		}
		part, ok = s.next()
	}
	return nil, false, true
}
