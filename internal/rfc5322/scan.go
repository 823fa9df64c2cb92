package rfc5322

import (
	"bytes"
	"math"
)

// Span is a piece of the scanned bytes.
type Span struct{ Off, Len int32 }

// Bytes returns the piece of b that s describes.
func (s Span) Bytes(b []byte) []byte { return b[s.Off : s.Off+s.Len : s.Off+s.Len] }

// Header is what Scan found: for each field in Present the place of its raw
// value (after the colon, folds included, without the final line end).
type Header struct {
	Span    [NumFields]Span
	Present Mask
	BodyOff int // offset of the body's first byte
	Warn    Warnings
}

// Raw returns the raw value of f in b, the bytes that Scan got; nil when the
// field is absent.
func (h *Header) Raw(b []byte, f Field) []byte {
	if !h.Present.Has(f) {
		return nil
	}
	return h.Span[f].Bytes(b)
}

// Scan finds the first field of each wanted name in the header at the start
// of b, in one pass and without allocation. It reports false when b ends
// before the header does; then all of b was taken for the header, BodyOff is
// len(b), and more bytes may change the answer. At most 2 GiB are read.
//
// A line "From " or ">From " in front is no field (mbox, RFC 4155) and passed
// over like any line that is none.
func Scan(b []byte, want Mask, h *Header) (complete bool) {
	*h = Header{}
	if len(b) > math.MaxInt32 {
		b = b[:math.MaxInt32]
	}
	if len(b) > 0 {
		switch b[0] {
		case 'F', '>':
			if isFromLine(b) {
				h.Warn |= WarnFromLine
			}
		case ' ', '\t':
			h.Warn |= WarnLeadingFold
		}
	}
	letters := want.letters()
	for i := 0; i < len(b); {
		c := b[i]
		if c <= '\r' && isEmptyLine(b[i:]) {
			h.BodyOff = i + 1
			if c == '\r' {
				h.BodyOff++
			}
			return true
		}
		field, value := NumFields, 0
		// The low five bits of a letter are its place in the alphabet; what
		// is no letter may pass this filter and fails at its name.
		if letters>>(c&31)&1 != 0 {
			field, value = match(b[i:], want)
			value += i
		}
		// Most lines are short and most fields have one, so the search for
		// the end of the line is the whole cost of an unwanted field.
		end := i
		for {
			n := bytes.IndexByte(b[end:], '\n')
			if n < 0 {
				end = len(b)
				break
			}
			end += n + 1
			if end == len(b) || b[end] != ' ' && b[end] != '\t' {
				break
			}
		}
		if field < NumFields {
			h.add(b, field, value, end)
		}
		i = end
	}
	h.BodyOff = len(b)
	h.Warn |= WarnTruncated
	return false
}

// match returns the wanted field that the line at the start of b is, and
// where its value begins.
func match(b []byte, want Mask) (f Field, value int) {
	for _, f := range &byLetter[b[0]&31] {
		if f == NumFields {
			break
		}
		// One look at the place of the colon spares most comparisons.
		n := len(fieldNames[f])
		if !want.Has(f) || len(b) <= n || b[n] != ':' && b[n] != ' ' && b[n] != '\t' {
			continue
		}
		if v, ok := hasName(b, fieldNames[f]); ok {
			return f, v
		}
	}
	return NumFields, 0
}

// add notes a field whose value is b[value:end], final line end included.
func (h *Header) add(b []byte, f Field, value, end int) {
	if h.Present.Has(f) {
		h.Warn |= WarnDuplicate(f)
		return
	}
	if b[value-2] == ' ' || b[value-2] == '\t' {
		h.Warn |= WarnSpaceColon
	}
	h.Present |= f.Mask()
	end -= lineEnd(b[value:end])
	h.Span[f] = Span{int32(value), int32(end - value)}
}

// lineEnd returns the length of the line end at the end of b: 0, 1 or 2.
func lineEnd(b []byte) int {
	n := len(b)
	switch {
	case n > 1 && b[n-1] == '\n' && b[n-2] == '\r':
		return 2
	case n > 0 && b[n-1] == '\n':
		return 1
	}
	return 0
}

// isEmptyLine says whether b begins with a line end.
func isEmptyLine(b []byte) bool {
	return b[0] == '\n' || b[0] == '\r' && len(b) > 1 && b[1] == '\n'
}

// isFromLine says whether b begins with an mbox separator that some delivery
// agent left in the message.
func isFromLine(b []byte) bool {
	if b[0] == '>' {
		b = b[1:]
	}
	const from = "From "
	return len(b) > len(from) && string(b[:len(from)]) == from && b[len(from)] != ':'
}

// HeaderEnd returns the offset of the body, or -1 while b does not hold the
// end of its header. A caller that reads on passes the length of b at the
// last call as from, so that no byte is searched twice; 0 is always right.
func HeaderEnd(b []byte, from int) int {
	if from <= 2 {
		from = 0
		if len(b) > 0 && isEmptyLine(b) {
			return 1 + lineEndCR(b)
		}
	} else {
		// The line end in front of the empty line may have been seen before.
		from -= 2
	}
	for i := from; i < len(b); {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		if i < len(b) && isEmptyLine(b[i:]) {
			return i + 1 + lineEndCR(b[i:])
		}
	}
	return -1
}

// lineEndCR returns 1 if b begins with a CR.
func lineEndCR(b []byte) int {
	if b[0] == '\r' {
		return 1
	}
	return 0
}
