package rfc5322

import "bytes"

// NextID returns the first message id of raw, the raw value of a Message-ID,
// In-Reply-To or References field, without its brackets, and the rest of raw
// behind it; ok is false when there is none. What an id is:
//
//   - What stands outside < > is passed over: prose, commas, comments.
//   - Text between < and the next > is an id if it has an "@" in it; white
//     space in it is dropped, everything else kept as it is; nothing is
//     decoded. Another < begins anew (it is no atext, RFC 5322 3.2.3): in
//     "<a@x <b@x>" the first id lacks its end. To Dovecot these are one id;
//     that is not imitated.
//   - If a quote or a parenthesis comes before the >, the text is read as the
//     msg-id of RFC 5322 3.6.4 and 4.5.4: comments and quotes are removed, so
//     that <"ab"@c> equals <ab@c> (RFC 5256 section 3, REFERENCES). If it is
//     none, the search goes on right behind the <.
//
// Id bytes compare exactly (RFC 5256: case matters). The id is a piece of raw
// or, when something was removed, of newScratch; it is valid until the next
// call with that scratch. O(raw) over all calls; no allocation once scratch
// holds the longest id.
func NextID(raw, scratch []byte) (id, rest, newScratch []byte, ok bool) {
	for i := 0; ; {
		n := bytes.IndexByte(raw[i:], '<')
		if n < 0 {
			return nil, nil, scratch, false
		}
		i += n + 1
		stop, found, space := idStop(raw, i)
		switch {
		case stop < 0:
			return nil, nil, scratch, false
		case raw[stop] == '<':
			i = stop
			continue
		case raw[stop] != '>':
			if id, end, ok := slowID(raw[i:], scratch[:0]); ok {
				return id, raw[i+end:], id, true
			}
			continue
		case !found:
			i = stop + 1
			continue
		}
		id = raw[i:stop:stop]
		if space {
			id = appendWithoutSpace(scratch[:0], id)
			scratch = id
		}
		return id, raw[stop+1:], scratch, true
	}
}

// idStop finds the first < > " or ( in raw from i on, and whether an "@" and
// white space come before it. stop is -1 when there is none.
func idStop(raw []byte, i int) (stop int, at, space bool) {
	for ; i < len(raw); i++ {
		switch c := raw[i]; {
		case c > '@':
		case c == '@':
			at = true
		case c == '<' || c == '>' || c == '"' || c == '(':
			return i, at, space
		case isLWSP(c):
			space = true
		}
	}
	return -1, false, false
}

func appendWithoutSpace(dst, b []byte) []byte {
	for _, c := range b {
		if !isLWSP(c) {
			dst = append(dst, c)
		}
	}
	return dst
}

// maxSlowID bounds what is read of one id that holds quotes or comments, so
// that a field made of "<(" costs no more than a constant for each.
const maxSlowID = 1024

// slowID reads b, the bytes behind a "<", as id-left "@" id-right ">" with
// comments, quotes and white space, and appends the id without them to dst.
// end is the offset behind the ">".
//
//	id-left  = dot-atom / quoted-string
//	id-right = dot-atom / "[" dtext "]"
//
// Other mixtures of words and dots, which RFC 5322 4.5.4 knows as obs-id-left,
// are not ids: Dovecot does not take <a."b"@c> for one either.
func slowID(b, dst []byte) (id []byte, end int, ok bool) {
	l := lexer{b: b[:min(len(b), maxSlowID)]}
	if !l.skip() {
		return dst, 0, false
	}
	if l.peek() == '"' {
		if dst, ok = l.quoted(dst); !ok || !l.skip() {
			return dst, 0, false
		}
	} else if dst, ok = l.dotAtom(dst); !ok {
		return dst, 0, false
	}
	if l.peek() != '@' {
		return dst, 0, false
	}
	dst = append(dst, '@')
	l.i++
	if !l.skip() {
		return dst, 0, false
	}
	if dst, ok = l.domain(dst); !ok || l.peek() != '>' {
		return dst, 0, false
	}
	return dst, l.i + 1, true
}

// domain appends the domain or domain literal that begins here to dst and
// passes over the comments and white space behind it (RFC 5322 3.4.1, 4.4).
func (l *lexer) domain(dst []byte) (_ []byte, ok bool) {
	if l.peek() == '[' {
		return l.literal(dst)
	}
	return l.dotAtom(dst)
}

// literal appends the domain literal that begins here to dst, brackets and
// backslashes included.
func (l *lexer) literal(dst []byte) (_ []byte, ok bool) {
	for start := l.i; l.i+1 < len(l.b); {
		l.i++
		switch l.b[l.i] {
		case '[':
			return dst, false
		case '\\':
			l.i++ // takes the meaning off the next byte
		case ']':
			l.i++
			return appendUnfolded(dst, l.b[start:l.i]), l.skip()
		}
	}
	l.i = len(l.b)
	return dst, false
}

// dotAtom appends the atoms that begin here and the dots between them to dst
// and passes over the comments and white space around each.
func (l *lexer) dotAtom(dst []byte) (_ []byte, ok bool) {
	for {
		a := l.atom()
		if len(a) == 0 || !l.skip() {
			return dst, false
		}
		dst = append(dst, a...)
		if l.peek() != '.' {
			return dst, true
		}
		dst = append(dst, '.')
		l.i++
		if !l.skip() {
			return dst, false
		}
	}
}

// FirstID returns the first id of raw as NextID does.
func FirstID(raw, scratch []byte) (id, newScratch []byte, ok bool) {
	id, _, scratch, ok = NextID(raw, scratch)
	return id, scratch, ok
}

// EachID calls fn with each id of raw, as NextID finds them, until fn returns
// false. fn must not keep the id. It returns the scratch for the next call.
func EachID(raw, scratch []byte, fn func(id []byte) bool) (newScratch []byte) {
	for {
		var id []byte
		var ok bool
		if id, raw, scratch, ok = NextID(raw, scratch); !ok || !fn(id) {
			return scratch
		}
	}
}
