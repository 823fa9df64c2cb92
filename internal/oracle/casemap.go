package oracle

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// casemap is i;unicode-casemap (RFC 5051 section 2): each character by itself
// to title case, then decomposed fully; there is no reordering of marks.
func (c Compat) casemap(s string) string {
	var out strings.Builder
	for _, r := range s {
		if t := unicode.ToTitle(r); t < 0x80 {
			out.WriteRune(t)
		} else {
			out.WriteString(norm.NFKD.String(string(t)))
		}
	}
	return out.String()
}
