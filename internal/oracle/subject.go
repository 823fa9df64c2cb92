package oracle

import "strings"

// subjectKey returns the base subject as threads and sorts compare it.
func (c Compat) subjectKey(raw string) (key string, reply bool) {
	if c == Dovecot {
		return baseDovecot(raw)
	}
	base, reply := baseSubject(raw)
	return c.casemap(base), reply
}

// baseSubject: RFC 5256 section 2.1, step by step.
func baseSubject(raw string) (base string, reply bool) {
	// (1) Convert any RFC 2047 encoded-words in the subject to UTF-8. Convert
	// all tabs and continuations to space. Convert all multiple spaces to a
	// single space.
	s := packSpace(decodeWords(unfold(raw)))
	for {
		// (2) Remove all trailing text of the subject that matches the
		// subj-trailer ABNF; repeat until no more matches are possible.
		//   subj-trailer = "(fwd)" / WSP
		for {
			if t := strings.TrimRight(s, " "); t != s {
				s = t
			} else if hasSuffixFold(s, "(fwd)") {
				s, reply = s[:len(s)-5], true
			} else {
				break
			}
		}
		looked := len(s) // no leader begins before the last so many bytes
		for {
			before := s
			// (3) Remove all prefix text of the subject that matches the
			// subj-leader ABNF.
			//   subj-leader = (*subj-blob subj-refwd) / WSP
			s = strings.TrimLeft(s, " ")
			if len(s) <= looked {
				if rest, ok := cutLeader(s); ok {
					s, reply = rest, true
				} else {
					looked = len(rest)
				}
			}
			// (4) If there is prefix text of the subject that matches the
			// subj-blob ABNF, and removing that prefix leaves a non-empty
			// subj-base, then remove the prefix text.
			if rest, ok := cutBlob(s); ok && rest != "" {
				s = rest
			}
			// (5) Repeat (3) and (4) until no matches remain.
			if s == before {
				break
			}
		}
		// (6) If the resulting text begins with the subj-fwd-hdr ABNF and ends
		// with the subj-fwd-trl ABNF, remove them and repeat from step (2).
		//   subj-fwd-hdr = "[fwd:"   subj-fwd-trl = "]"
		if !hasPrefixFold(s, "[fwd:") || !strings.HasSuffix(s, "]") {
			return s, reply // (7)
		}
		s, reply = s[len("[fwd:"):len(s)-1], true
	}
}

// cutLeader removes *subj-blob subj-refwd. If that is not there, rest is what
// follows the blobs: a look from behind one of them would end there too, and a
// thousand blobs would be a million looks.
//
//	subj-refwd = ("re" / ("fw" ["d"])) *WSP [subj-blob] ":"
func cutLeader(s string) (rest string, ok bool) {
	for {
		t, ok := cutBlob(s)
		if !ok {
			break
		}
		s = t
	}
	switch {
	case hasPrefixFold(s, "re"):
		rest = s[2:]
	case hasPrefixFold(s, "fwd"):
		rest = s[3:]
	case hasPrefixFold(s, "fw"):
		rest = s[2:]
	default:
		return s, false
	}
	rest = strings.TrimLeft(rest, " ")
	if t, ok := cutBlob(rest); ok {
		rest = t
	}
	if rest, ok = strings.CutPrefix(rest, ":"); ok {
		return rest, true
	}
	return s, false
}

// cutBlob removes one subj-blob.
//
//	subj-blob = "[" *BLOBCHAR "]" *WSP
//	BLOBCHAR  = any CHAR except "[" and "]"
func cutBlob(s string) (rest string, ok bool) {
	if !strings.HasPrefix(s, "[") {
		return s, false
	}
	end := strings.IndexAny(s[1:], "[]")
	if end < 0 || s[1+end] == '[' {
		return s, false
	}
	return strings.TrimLeft(s[1+end+1:], " "), true
}

// packSpace makes one space of each run of blanks.
func packSpace(s string) string {
	var out strings.Builder
	space := false
	for i := range len(s) {
		switch b := s[i]; b {
		case ' ', '\t', '\r', '\n':
			if !space {
				out.WriteByte(' ')
			}
			space = true
		default:
			out.WriteByte(b)
			space = false
		}
	}
	return out.String()
}

// ABNF strings are compared without case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}
