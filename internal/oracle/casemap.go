package oracle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// casemap is i;unicode-casemap (RFC 5051 section 2): each character by itself
// to title case, then decomposed fully; there is no reordering of marks.
func (c Compat) casemap(s string) string {
	var out strings.Builder
	for _, r := range s {
		t := unicode.ToTitle(r)
		d := norm.NFKD.String(string(t))
		// compat: Dovecot leaves title case digraphs whole, and so characters
		// above U+FFFF that would become several.
		if c == Dovecot && (t == 'ǅ' || t == 'ǈ' || t == 'ǋ' || t == 'ǲ' ||
			t > 0xFFFF && utf8.RuneCountInString(d) > 1) {
			d = string(t)
		}
		out.WriteString(d)
	}
	return out.String()
}
