package sort

import "mailbench/internal/rfc5322"

// BaseSubject appends the base subject of a raw Subject value (folds and
// encoded words included) to dst: RFC 5256 section 2.1. reply says whether a
// reply or forward mark was removed. The case is kept; compare by Casemap, or
// use SubjectKey. Linear in len(raw); allocates only to grow dst and for
// charsets other than UTF-8.
func BaseSubject(dst, raw []byte) (base []byte, reply bool) { return RFC.BaseSubject(dst, raw) }

// BaseSubject is the function of that name, as c wants it. Dovecot's is
// casemapped already, because it casemaps first.
func (c Compat) BaseSubject(dst, raw []byte) (base []byte, reply bool) {
	if c == Dovecot {
		return baseDovecot(dst, raw)
	}
	start := len(dst)
	// (1) Convert encoded-words to UTF-8 ...
	dst = rfc5322.DecodeWords(dst, raw)
	return baseTail(dst, start)
}

// SubjectKey appends the casemapped base subject of a raw Subject value: equal
// keys are equal subjects for SORT and THREAD, and byte order is sort order.
func SubjectKey(dst, raw []byte) (key []byte, reply bool) { return RFC.SubjectKey(dst, raw) }

// SubjectKey is the function of that name, as c wants it.
func (c Compat) SubjectKey(dst, raw []byte) (key []byte, reply bool) {
	start := len(dst)
	dst, reply = c.BaseSubject(dst, raw)
	if c != Dovecot {
		dst = casemapTail(c, dst, start)
	}
	return dst, reply
}

// BaseDecoded is BaseSubject for a subject that is UTF-8 already.
func BaseDecoded(dst, subject []byte) (base []byte, reply bool) {
	start := len(dst)
	return baseTail(append(dst, subject...), start)
}

// baseTail replaces the decoded subject dst[start:] by its base subject.
func baseTail(dst []byte, start int) ([]byte, bool) {
	s := collapse(dst[start:])
	lo, hi, reply := strip(s)
	n := copy(s, s[lo:hi])
	return dst[:start+n], reply
}

// collapse turns each run of white space into one space, in place. RFC 5256
// section 2.1 (1) names tabs, continuations and spaces; what is left of a
// continuation, also one that an encoded word smuggled in, is CR and LF.
func collapse(s []byte) []byte {
	i := 0
	for ; i < len(s); i++ {
		if c := s[i]; c <= ' ' && isSpace(c) && (c != ' ' || (i+1 < len(s) && isSpace(s[i+1]))) {
			break
		}
	}
	w, space := i, false
	for _, c := range s[i:] {
		if isSpace(c) {
			if !space {
				s[w] = ' '
				w++
			}
			space = true
			continue
		}
		s[w] = c
		w++
		space = false
	}
	return s[:w]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// strip returns the bounds of the base subject of s, in which white space is
// single spaces.
//
// It is linear although the RFC's steps, taken literally, are not: of
// "[a][b][c]...x" step (3) would look at all the blobs, find no re: behind
// them, step (4) would remove one, and so on. Here the blobs are walked once;
// if no re: or fw: stands behind them none does behind fewer of them, so step
// (4) may take all at once. A failed search for a closing bracket ends the
// round, and each further round, step (6), has removed the opening bracket.
func strip(s []byte) (lo, hi int, reply bool) {
	hi = len(s)
	for {
		// (2) Remove subj-trailer = "(fwd)" / WSP, repeatedly.
		for hi > lo {
			if s[hi-1] == ' ' {
				hi--
			} else if hi-lo >= 5 && foldEqual(s[hi-5:hi], "(fwd)") {
				hi -= 5
				reply = true
			} else {
				break
			}
		}
		for {
			// (3) Remove subj-leader = (*subj-blob subj-refwd) / WSP.
			if lo < hi && s[lo] == ' ' {
				lo++
				continue
			}
			p, last := lo, lo
			for {
				q := blob(s, p, hi)
				if q < 0 {
					break
				}
				last, p = p, q
			}
			if q := refwd(s, p, hi); q >= 0 {
				lo = q
				reply = true
				continue
			}
			// (4) Remove blobs as long as something is left. (5) Nothing
			// that (3) could remove follows.
			if p == hi {
				lo = last
				break
			}
			lo = p
			if s[lo] != ' ' { // only Dovecot leaves two spaces
				break
			}
		}
		// (6) "[fwd:" subject "]": once more from (2).
		if hi-lo < 6 || s[hi-1] != ']' || !foldEqual(s[lo:lo+5], "[fwd:") {
			// (7)
			return lo, hi, reply
		}
		lo, hi = lo+5, hi-1
		reply = true
	}
}

// blob returns the end of subj-blob = "[" *BLOBCHAR "]" *WSP at p, or -1.
func blob(s []byte, p, hi int) int {
	if p >= hi || s[p] != '[' {
		return -1
	}
	for p++; p < hi && s[p] != '[' && s[p] != ']'; p++ {
	}
	if p >= hi || s[p] != ']' {
		return -1
	}
	p++
	if p < hi && s[p] == ' ' {
		p++
	}
	return p
}

// refwd returns the end of subj-refwd = ("re" / ("fw" ["d"])) *WSP [subj-blob] ":"
// at p, or -1.
func refwd(s []byte, p, hi int) int {
	if hi-p < 3 {
		return -1
	}
	switch {
	case s[p]|0x20 == 'r' && s[p+1]|0x20 == 'e':
		p += 2
	case s[p]|0x20 == 'f' && s[p+1]|0x20 == 'w':
		p += 2
		if s[p]|0x20 == 'd' {
			p++
		}
	default:
		return -1
	}
	if p < hi && s[p] == ' ' {
		p++
	}
	if p < hi && s[p] == '[' {
		if p = blob(s, p, hi); p < 0 {
			return -1
		}
	}
	if p >= hi || s[p] != ':' {
		return -1
	}
	return p + 1
}

// foldEqual compares b with lower, which is lower-case ASCII or punctuation.
func foldEqual(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range len(lower) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
