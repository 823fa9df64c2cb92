package mime

import "bytes"

// envelope prints the ENVELOPE of an embedded message (RFC 9051 section
// 7.5.2). Values are the raw ones, unfolded.
func (p *printer) envelope(msg []byte) {
	var h header
	h.scan(msg)
	p.byte('(')
	p.present(&h, date)
	p.byte(' ')
	p.present(&h, subject)
	author := h.value(from)
	for _, f := range []field{from, sender, replyTo, to, cc, bcc} {
		v := h.value(f)
		if v == nil && (f == sender || f == replyTo) {
			v = author // RFC 9051: the server fills them in
		}
		p.byte(' ')
		p.addresses(v)
	}
	p.byte(' ')
	p.present(&h, inReplyTo)
	p.byte(' ')
	p.present(&h, messageID)
	p.byte(')')
}

// present prints a field, one with nothing in it as "", not NIL (RFC 9051 section
// 7.5.2).
func (p *printer) present(h *header, f field) {
	v := h.value(f)
	if v == nil && h.raw[f] != nil {
		v = []byte{}
	}
	p.nstring(v)
}

// addresses prints the mailboxes and groups of an address list (RFC 5322
// section 3.4), NIL when there are none. What is no address ends up in one.
func (p *printer) addresses(v []byte) {
	a := addressReader{p: p, v: v}
	for a.at < len(a.v) {
		a.step()
	}
	a.finish()
	if a.group {
		a.print(nil, nil, nil, nil)
	}
	if a.n == 0 {
		p.nil()
		return
	}
	p.byte(')')
}

// An addressReader goes through a list once.
type addressReader struct {
	p       *printer
	v       []byte
	at, n   int
	group   bool   // inside of one
	words   []byte // phrase, or an address without angles
	spaced  bool   // a space before the next word
	comment []byte // the last one, a name for who has no other
	angle   []byte // what was between < and >
	angled  bool
}

func (a *addressReader) step() {
	c := a.v[a.at]
	a.at++
	switch c {
	case ' ', '\t':
		a.spaced = len(a.words) > 0
	case ',':
		a.finish()
	case '(':
		a.comment = a.until(')', '(')
	case '"':
		text := a.until('"', 0)
		a.word(text)
	case '<':
		a.angle, a.angled = bytes.TrimSpace(a.until('>', 0)), true
	case ':':
		if a.group || a.angled {
			a.word([]byte{c})
			break
		}
		a.print(nil, nil, orEmpty(a.words), nil)
		a.clear()
		a.group = true
	case ';':
		a.finish()
		if a.group {
			a.print(nil, nil, nil, nil)
			a.group = false
		}
	default:
		a.word([]byte{c})
	}
}

// word adds to the phrase; words of one phrase are one space apart.
func (a *addressReader) word(text []byte) {
	if a.spaced {
		a.words = append(a.words, ' ')
		a.spaced = false
	}
	a.words = append(a.words, text...)
}

// until reads up to the closing character, which may be missing, and undoes
// quoted pairs; open nests.
func (a *addressReader) until(closing, open byte) (text []byte) {
	depth := 1
	text = []byte{}
	for a.at < len(a.v) {
		c := a.v[a.at]
		a.at++
		switch {
		case c == '\\' && a.at < len(a.v) && closing != '>':
			c = a.v[a.at]
			a.at++
		case c == closing:
			if depth--; depth == 0 {
				return text
			}
		case c == open && open != 0:
			depth++
		}
		text = append(text, c)
	}
	return text
}

// finish prints the mailbox read so far, if there is one.
func (a *addressReader) finish() {
	defer a.clear()
	spec, name := a.angle, a.words
	if !a.angled {
		spec, name = bytes.ReplaceAll(a.words, []byte(" "), nil), a.comment
		if len(spec) == 0 {
			return
		}
	}
	var route []byte
	if len(spec) > 0 && spec[0] == '@' {
		if i := bytes.IndexByte(spec, ':'); i >= 0 {
			route, spec = spec[:i], spec[i+1:]
		}
	}
	mailbox, host := spec, []byte{}
	if i := bytes.LastIndexByte(spec, '@'); i >= 0 {
		mailbox, host = spec[:i], spec[i+1:]
	}
	if len(name) == 0 {
		name = nil
	}
	if len(mailbox) == 0 {
		mailbox = []byte{} // NIL is the end of a group
	}
	a.print(name, route, mailbox, orEmpty(host))
}

// orEmpty is b, and not nil: a host that is NIL marks a group.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (a *addressReader) clear() {
	a.words, a.spaced, a.comment, a.angle, a.angled = nil, false, nil, nil, false
}

func (a *addressReader) print(name, route, mailbox, host []byte) {
	if a.n++; a.n == 1 {
		a.p.byte('(')
	}
	a.p.byte('(')
	for i, s := range [][]byte{name, route, mailbox, host} {
		if i > 0 {
			a.p.byte(' ')
		}
		a.p.nstring(s)
	}
	a.p.byte(')')
}
