package session

import (
	"strconv"
	"strings"
)

// macros are the short names of fetch items (RFC 3501 section 6.4.5).
var macros = map[string][]item{
	"ALL":  {{kind: kindFlags}, {kind: kindDate}, {kind: kindSize}, {kind: kindEnvelope}},
	"FAST": {{kind: kindFlags}, {kind: kindDate}, {kind: kindSize}},
	"FULL": {{kind: kindFlags}, {kind: kindDate}, {kind: kindSize}, {kind: kindEnvelope}, {kind: kindBody}},
}

// maxItems bounds the items of one FETCH.
const maxItems = 256

// fetchItems reads what FETCH asks for.
func (p *parser) fetchItems() []item {
	if p.peek() == '(' {
		var items []item
		p.list(func() {
			if items = append(items, p.fetchItem()); len(items) > maxItems {
				p.fail("more than %d items", maxItems)
			}
		})
		if p.err == nil && len(items) == 0 {
			p.fail("nothing to fetch")
		}
		return items
	}
	at := p.at
	if m, ok := macros[strings.ToUpper(p.itemName())]; ok {
		return m
	}
	p.at = at
	return []item{p.fetchItem()}
}

// itemName is an atom that a bracket ends, too.
func (p *parser) itemName() string { return p.word(atomStop + "[") }

func (p *parser) fetchItem() item {
	name := strings.ToUpper(p.itemName())
	switch name {
	case "FLAGS":
		return item{kind: kindFlags}
	case "UID":
		return item{kind: kindUID}
	case "INTERNALDATE":
		return item{kind: kindDate}
	case "RFC822.SIZE":
		return item{kind: kindSize}
	case "ENVELOPE":
		return item{kind: kindEnvelope}
	case "BODYSTRUCTURE":
		return item{kind: kindStructure}
	case "RFC822":
		return item{kind: kindSection, section: section{label: name}}
	case "RFC822.HEADER":
		return item{kind: kindSection, section: section{label: name, want: wantHeader, peek: true}}
	case "RFC822.TEXT":
		return item{kind: kindSection, section: section{label: name, want: wantText}}
	case "BODY", "BODY.PEEK":
		if p.peek() == '[' {
			s := p.section()
			s.peek = name == "BODY.PEEK"
			return item{kind: kindSection, section: s}
		}
		if name == "BODY" {
			return item{kind: kindBody}
		}
	}
	p.fail("nothing is known of fetch item %s", name)
	return item{}
}

// section reads "[1.2.HEADER.FIELDS (TO)]<0.10>".
func (p *parser) section() section {
	var s section
	p.want('[')
	for p.peek() >= '1' && p.peek() <= '9' {
		if s.path = append(s.path, int(p.number())); len(s.path) > 64 {
			p.fail("parts too deep")
		}
		if !p.is('.') {
			break
		}
	}
	var label strings.Builder
	for i, n := range s.path {
		if i > 0 {
			label.WriteByte('.')
		}
		label.WriteString(strconv.Itoa(n))
	}
	if p.peek() != ']' {
		if n := len(s.path); n > 0 && p.b[p.at-1] != '.' {
			p.fail("a section that is none")
		}
		word := strings.ToUpper(p.atom())
		if len(s.path) > 0 {
			label.WriteByte('.')
		}
		label.WriteString(word)
		switch word {
		case "HEADER":
			s.want = wantHeader
		case "TEXT":
			s.want = wantText
		case "MIME":
			if s.want = wantMIME; len(s.path) == 0 {
				p.fail("MIME of no part")
			}
		case "HEADER.FIELDS", "HEADER.FIELDS.NOT":
			if s.want = wantFields; len(word) > len("HEADER.FIELDS") {
				s.want = wantNotFields
			}
			p.sp()
			p.list(func() { s.fields = append(s.fields, p.astring()) })
			if p.err == nil && len(s.fields) == 0 {
				p.fail("no header fields are named")
			}
			label.WriteString(" (")
			for i, f := range s.fields {
				if i > 0 {
					label.WriteByte(' ')
				}
				label.WriteString(fieldLabel(f))
			}
			label.WriteByte(')')
		default:
			p.fail("nothing is known of section %s", word)
		}
	} else if n := len(s.path); n > 0 && p.b[p.at-1] == '.' {
		p.fail("a section that ends in a dot")
	}
	p.want(']')
	if p.is('<') {
		s.partial = true
		s.off = p.number()
		p.want('.')
		if s.n = p.number(); p.err == nil && s.n == 0 {
			p.fail("a part of no bytes")
		}
		p.want('>')
	}
	s.label = "BODY[" + label.String() + "]"
	return s
}

// fieldLabel names a field in an answer.
func fieldLabel(name string) string {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' || strings.IndexByte(astringStop, c) >= 0 {
			return string(appendName(nil, name))
		}
	}
	if name == "" {
		return `""`
	}
	return strings.ToUpper(name)
}
