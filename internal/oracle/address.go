package oracle

import "strings"

// addressKeys returns the SORT FROM/TO/CC key (addr-mailbox of the first
// address, RFC 5256 section 3) and the RFC 5957 display key, casemapped.
func (c Compat) addressKeys(raw string) (mailbox, display string) {
	a, ok := c.firstAddress(raw)
	if !ok {
		return "", ""
	}
	display = decodeWords(a.name)
	if c == Dovecot {
		display = decodeDovecot(a.name, func(s string) string { return s })
	}
	if display == "" {
		display = a.mailbox
		switch {
		case c == Dovecot && !a.hasMailbox:
			display = missingMailbox
		case !a.hasMailbox:
			// addr-mailbox is NIL: RFC 5957 section 3, last paragraph of the list.
			return c.casemap(missingMailbox), ""
		}
		// compat: Dovecot fills in what is missing here too.
		switch {
		case c == Dovecot && !a.group && a.broken:
			display += "@SYNTAX_ERROR"
		case c == Dovecot && !a.group && (a.host == "" || a.lostRoute):
			display += "@MISSING_DOMAIN"
		case a.host != "":
			display += "@" + a.host
		}
	}
	mailbox = a.mailbox
	if !a.hasMailbox {
		mailbox = missingMailbox
	}
	return c.casemap(toUTF8(mailbox)), c.casemap(toUTF8(display))
}

type address struct {
	name, mailbox, host string
	hasMailbox, hasHost bool
	group, broken       bool // a group's name; no ">" where one must be
	lostRoute           bool // "<@host>": a route that no address follows
}

// firstAddress reads the first address of a list (RFC 5322 section 3.4). The
// mailbox of a group is its name (RFC 3501 section 7.4.2, ENVELOPE).
//
// No RFC says what the mailbox of a malformed address is. Here, as in
// Dovecot's ENVELOPE: a lone word is a mailbox, several words without an @
// ("joe at example.org") are none, and an address without mailbox sorts as
// missingMailbox. False when the field is blank or absent.
func (c Compat) firstAddress(raw string) (address, bool) {
	p := &scanner{s: raw}
	ok := p.skipCFWS()
	for ok && c != Dovecot && p.take(',') { // obs-addr-list, section 4.4
		ok = p.skipCFWS()
	}
	if !ok || p.s == "" {
		return address{}, false
	}
	return p.address(), true
}

const missingMailbox = "MISSING_MAILBOX"

func (p *scanner) address() address {
	start := p.s
	if phrase, ok := p.phrase(); ok {
		switch p.peek() {
		case ':':
			return address{mailbox: phrase, hasMailbox: true, group: true}
		case '<':
			p.take('<')
			p.skipCFWS()
			lostRoute := false
			if p.peek() == '@' { // obs-route, section 4.4
				i := strings.IndexAny(p.s, ":>")
				if lostRoute = i < 0 || p.s[i] != ':'; !lostRoute {
					p.s = p.s[i+1:]
					p.skipCFWS()
				}
			}
			a := p.addrSpec()
			a.name, a.lostRoute, a.broken = phrase, lostRoute, !p.take('>')
			return a
		}
	}
	p.s, p.comment = start, ""
	quoted := p.peek() == '"'
	a := p.addrSpec()
	a.name = p.comment // the name stands in a comment: RFC 822's old habit
	if a.name == "" && !a.hasHost {
		if more, _ := p.phrase(); more != "" {
			a.name, a.mailbox, a.hasMailbox = a.mailbox+" "+more, "", false
		} else if quoted {
			a.name, a.mailbox, a.hasMailbox = a.mailbox, "", false
		}
	}
	return a
}

// phrase takes words and dots (sections 3.2.5 and 4.1), with one space
// between; it may be empty. False at a leading dot, an open quote and the end.
func (p *scanner) phrase() (string, bool) {
	if p.peek() == '.' {
		return "", false
	}
	var words []string
	for {
		switch c := p.peek(); {
		case c == '"':
			w, ok := p.quoted()
			if !ok { // the space in front of it stays
				return strings.Join(append(words, ""), " "), false
			}
			words = append(words, w)
		case isAtext(c) || c == '.':
			n := 0
			for n < len(p.s) && (isAtext(p.s[n]) || p.s[n] == '.') {
				n++
			}
			words = append(words, p.s[:n])
			p.s = p.s[n:]
		default:
			return strings.Join(words, " "), p.s != ""
		}
		if !p.skipCFWS() {
			return strings.Join(words, " "), false
		}
	}
}

// addrSpec takes local-part ["@" domain].
func (p *scanner) addrSpec() address {
	var a address
	if p.peek() == '"' {
		a.mailbox, a.hasMailbox = p.quoted()
		p.skipCFWS()
	} else if isAtext(p.peek()) {
		a.mailbox, a.hasMailbox = p.dotAtom()
	}
	if p.take('@') {
		a.hasHost = true
		p.skipCFWS()
		if p.peek() == '[' {
			a.host, _ = p.literal()
			p.skipCFWS()
		} else {
			a.host, _ = p.dotAtom()
		}
	}
	return a
}
