package rfc5322

// phrase appends words, one space between them, to buf. RFC 5322 4.1,
// obs-phrase: dots may stand in words.
func (p *addressParser) phrase() result {
	if p.end() {
		return atEnd
	}
	if p.peek() == '.' {
		return broken
	}
	for {
		ok := true
		if p.peek() == '"' {
			p.buf, ok = p.quoted(p.buf)
		} else {
			start := p.i
			for p.i < len(p.b) && (isAtext(p.b[p.i]) || p.b[p.i] == '.') {
				p.i++
			}
			p.buf = append(p.buf, p.b[start:p.i]...)
		}
		if r := p.rest(ok && p.skip()); r != more {
			return r
		}
		if c := p.peek(); !isAtext(c) && c != '"' && c != '.' {
			return more
		}
		p.buf = append(p.buf, ' ')
	}
}

// localPart reads a local part into a.Mailbox. Dots may stand anywhere in it:
// such addresses are in use.
func (p *addressParser) localPart() result {
	mark := len(p.buf)
	var r result
	if p.dovecot {
		r = p.dovecotLocal()
	} else {
		r = p.rfcLocal()
	}
	if r != broken {
		p.a.Mailbox = p.cut(mark)
	}
	return r
}

// rfcLocal reads word *("." word) with comments and white space around each
// (RFC 5322 4.4, obs-local-part).
func (p *addressParser) rfcLocal() result {
	some := false
	for {
		ok := true
		switch c := p.peek(); {
		case c == '"':
			p.buf, ok = p.quoted(p.buf)
		case c == '.':
			p.buf = append(p.buf, '.')
			p.i++
		case !p.end() && isAtext(c):
			p.buf = append(p.buf, p.atom()...)
		case some && c == '@': // "joe.@x"
			return more
		default:
			return broken
		}
		dot := p.b[p.i-1] == '.'
		some = true
		if r := p.rest(ok && p.skip()); r != more {
			return r
		}
		if !dot && p.peek() != '.' {
			return more
		}
	}
}

// dovecotLocal reads one quoted string, or atoms and dots with white space
// only before the dots.
func (p *addressParser) dovecotLocal() result {
	if p.peek() == '"' {
		var ok bool
		p.buf, ok = p.quoted(p.buf)
		return p.rest(ok && p.skip())
	}
	r := broken
	for {
		for p.peek() == '.' {
			p.buf = append(p.buf, '.')
			p.i++
			if p.end() {
				return atEnd
			}
			r = more
		}
		if p.peek() == '@' {
			return r
		}
		a := p.atom()
		if len(a) == 0 {
			return broken
		}
		p.buf = append(p.buf, a...)
		if r = p.rest(p.skip()); r != more || p.peek() != '.' {
			return r
		}
	}
}

// domainPart reads "@" domain into a.Host.
func (p *addressParser) domainPart() result {
	p.i++
	if !p.skip() || p.end() {
		return broken
	}
	mark := len(p.buf)
	var ok bool
	if p.buf, ok = p.domain(p.buf); !ok {
		return broken
	}
	p.a.Host = p.cut(mark)
	return p.rest(true)
}

// appendComment appends the text of the last comment passed, without
// backslashes and line ends.
func (p *addressParser) appendComment(dst []byte) []byte {
	b := p.b[p.commentOff:p.commentEnd]
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '\\':
			if i+1 < len(b) && b[i+1] != '\r' && b[i+1] != '\n' {
				i++
				dst = append(dst, b[i])
				continue
			}
			dst = append(dst, c)
		case '\r', '\n':
			if c == '\r' && (i+1 == len(b) || b[i+1] != '\n') {
				dst = append(dst, c)
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
