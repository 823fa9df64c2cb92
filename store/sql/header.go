package sqlstore

import (
	"bytes"
	"fmt"
	"strings"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// headers is which fields get rows in mailbench_header.
type headers uint8

const (
	headersAll      headers = iota
	headersEnvelope         // those of IMAP's ENVELOPE, and References
	headersNone
)

func parseHeaders(s string) (headers, error) {
	switch s {
	case "", "all":
		return headersAll, nil
	case "envelope":
		return headersEnvelope, nil
	case "none":
		return headersNone, nil
	}
	return 0, fmt.Errorf("headers=%q: it is all, envelope or none", s)
}

var envelope = func() map[string]bool {
	m := map[string]bool{"references": true}
	for _, name := range index.EnvelopeFields {
		m[strings.ToLower(name)] = true
	}
	return m
}()

// Bounds of what gets rows; the header itself is stored whole as a part.
const (
	maxFields = 1000     // of a message
	maxName   = 100      // bytes, as dbmail has it
	maxValue  = 64 << 10 // bytes
)

// fields calls fn with the names, in lower case, and unfolded values of a
// header's fields: the first maxFields of those that h wants. A line without a
// name and a colon is passed over, with its continuations (RFC 5322 2.2).
func (h headers) fields(header []byte, fn func(name string, value []byte)) {
	if h == headersNone {
		return
	}
	n := 0
	for at := 0; at < len(header) && n < maxFields; {
		end := lineEnd(header, at)
		for end < len(header) && (header[end] == ' ' || header[end] == '\t') {
			end = lineEnd(header, end)
		}
		line := header[at:end]
		at = end
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			continue
		}
		name := bytes.TrimRight(line[:colon], " \t")
		if len(name) == 0 || len(name) > maxName || bytes.ContainsAny(name, " \t\r\n\x00") {
			continue
		}
		lower := asciiLower(name)
		if h == headersEnvelope && !envelope[lower] {
			continue
		}
		value := rfc5322.Unfold(nil, line[colon+1:])
		if len(value) > maxValue {
			continue
		}
		n++
		fn(lower, value)
	}
}

// asciiLower is b in lower case: its letters of ASCII, nothing else is changed.
func asciiLower(b []byte) string {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}
