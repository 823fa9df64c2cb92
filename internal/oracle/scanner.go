package oracle

import "strings"

// A scanner walks over a structured header value (RFC 5322 section 3.2).
type scanner struct {
	s       string
	comment string // text of the last comment skipped
}

func (p *scanner) peek() byte {
	if p.s == "" {
		return 0
	}
	return p.s[0]
}

// take skips b and says whether it stood there.
func (p *scanner) take(b byte) bool {
	if p.s == "" || p.s[0] != b {
		return false
	}
	p.s = p.s[1:]
	return true
}

// skipCFWS skips blanks, line ends and comments (section 3.2.2); false when a
// comment does not end, and then everything is skipped.
func (p *scanner) skipCFWS() bool {
	for p.s != "" {
		switch p.s[0] {
		case ' ', '\t', '\r', '\n':
			p.s = p.s[1:]
		case '(':
			if !p.skipComment() {
				return false
			}
		default:
			return true
		}
	}
	return true
}

func (p *scanner) skipComment() bool {
	var text strings.Builder
	depth := 0
	for i := 0; i < len(p.s); i++ {
		switch c := p.s[i]; c {
		case '\\':
			i++
			if i < len(p.s) {
				text.WriteByte(p.s[i])
			}
		case '(':
			if depth++; depth > 1 {
				text.WriteByte(c)
			}
		case ')':
			if depth--; depth == 0 {
				p.s, p.comment = p.s[i+1:], text.String()
				return true
			}
			text.WriteByte(c)
		default:
			text.WriteByte(c)
		}
	}
	p.s = ""
	return false
}

// atext: section 3.2.3, and 8-bit bytes (RFC 6532).
func isAtext(c byte) bool {
	return c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c != 0 && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) >= 0
}

// atom takes 1*atext without anything around it.
func (p *scanner) atom() string {
	n := 0
	for n < len(p.s) && isAtext(p.s[n]) {
		n++
	}
	a := p.s[:n]
	p.s = p.s[n:]
	return a
}

// quoted takes a quoted-string (section 3.2.4) without its quotes and
// backslashes; line ends are removed.
func (p *scanner) quoted() (string, bool) {
	if p.peek() != '"' {
		return "", false
	}
	var text strings.Builder
	for i := 1; i < len(p.s); i++ {
		switch c := p.s[i]; c {
		case '"':
			p.s = p.s[i+1:]
			return text.String(), true
		case '\\':
			if i++; i < len(p.s) {
				text.WriteByte(p.s[i])
			}
		case '\r':
			if i+1 >= len(p.s) || p.s[i+1] != '\n' {
				text.WriteByte(c)
			}
		case '\n':
		default:
			text.WriteByte(c)
		}
	}
	p.s = ""
	return "", false
}

// dotAtom takes a dot-atom with CFWS allowed around its dots (RFC 5322
// section 4.4) and skips CFWS behind it.
func (p *scanner) dotAtom() (string, bool) {
	if !isAtext(p.peek()) {
		return "", false
	}
	var text strings.Builder
	for {
		text.WriteString(p.atom())
		if !p.skipCFWS() {
			return text.String(), false
		}
		if !p.take('.') {
			return text.String(), true
		}
		text.WriteByte('.')
		if !p.skipCFWS() {
			return text.String(), false
		}
	}
}

// literal takes a domain literal (section 3.4.1), brackets included.
func (p *scanner) literal() (string, bool) {
	for i := 0; i < len(p.s); i++ {
		switch p.s[i] {
		case '\\':
			i++
		case ']':
			text := p.s[:i+1]
			p.s = p.s[i+1:]
			return text, true
		}
	}
	p.s = ""
	return "", false
}
