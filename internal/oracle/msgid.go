package oracle

import "strings"

var removeBlanks = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "")

// messageIDs returns the msg-ids (RFC 5322 section 3.6.4) of a raw value, in
// order, without brackets. All between < and > that has an @ is an id, taken
// as it stands save for white space; quotes, comments and literals are read by
// the grammar, so that <"a"@b> and <a@b> are one (RFC 5256 section 3).
//
// Dovecot takes a < inside for a part of the id, and knows no literals beside
// comments; neither is imitated, as no answer is known to show it.
func messageIDs(raw string) []string {
	var ids []string
	for {
		open := strings.IndexByte(raw, '<')
		if open < 0 {
			return ids
		}
		raw = raw[open+1:]
		end := strings.IndexAny(raw, `<>"(`)
		if end < 0 {
			return ids
		}
		switch {
		case raw[end] == '>':
			if id := removeBlanks.Replace(raw[:end]); strings.Contains(id, "@") {
				ids = append(ids, id)
			}
			raw = raw[end+1:]
		case raw[end] == '<':
			// RFC 5322 section 3.2.3: no atom holds a <; a new id starts here.
			raw = raw[end:]
		default:
			p := &scanner{s: raw}
			if id, ok := msgID(p); ok {
				ids = append(ids, id)
				raw = p.s
			}
		}
	}
}

// msgID takes id-left "@" id-right ">" with quotes, comments and literals.
func msgID(p *scanner) (string, bool) {
	if !p.skipCFWS() {
		return "", false
	}
	left, ok := p.quoted() // id-left in its obsolete, quoted form
	if ok {
		ok = p.skipCFWS()
	} else {
		left, ok = p.dotAtom()
	}
	if !ok || !p.take('@') || !p.skipCFWS() {
		return "", false
	}
	var right string
	if p.peek() == '[' {
		right, ok = p.literal()
		ok = ok && p.skipCFWS()
	} else {
		right, ok = p.dotAtom()
	}
	if !ok || !p.take('>') {
		return "", false
	}
	return left + "@" + right, true
}
