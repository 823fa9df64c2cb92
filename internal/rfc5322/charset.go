package rfc5322

import (
	"bytes"
	"io"
	"strings"

	"github.com/emersion/go-message/charset"
)

// isUTF8 says whether text in this charset needs no conversion.
func isUTF8(name []byte) bool {
	return len(name) == 0 || equalFold(name, "utf-8") || equalFold(name, "utf8")
}

// hasShifts says whether what a byte means in this charset depends on escape
// sequences before it. RFC 2047 section 3: each encoded word begins in ASCII.
func hasShifts(name []byte) bool {
	for _, p := range []string{"iso-2022", "hz", "utf-7", "csiso2022"} {
		if len(name) >= len(p) && equalFold(name[:len(p)], p) {
			return true
		}
	}
	return false
}

// convert returns b, text in a charset that is not UTF-8, in UTF-8; ok is
// false when the charset is not known. It allocates.
func convert(name, b []byte) (out []byte, ok bool) {
	r, err := charset.Reader(strings.ToLower(string(name)), bytes.NewReader(b))
	if err != nil {
		return nil, false
	}
	out, err = io.ReadAll(r)
	if err != nil {
		return nil, false
	}
	return mergeReplacements(out), true
}

// mergeReplacements turns each run of U+FFFD into one, as converters write one
// for each byte or each character that they could not read.
func mergeReplacements(b []byte) []byte {
	const twice = replacement + replacement
	for bytes.Contains(b, []byte(twice)) {
		b = bytes.ReplaceAll(b, []byte(twice), []byte(replacement))
	}
	return b
}
