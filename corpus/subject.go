package corpus

import "strconv"

// A subjectKey decides a base subject: its kind in the low four bits, the
// words in the others. The text is a function of the key alone.
type subjectKey uint64

const (
	subjWords subjectKey = iota // "mm: fix stale lock in queue 12"
	subjShort                   // one of shortSubjects, shared by unrelated threads
	subjIntl                    // one of intlSubjects
	subjBlob                    // one of blobSubjects
	subjEmpty                   // no base subject
	subjFixed                   // the one subject of shape OneSubject
)

func newSubject(r *rng) subjectKey {
	key := subjectKey(r.next())
	switch k := r.intn(10000); {
	case k < 65:
		return key.as(subjIntl)
	case k < 115:
		return key.as(subjShort)
	case k < 117:
		return key.as(subjBlob)
	}
	return key.as(subjWords)
}

// as returns the key of another kind with the same other bits.
func (k subjectKey) as(kind subjectKey) subjectKey { return k&^15 | kind }

func (k subjectKey) kind() subjectKey { return k & 15 }

func (k subjectKey) index(n int) int { return int(uint64(k) >> 4 % uint64(n)) }

// appendText writes the base subject, decoded, as RFC 5256 section 2.1 leaves
// it: no leading or trailing space, no "re", no blob in front.
func (k subjectKey) appendText(dst []byte) []byte {
	switch k.kind() {
	case subjShort:
		return append(dst, shortSubjects[k.index(len(shortSubjects))]...)
	case subjIntl:
		return append(dst, intlSubjects[k.index(len(intlSubjects))].text...)
	case subjBlob:
		return append(dst, blobSubjects[k.index(len(blobSubjects))]...)
	case subjEmpty:
		return dst
	case subjFixed:
		return append(dst, "all in one thread"...)
	}
	r := rng(k)
	dst = append(append(dst, subsystems[r.intn(len(subsystems))]...), ": "...)
	dst = append(append(dst, verbs[r.intn(len(verbs))]...), ' ')
	if r.intn(2) == 0 {
		dst = append(append(dst, adjectives[r.intn(len(adjectives))]...), ' ')
	}
	dst = append(append(dst, nouns[r.intn(len(nouns))]...), ' ')
	dst = append(append(dst, prepositions[r.intn(len(prepositions))]...), ' ')
	dst = append(dst, nouns[r.intn(len(nouns))]...)
	if r.intn(2) == 0 {
		dst = append(append(append(dst, " to "...), verbs[r.intn(len(verbs))]...), ' ')
		dst = append(append(append(dst, adjectives[r.intn(len(adjectives))]...), ' '), nouns[r.intn(len(nouns))]...)
	}
	switch r.intn(4) {
	case 0:
		dst = strconv.AppendInt(append(dst, ' '), int64(r.intn(1000)), 10)
	case 1:
		dst = append(append(dst, ' '), nouns[r.intn(len(nouns))]...)
	}
	return dst
}

// A subjectForm is what stands around the base subject.
type subjectForm uint8

const (
	formPlain      subjectForm = iota
	formList                   // [list] base
	formBlob                   // [PATCH v2 3/7] base
	formRe                     // Re: base, and everything below is a reply or forward too
	formReUpper                // RE: base
	formReNoSpace              // re:base
	formReCount                // Re[2]: base
	formReSpaced               // Re [3] : base
	formReRe                   // Re: Re: base
	formReList                 // Re: [list] base
	formListRe                 // [list] Re: base
	formReBlob                 // Re: [PATCH v2 3/7] base
	formFwd                    // Fwd: base
	formFw                     // FW: base
	formFwdTrailer             // base (fwd)
	formFwdAround              // [Fwd: base]
	formNone                   // no Subject field
)

// isReply says what RFC 5256 section 2.1 calls a reply or forward.
func (f subjectForm) isReply() bool { return f >= formRe && f < formNone }

// series is the blob of a patch: [PATCH v2 3/7]. A zero total is [PATCH].
type series struct{ version, part, total uint8 }

func (s series) append(dst []byte) []byte {
	dst = append(dst, "[PATCH"...)
	if s.version > 1 {
		dst = append(append(dst, " v"...), '0'+s.version%10)
	}
	if s.total > 0 {
		dst = append(dst, ' ')
		if s.total > 9 && s.part < 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendInt(dst, int64(s.part), 10)
		dst = strconv.AppendInt(append(dst, '/'), int64(s.total), 10)
	}
	return append(dst, "] "...)
}

// A subjectEncoding is how the base subject's characters are written.
type subjectEncoding uint8

const (
	encPlain   subjectEncoding = iota
	encWords                   // encoded words, charset and B or Q by chance
	encRaw8bit                 // raw UTF-8
	encSpaces                  // blanks doubled or turned to tabs, RFC 5256 section 2.1 (1)
)

// appendSubject writes the value of the Subject field, folded where long.
func appendSubject(dst []byte, p *plan, r *rng) []byte {
	list := lists[p.list]
	start := len(dst)
	tail := ""
	switch p.form {
	case formList:
		dst = append(append(append(dst, '['), list...), "] "...)
	case formBlob:
		dst = p.series.append(dst)
	case formRe:
		dst = append(dst, "Re: "...)
	case formReUpper:
		dst = append(dst, "RE: "...)
	case formReNoSpace:
		dst = append(dst, "re:"...)
	case formReCount:
		dst = append(dst, "Re[2]: "...)
	case formReSpaced:
		dst = append(dst, "Re [3] : "...)
	case formReRe:
		dst = append(dst, "Re: Re: "...)
	case formReList:
		dst = append(append(append(dst, "Re: ["...), list...), "] "...)
	case formListRe:
		dst = append(append(append(dst, '['), list...), "] Re: "...)
	case formReBlob:
		dst = p.series.append(append(dst, "Re: "...))
	case formFwd:
		dst = append(dst, "Fwd: "...)
	case formFw:
		dst = append(dst, "FW: "...)
	case formFwdTrailer:
		tail = " (fwd)"
	case formFwdAround:
		dst = append(dst, "[Fwd: "...)
		tail = "]"
	}
	switch {
	case p.enc == encWords && p.subject.kind() == subjIntl:
		forms := encodedSubjects()[p.subject.index(len(intlSubjects))]
		dst = append(dst, forms[r.intn(len(forms))]...)
	case p.enc == encWords:
		dst = appendEncoded(dst, "us-ascii", 'Q', string(p.subject.appendText(nil)))
	default:
		from := len(dst)
		dst = p.subject.appendText(dst)
		if p.enc == encSpaces {
			dst = widen(dst, from)
		}
	}
	dst = append(dst, tail...)
	if p.enc == encPlain && len(dst)-start > 66 {
		dst = foldAt(dst, start, 60)
	}
	return dst
}

// widen doubles the first space after from and turns the next into a tab.
func widen(dst []byte, from int) []byte {
	seen := 0
	for i := from; i < len(dst); i++ {
		if dst[i] != ' ' {
			continue
		}
		if seen++; seen == 2 {
			dst[i] = '\t'
			break
		}
		dst = append(dst, 0)
		copy(dst[i+1:], dst[i:])
		i++
	}
	return dst
}

// foldAt breaks the line at the last space at or before column col.
func foldAt(dst []byte, start, col int) []byte {
	for i := start + col; i > start; i-- {
		if dst[i] == ' ' && dst[i-1] != ' ' {
			dst = append(dst, 0)
			copy(dst[i+1:], dst[i:])
			dst[i] = '\n'
			break
		}
	}
	return dst
}
