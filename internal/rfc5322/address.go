package rfc5322

// Address is one address of a From, To, Cc ... field, or the start of a group
// (Group true, Mailbox the group's name, Host nil), or the end of a group
// (Group true, Mailbox nil), as in the IMAP ENVELOPE (RFC 3501 7.4.2). Quotes
// and comments are removed; encoded words are not decoded.
type Address struct {
	Name    []byte // display name, or else the last comment; nil if there is none
	Route   []byte // obsolete source route with its "@"s; nil if there is none
	Mailbox []byte // local part
	Host    []byte // domain
	Group   bool
	Invalid bool // something was missing or not understood
}

// FirstAddress returns the first address of raw, the raw value of a field,
// and false when raw holds none. Its parts are written to scratch[:0], or to
// new memory when the capacity of scratch is too small. O(first address).
//
// SORT's FROM, TO and CC (RFC 5256 section 3) want its Mailbox: for a group,
// the group's name. Broken addresses give what could be read: "Joe <joe@x"
// has Mailbox and Host, "Joe at x" only a Name.
func FirstAddress(raw, scratch []byte) (a Address, ok bool) {
	return FirstAddressCompat(raw, scratch, RFC)
}

// FirstAddressCompat is FirstAddress as c reads it. Dovecot differs: a
// missing local part is called MISSING_MAILBOX, a missing domain
// MISSING_DOMAIN, the domain of a broken address SYNTAX_ERROR and a broken
// route INVALID_ROUTE; a local part is one quoted string or atoms and dots
// without white space after the dots, so that a."b"@x has none.
func FirstAddressCompat(raw, scratch []byte, c Compat) (a Address, ok bool) {
	_, a, ok = firstAddress(scratch[:0], raw, c)
	return a, ok
}

// firstAddress appends the texts of the address to buf.
func firstAddress(buf, raw []byte, c Compat) (_ []byte, a Address, ok bool) {
	if buf == nil {
		buf = make([]byte, 0, 64) // nil would make empty texts absent ones
	}
	p := addressParser{lexer: lexer{b: raw}, buf: buf, dovecot: c == Dovecot, max: 1}
	if !p.skip() || p.end() {
		return buf, Address{}, false
	}
	p.list()
	return p.buf, p.first, p.count > 0
}

// AddressList returns the addresses of raw in order, with entries for the
// start and the end of each group; it ends early where raw cannot be
// understood. O(raw).
func AddressList(raw []byte) []Address { return AddressListCompat(raw, RFC) }

// AddressListCompat is AddressList as c reads it.
func AddressListCompat(raw []byte, c Compat) []Address {
	p := addressParser{lexer: lexer{b: raw}, buf: make([]byte, 0, len(raw)), dovecot: c == Dovecot, keep: true}
	if !p.skip() || p.end() {
		return nil
	}
	p.list()
	return p.all
}

// AppendDisplay appends the name that DISPLAYFROM and DISPLAYTO sort by (RFC
// 5957 section 3) to dst: the decoded display name of the first address of
// raw, else mailbox@host, else the mailbox or the name of a group, else nothing:
// an address without local part (RFC 5322 section 3.4.1 knows none) has no
// addr-mailbox, and then the host does not count. Dovecot fills it in.
func AppendDisplay(dst, raw []byte, c Compat) []byte {
	n := len(dst)
	// The parts of the address go behind dst, the answer behind them, and
	// then down to its place: no memory of our own.
	buf, a, ok := firstAddress(dst, raw, c)
	if !ok {
		return dst
	}
	start := len(buf)
	if len(a.Name) > 0 {
		// What a quoted name has at its ends is part of it.
		buf = decodeWords(buf, a.Name, c, nil)
	}
	if len(buf) == start && (len(a.Mailbox) > 0 || !a.Invalid) {
		buf = append(buf, a.Mailbox...)
		if len(a.Host) > 0 {
			buf = append(buf, '@')
			buf = append(buf, a.Host...)
		}
	}
	return append(buf[:n], buf[start:]...)
}

// result of a parsing step.
type result int8

const (
	broken result = iota - 1 // not understood; the position says nothing
	atEnd                    // understood, nothing follows
	more                     // understood, something follows
)

// addressParser reads an address-list. Its texts are pieces of buf.
type addressParser struct {
	lexer
	buf     []byte
	dovecot bool

	max   int // stop after so many entries; 0 = no limit
	count int
	first Address
	keep  bool // collect all
	all   []Address

	a Address // under construction
}

// rest is the result of having read everything up to here.
func (p *addressParser) rest(ok bool) result {
	switch {
	case !ok:
		return broken
	case p.end():
		return atEnd
	}
	return more
}

// cut returns the text appended to buf since start. It shares no capacity
// with what follows.
func (p *addressParser) cut(start int) []byte { return p.buf[start:len(p.buf):len(p.buf)] }

// add ends the address under construction.
func (p *addressParser) add() {
	if p.count == 0 {
		p.first = p.a
	}
	p.count++
	if p.keep {
		p.all = append(p.all, p.a)
	}
	p.a = Address{}
}

// done says whether enough addresses were read.
func (p *addressParser) done() bool { return p.max > 0 && p.count >= p.max }

// list reads address *("," address). Addresses left out between commas are
// none (RFC 5322 section 4.4); Dovecot counts those at the front.
func (p *addressParser) list() {
	for {
		if !p.dovecot && !p.commas() {
			return
		}
		if p.address() == atEnd || p.done() || p.peek() != ',' {
			return
		}
		p.i++
		if !p.skip() {
			// Behind the comma nothing but an unclosed comment.
			p.addFixed()
			return
		}
		if p.end() {
			return
		}
	}
}

// commas passes over commas with nothing between them. It tells whether
// something follows that is none.
func (p *addressParser) commas() bool {
	for !p.end() && p.peek() == ',' {
		p.i++
		if !p.skip() {
			return false
		}
	}
	return !p.end()
}

// address reads a group or a mailbox.
func (p *addressParser) address() result {
	start := p.i
	if r := p.group(); r != broken {
		return r
	}
	p.i = start
	return p.mailbox()
}

// group reads display-name ":" [mailbox-list] ";".
func (p *addressParser) group() result {
	mark := len(p.buf)
	if p.phrase() != more || p.peek() != ':' {
		p.buf = p.buf[:mark]
		return broken
	}
	p.i++
	ok := p.skip()
	p.a.Invalid = !ok || p.end()
	p.a.Group = true
	p.a.Mailbox = p.cut(mark)
	p.add()
	if p.done() {
		return more
	}
	if ok && !p.end() && p.peek() != ';' {
		for {
			if !p.dovecot && (!p.commas() || p.peek() == ';') {
				ok = !p.end()
				break
			}
			p.mailbox()
			if p.end() || p.peek() != ',' {
				break
			}
			p.i++
			if ok = p.skip(); !ok || p.end() {
				ok = false
				break
			}
		}
	}
	if ok = ok && p.peek() == ';'; ok {
		p.i++
		ok = p.skip()
	}
	p.a.Group, p.a.Invalid = true, !ok
	p.add()
	if ok && p.end() {
		return atEnd
	}
	return more
}

// mailbox reads a name-addr or an addr-spec and adds it.
func (p *addressParser) mailbox() result {
	start, mark := p.i, len(p.buf)
	r := p.nameAddr()
	if r == broken {
		p.i, p.buf = start, p.buf[:mark]
		r = p.addrSpec()
		if p.a.Invalid && p.a.Name == nil && p.a.Mailbox != nil && p.a.Host == nil {
			p.a.Name, p.a.Mailbox = p.a.Mailbox, nil
		}
	}
	if r == broken {
		p.a.Invalid = true
	}
	p.addFixed()
	return r
}

// nameAddr reads [phrase] "<" ... ">". Behind the "<" nothing is broken any
// more, only invalid.
func (p *addressParser) nameAddr() result {
	mark := len(p.buf)
	if p.phrase() != more || p.peek() != '<' {
		return broken
	}
	if len(p.buf) > mark {
		p.a.Name = p.cut(mark)
	}
	if !p.angle() {
		p.a.Invalid = true
		if p.dovecot {
			p.a.Host = []byte("SYNTAX_ERROR")
		}
	}
	if p.end() {
		return atEnd
	}
	return more
}

// angle reads "<" [route ":"] [local-part ["@" domain]] ">".
func (p *addressParser) angle() bool {
	p.i++
	if !p.skip() || p.end() {
		return false
	}
	if p.peek() == '@' {
		if p.route() && p.peek() == ':' {
			p.i++
		} else {
			if p.dovecot {
				p.a.Route = []byte("INVALID_ROUTE")
			}
			p.a.Invalid = true
			if p.end() {
				return false
			}
		}
		if !p.skip() || p.end() {
			return false
		}
	}
	if p.peek() != '>' {
		if p.localPart() != more {
			return false
		}
		if p.peek() == '@' && p.domainPart() != more {
			return false
		}
	}
	if p.peek() != '>' {
		return false
	}
	p.i++
	return p.skip()
}

// route reads "@" domain *("," "@" domain), and stops before what follows.
func (p *addressParser) route() bool {
	mark := len(p.buf)
	for p.peek() == '@' {
		if len(p.buf) > mark {
			p.buf = append(p.buf, ',')
		}
		p.buf = append(p.buf, '@')
		var ok bool
		p.i++
		if !p.skip() || p.end() {
			return false
		}
		if p.buf, ok = p.domain(p.buf); !ok || p.end() {
			return false
		}
		for p.skip() && p.peek() == ',' {
			p.i++
		}
	}
	if p.end() {
		return false
	}
	p.a.Route = p.cut(mark)
	return true
}

// addrSpec reads local-part "@" domain, or something without an "@".
func (p *addressParser) addrSpec() result {
	p.commentOff, p.commentEnd = 0, 0
	quoted := p.peek() == '"'
	mark := len(p.buf)
	r := p.localPart()
	if r != more {
		p.a.Invalid = true
	}
	domain := false
	if r != atEnd && p.peek() == '@' {
		d := p.domainPart()
		if d != more {
			r = d
		}
		domain = true
	}
	// RFC 822 mailers wrote "joe@x (Joe)".
	name := len(p.buf)
	p.buf = p.appendComment(p.buf)
	switch {
	case len(p.buf) > name:
		p.a.Name = p.cut(name)
	case !domain:
		// "Joe at x": words without an address are a name.
		p.a.Invalid = true
		p.buf = append(p.buf, ' ')
		n := len(p.buf)
		p.phrase()
		if len(p.buf) > n {
			p.a.Mailbox, p.a.Name = nil, p.cut(mark)
		} else {
			p.buf = p.buf[:n-1]
			if !quoted {
				p.a.Host = []byte{}
			}
		}
		r = broken
	}
	return r
}

// addFixed ends a mailbox and gives what is missing in it.
func (p *addressParser) addFixed() {
	if p.a.Mailbox == nil {
		p.a.Invalid = true
		p.a.Mailbox = []byte{}
		if p.dovecot {
			p.a.Mailbox = []byte("MISSING_MAILBOX")
		}
	}
	if len(p.a.Host) == 0 {
		p.a.Invalid = true
		p.a.Host = []byte{}
		if p.dovecot {
			p.a.Host = []byte("MISSING_DOMAIN")
		}
	}
	p.add()
}
