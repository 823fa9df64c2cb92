package rfc5322

// Classes of bytes.
const (
	classAtext uint8 = 1 << iota // RFC 5322 3.2.3, and every byte above 127, and NUL
	classLWSP
	classDigit
)

// class is indexed by byte. Bytes above 127 count as atext (RFC 6532, and raw
// 8-bit text of older mail); so does NUL, which Dovecot turns into 0x80 when
// it reads a header.
var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = classAtext | classDigit
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || c == 0:
			t[c] = classAtext
		}
	}
	for _, c := range "!#$%&'*+-/=?^_`{|}~" {
		t[c] = classAtext
	}
	for _, c := range " \t\r\n" {
		t[c] = classLWSP
	}
	return t
}()

func isAtext(c byte) bool { return class[c]&classAtext != 0 }
func isLWSP(c byte) bool  { return class[c]&classLWSP != 0 }
func isDigit(c byte) bool { return class[c]&classDigit != 0 }

// lexer walks over a structured field (RFC 5322 3.2).
type lexer struct {
	b []byte
	i int
	// The place between the parentheses of the last comment passed.
	commentOff, commentEnd int
}

func (l *lexer) end() bool { return l.i >= len(l.b) }

// peek returns the next byte, 0 at the end.
func (l *lexer) peek() byte {
	if l.i < len(l.b) {
		return l.b[l.i]
	}
	return 0
}

// skip passes over white space, line ends and comments. It reports false for
// a comment that never ends; then all is passed over.
func (l *lexer) skip() bool {
	for l.i < len(l.b) {
		c := l.b[l.i]
		if isLWSP(c) {
			l.i++
			continue
		}
		if c != '(' {
			return true
		}
		if !l.comment() {
			return false
		}
	}
	return true
}

// comment passes over the comment that begins here. RFC 5322 3.2.2: comments
// nest, and a backslash takes the meaning off the next byte. It reports false
// for one that never ends; then its text is what stands before its last line
// end or backslash.
func (l *lexer) comment() bool {
	l.i++
	l.commentOff, l.commentEnd = l.i, l.i
	for level := 1; l.i < len(l.b); l.i++ {
		switch l.b[l.i] {
		case '(':
			level++
		case ')':
			if level--; level == 0 {
				l.commentEnd = l.i
				l.i++
				return true
			}
		case '\n':
			l.commentEnd = l.i + 1
		case '\\':
			if l.i+1 >= len(l.b) {
				break
			}
			if n := l.b[l.i+1]; n != '\r' && n != '\n' {
				l.commentEnd = l.i
				l.i++
			}
		}
	}
	l.i = len(l.b)
	return false
}

// atom returns the run of atext that begins here, which may be empty.
func (l *lexer) atom() []byte {
	start := l.i
	for l.i < len(l.b) && isAtext(l.b[l.i]) {
		l.i++
	}
	return l.b[start:l.i]
}

// quoted appends the text of the quoted string that begins here to dst:
// quotes, backslashes and line ends removed (RFC 5322 3.2.4). ok is false
// when it never ends; then what was appended ends at its last line end or
// backslash.
func (l *lexer) quoted(dst []byte) (_ []byte, ok bool) {
	whole := len(dst)
	for l.i++; l.i < len(l.b); l.i++ {
		switch c := l.b[l.i]; c {
		case '"':
			l.i++
			return dst, true
		case '\n':
			if n := len(dst); n > whole && l.b[l.i-1] == '\r' {
				dst = dst[:n-1]
			}
			whole = len(dst)
		case '\\':
			if l.i+1 >= len(l.b) {
				l.i = len(l.b)
				return dst[:whole], false
			}
			// A backslash before a line end quotes nothing.
			if n := l.b[l.i+1]; n != '\r' && n != '\n' {
				l.i++
				whole = len(dst)
				dst = append(dst, n)
			} else {
				dst = append(dst, c)
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst[:whole], false
}
