package sort

import (
	"errors"
	"fmt"
	"strings"
)

// A Key is one sort criterion of RFC 5256 section 3 or RFC 5957.
type Key uint8

const (
	Arrival     Key = iota // INTERNALDATE, date and time
	Cc                     // mailbox of the first Cc address
	Date                   // sent date, RFC 5256 section 2.2
	From                   // mailbox of the first From address
	Size                   // RFC822.SIZE, counted with CRLF line ends
	Subject                // base subject, RFC 5256 section 2.1
	To                     // mailbox of the first To address
	DisplayFrom            // RFC 5957
	DisplayTo              // RFC 5957
	NumKeys
)

var keyNames = [NumKeys]string{"arrival", "cc", "date", "from", "size", "subject", "to", "displayfrom", "displayto"}

// String returns the key as IMAP writes it, in lower case.
func (k Key) String() string {
	if k < NumKeys {
		return keyNames[k]
	}
	return fmt.Sprintf("key(%d)", uint8(k))
}

// A Criterion is a key and its direction.
type Criterion struct {
	Key     Key
	Reverse bool
}

// ErrCriteria reports text that is no list of sort criteria.
var ErrCriteria = errors.New("sort: bad criteria")

// maxCriteria bounds what a caller can make Order do; there are nine keys, and
// a repeated key decides nothing.
const maxCriteria = 64

// ParseCriteria reads "reverse date subject", in any case, with or without the
// parentheses of IMAP, separated by white space or commas. At least one key is
// needed, and REVERSE needs a key after it (RFC 5256 section 5, sort-criteria).
// Errors wrap ErrCriteria.
func ParseCriteria(s string) ([]Criterion, error) {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		s = s[1 : len(s)-1]
	}
	var out []Criterion
	reverse := false
next:
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' }) {
		if strings.EqualFold(f, "reverse") {
			if reverse {
				return nil, fmt.Errorf("%w: reverse twice in %q", ErrCriteria, s)
			}
			reverse = true
			continue
		}
		for k, name := range keyNames {
			if strings.EqualFold(f, name) {
				if len(out) == maxCriteria {
					return nil, fmt.Errorf("%w: more than %d keys", ErrCriteria, maxCriteria)
				}
				out = append(out, Criterion{Key(k), reverse})
				reverse = false
				continue next
			}
		}
		return nil, fmt.Errorf("%w: unknown key %q (have %s)", ErrCriteria, f, strings.Join(keyNames[:], ", "))
	}
	switch {
	case reverse:
		return nil, fmt.Errorf("%w: reverse without a key in %q", ErrCriteria, s)
	case len(out) == 0:
		return nil, fmt.Errorf("%w: no key", ErrCriteria)
	}
	return out, nil
}

// FormatCriteria is the inverse of ParseCriteria: "reverse date subject".
func FormatCriteria(crit []Criterion) string {
	var b strings.Builder
	for i, c := range crit {
		if i > 0 {
			b.WriteByte(' ')
		}
		if c.Reverse {
			b.WriteString("reverse ")
		}
		b.WriteString(c.Key.String())
	}
	return b.String()
}
