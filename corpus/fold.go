package corpus

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// collate is i;unicode-casemap (RFC 5051) for the strings that the generator
// writes: titlecase every character, then decompose. None of them holds a
// character with a compatibility decomposition or Hangul, so that canonical
// decomposition is enough. Octet order of the results is the order of SORT.
func collate(s string) string {
	title := make([]rune, 0, len(s))
	for _, r := range s {
		title = append(title, unicode.ToTitle(r))
	}
	return norm.NFD.String(string(title))
}
