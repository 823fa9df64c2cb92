package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bad is a tagged BAD, with its text.
type bad string

func (b bad) Error() string { return string(b) }

// A parser reads the arguments of a command (RFC 3501 section 9). The first
// error stays; what comes after it is empty.
type parser struct {
	b   []byte
	at  int
	err error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = bad(fmt.Sprintf(format, args...))
	}
	p.at = len(p.b)
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.b) {
		return p.b[p.at]
	}
	return 0
}

// is passes over c, if it is next.
func (p *parser) is(c byte) bool {
	if p.at < len(p.b) && p.b[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(c byte) {
	if !p.is(c) {
		p.fail("%q is wanted at byte %d", c, p.at+1)
	}
}

func (p *parser) sp() { p.want(' ') }

// end fails unless all has been read.
func (p *parser) end() error {
	for p.is(' ') {
	}
	if p.err == nil && p.at < len(p.b) {
		p.fail("too many arguments")
	}
	return p.err
}

// word reads bytes up to one of stop, a control character or a space.
func (p *parser) word(stop string) string {
	start := p.at
	for p.at < len(p.b) {
		c := p.b[p.at]
		if c <= ' ' || c == 0x7f || strings.IndexByte(stop, c) >= 0 {
			break
		}
		p.at++
	}
	if p.at == start {
		p.fail("a word is wanted at byte %d", p.at+1)
		return ""
	}
	return string(p.b[start:p.at])
}

const (
	atomStop    = `(){%*"\]`
	astringStop = `(){%*"\`
	listStop    = `(){"\`
)

func (p *parser) atom() string { return p.word(atomStop) }

// upper is an atom in capitals.
func (p *parser) upper() string { return strings.ToUpper(p.atom()) }

// str reads a quoted string or a literal.
func (p *parser) str() string {
	switch {
	case p.is('"'):
		var out []byte
		for p.at < len(p.b) {
			c := p.b[p.at]
			p.at++
			switch c {
			case '"':
				return string(out)
			case '\r', '\n', 0:
				p.fail("a quoted string with a line end or NUL in it")
				return ""
			case '\\':
				if c = p.peek(); c != '"' && c != '\\' {
					p.fail("a backslash before neither quote nor backslash")
					return ""
				}
				p.at++
			}
			out = append(out, c)
		}
		p.fail("a quoted string without end")
		return ""
	case p.peek() == '{':
		return string(p.literal())
	}
	p.fail("a string is wanted at byte %d", p.at+1)
	return ""
}

// literal reads a literal, not copied.
func (p *parser) literal() []byte {
	p.want('{')
	start := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	n, err := strconv.Atoi(string(p.b[start:p.at]))
	p.is('+')
	p.want('}')
	p.is('\r')
	p.want('\n')
	if p.err != nil {
		return nil
	}
	if err != nil || n > len(p.b)-p.at {
		p.fail("a literal that is not there")
		return nil
	}
	out := p.b[p.at : p.at+n : p.at+n]
	p.at += n
	return out
}

// astring reads an atom, a quoted string or a literal.
func (p *parser) astring() string {
	if c := p.peek(); c == '"' || c == '{' {
		return p.str()
	}
	return p.word(astringStop)
}

// pattern reads a mailbox name with wildcards.
func (p *parser) pattern() string {
	if c := p.peek(); c == '"' || c == '{' {
		return p.str()
	}
	return p.word(listStop)
}

// number reads an unsigned number of 32 bits.
func (p *parser) number() uint32 {
	start := p.at
	for p.peek() >= '0' && p.peek() <= '9' {
		p.at++
	}
	n, err := strconv.ParseUint(string(p.b[start:p.at]), 10, 32)
	if err != nil {
		p.fail("a number is wanted at byte %d", start+1)
	}
	return uint32(n)
}

// list calls item for each member of a list in parentheses.
func (p *parser) list(item func()) {
	p.want('(')
	if p.is(')') {
		return
	}
	for p.err == nil {
		item()
		if p.is(')') {
			return
		}
		p.sp()
	}
}

// flag reads a flag or a keyword.
func (p *parser) flag() string {
	if p.is('\\') {
		return `\` + p.atom()
	}
	return p.atom()
}

// star is * in a span that starred has not seen: no number of a set is 0.
const star = 0

// set reads a sequence set.
func (p *parser) set() []span {
	var set []span
	for p.err == nil {
		s := span{lo: p.setNumber()}
		s.hi = s.lo
		if p.is(':') {
			s.hi = p.setNumber()
		}
		set = append(set, s)
		if !p.is(',') {
			return set
		}
	}
	return nil
}

func (p *parser) setNumber() uint32 {
	if p.is('*') {
		return star
	}
	start := p.at
	n := p.number()
	if p.err == nil && n == 0 {
		p.fail("0 in a sequence set at byte %d", start+1)
	}
	return n
}

// starred puts the greatest number in the place of * and the ends of ranges in
// order (RFC 3501 section 9, seq-range). With greatest 0 nothing is in the set.
func starred(set []span, greatest uint32) []span {
	out := make([]span, 0, len(set))
	for _, s := range set {
		if s.lo == star {
			s.lo = greatest
		}
		if s.hi == star {
			s.hi = greatest
		}
		if greatest > 0 {
			out = append(out, span{min(s.lo, s.hi), max(s.lo, s.hi)})
		}
	}
	return tidy(out)
}

// date reads a day: "1-Feb-1994", quoted or not; as a number of days.
func (p *parser) date() int64 {
	quoted := p.is('"')
	text := p.word(`"()`)
	if quoted {
		p.want('"')
	}
	if p.err != nil {
		return 0
	}
	t, err := time.Parse("2-Jan-2006", text)
	if err != nil {
		p.fail("%q is no date like 1-Feb-1994", text)
		return 0
	}
	return dayOf(t)
}

// dateTime reads the INTERNALDATE of an APPEND, in unix seconds.
func (p *parser) dateTime() int64 {
	text := p.str()
	if p.err != nil {
		return 0
	}
	t, err := time.Parse("_2-Jan-2006 15:04:05 -0700", text)
	if err != nil {
		if t, err = time.Parse("2-Jan-2006 15:04:05 -0700", text); err != nil {
			p.fail("%q is no date like \" 1-Feb-1994 21:52:25 -0800\"", text)
		}
	}
	return t.Unix()
}

func appendUint(dst []byte, n uint64) []byte { return strconv.AppendUint(dst, n, 10) }

// appendDate appends an INTERNALDATE with its quotes.
func appendDate(dst []byte, unix int64) []byte {
	return time.Unix(unix, 0).AppendFormat(dst, `"02-Jan-2006 15:04:05 -0700"`)
}

// appendLiteral appends a literal.
func appendLiteral[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '{')
	dst = appendUint(dst, uint64(len(s)))
	dst = append(dst, "}\r\n"...)
	return append(dst, s...)
}
