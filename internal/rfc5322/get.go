package rfc5322

import "bytes"

// Get returns the raw value of the first field called name (ASCII, any case)
// in the header at the start of b. O(header), no allocation.
func Get(b []byte, name string) (raw []byte, ok bool) {
	All(b, name, func(v []byte) bool {
		raw, ok = v, true
		return false
	})
	return raw, ok
}

// All calls fn with the raw value of each field called name (ASCII, any case)
// in the header at the start of b, in order, until fn returns false.
func All(b []byte, name string, fn func(raw []byte) bool) {
	for i := 0; i < len(b) && !isEmptyLine(b[i:]); {
		value, ok := hasName(b[i:], name)
		start := i + value
		for {
			n := bytes.IndexByte(b[i:], '\n')
			if n < 0 {
				i = len(b)
				break
			}
			i += n + 1
			if i == len(b) || b[i] != ' ' && b[i] != '\t' {
				break
			}
		}
		if ok {
			end := i - lineEnd(b[start:i])
			if !fn(b[start:end:end]) {
				return
			}
		}
	}
}

// Unfold appends raw without its line ends to dst; white space stays, except
// at both ends (RFC 5322 2.2.3). A CR that ends no line is kept. O(raw).
func Unfold(dst, raw []byte) []byte { return appendUnfolded(dst, trim(raw)) }

// appendUnfolded appends b without its line ends to dst.
func appendUnfolded(dst, b []byte) []byte {
	for {
		n := bytes.IndexByte(b, '\n')
		if n < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:n+1-lineEnd(b[:n+1])]...)
		b = b[n+1:]
	}
}

// trim removes white space and line ends from both ends of b.
func trim(b []byte) []byte {
	for len(b) > 0 && isLWSP(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isLWSP(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}
