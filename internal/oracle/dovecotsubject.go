package oracle

import "strings"

// baseDovecot is the compat base subject, casemapped. It differs from RFC 5256
// section 2.1 and what that cites in five ways:
//
//   - A blank before a fold stays beside the blank that the fold becomes: "a \n
//     b" has two spaces. Only the first tab or line end of a subject suffers.
//   - Where the grammar says *WSP, one space is removed.
//   - Encoded-words are decoded wherever they stand, spaces inside them
//     allowed (RFC 2047 sections 2 and 5), and blank text before one vanishes
//     even after plain text that only looked like one.
//   - The casemap comes before the markers are looked for, so that full-width
//     letters make an "Re:" too.
//   - Text of an unknown charset is taken for UTF-8, its case left alone.
func baseDovecot(raw string) (key string, reply bool) {
	s := strings.Trim(strings.ReplaceAll(raw, "\r\n", "\n"), " \t\r\n")
	s = packDovecot(decodeDovecot(s, Dovecot.casemap))
	for {
		for {
			if t, ok := strings.CutSuffix(s, " "); ok {
				s = t
			} else if t, ok := strings.CutSuffix(s, "(FWD)"); ok {
				s, reply = t, true
			} else {
				break
			}
		}
		looked := len(s) // as in baseSubject
		for {
			before := s
			s = strings.TrimPrefix(s, " ")
			if len(s) <= looked {
				if rest, ok := cutLeaderDovecot(s); ok {
					s, reply = rest, true
				} else {
					looked = len(rest)
				}
			}
			if rest, ok := cutBlobDovecot(s); ok && rest != "" {
				s = rest
			}
			if s == before {
				break
			}
		}
		if !strings.HasPrefix(s, "[FWD:") || !strings.HasSuffix(s, "]") {
			return s, reply
		}
		s, reply = s[len("[FWD:"):len(s)-1], true
	}
}

// cutLeaderDovecot: without a leader, rest is what follows the blobs.
func cutLeaderDovecot(s string) (rest string, ok bool) {
	for {
		t, ok := cutBlobDovecot(s)
		if !ok {
			break
		}
		s = t
	}
	rest, ok = strings.CutPrefix(s, "RE")
	if !ok {
		rest, ok = strings.CutPrefix(s, "FWD")
	}
	if !ok {
		rest, ok = strings.CutPrefix(s, "FW")
	}
	if !ok {
		return s, false
	}
	rest = strings.TrimPrefix(rest, " ")
	rest, _ = cutBlobDovecot(rest)
	if rest, ok = strings.CutPrefix(rest, ":"); ok {
		return rest, true
	}
	return s, false
}

func cutBlobDovecot(s string) (rest string, ok bool) {
	if !strings.HasPrefix(s, "[") {
		return s, false
	}
	end := strings.IndexAny(s[1:], "[]")
	if end < 0 || s[1+end] == '[' {
		return s, false
	}
	return strings.TrimPrefix(s[1+end+1:], " "), true
}

// packDovecot packs blanks from the first tab, line end or double space on;
// what it finds there first becomes a space even if one stands before it.
func packDovecot(s string) string {
	first := len(s)
	for i := range len(s) {
		if s[i] == '\t' || s[i] == '\n' || s[i] == '\r' ||
			s[i] == ' ' && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t') {
			first = i
			break
		}
	}
	return s[:first] + packSpace(s[first:])
}

// decodeDovecot decodes encoded-words and applies normal to every piece but
// those of unknown charsets.
func decodeDovecot(s string, normal func(string) string) string {
	var out strings.Builder
	write := func(t string, normal func(string) string) {
		piece := textBuilder{}
		if strings.HasSuffix(out.String(), "\uFFFD") {
			piece.WriteString("\uFFFD") // a run of bad bytes may come in two pieces
		}
		n := piece.Len()
		piece.write(t)
		out.WriteString(normal(piece.String()[n:]))
	}
	s = strings.ReplaceAll(s, "\x00", "\x80") // Dovecot's header reader does this
	start := 0
	for pos := 0; ; {
		i := strings.Index(s[pos:], "=?")
		if i < 0 {
			break
		}
		pos += i
		if strings.Trim(s[start:pos], " \t\r\n") != "" {
			write(s[start:pos], normal)
		}
		start = pos
		part := strings.SplitN(s[pos+2:], "?", 4)
		if len(part) < 4 || !strings.HasPrefix(part[3], "=") || part[1] == "" {
			pos += 2
			continue
		}
		var text string
		switch part[1][0] {
		case 'q', 'Q':
			text = decodeQ(part[2])
		case 'b', 'B':
			text = decodeB(part[2])
		default:
			pos += 2
			continue
		}
		pos += 2 + len(part[0]) + 1 + len(part[1]) + 1 + len(part[2]) + 2
		start = pos
		if text == "" {
			continue
		}
		if decoded, ok := convert(part[0], text); ok {
			write(decoded, normal)
		} else {
			write(decoded, func(s string) string { return s })
		}
	}
	if start < len(s) {
		write(s[start:], normal)
	}
	return out.String()
}
