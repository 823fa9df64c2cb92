package sort

import (
	"bytes"

	"mailbench/internal/rfc5322"
)

// baseDovecot is Dovecot's base subject: casemapped before anything is removed,
// and white space packed its way.
func baseDovecot(dst, raw []byte) (base []byte, reply bool) {
	start := len(dst)
	if bytes.IndexByte(raw, '\n') >= 0 {
		// The decoder unfolds, but Dovecot packs with the line ends in place.
		// A CR counts as one for it and is nothing special to the decoder.
		dst = append(dst, bytes.TrimSpace(raw)...)
		dst = dst[:start+foldsToCR(dst[start:])]
		raw = dst[start:]
	}
	from := len(dst)
	dst = rfc5322.DecodeWordsFunc(dst, raw, rfc5322.Dovecot, foldDovecot)
	n := packDovecot(dst[from:])
	n = copy(dst[start:], dst[from:from+n])
	dst = dst[:start+n]
	lo, hi, reply := strip(dst[start:])
	n = copy(dst[start:], dst[start+lo:start+hi])
	return dst[:start+n], reply
}

// foldDovecot casemaps a piece of a subject. It is not asked to when the text is
// an encoded word of unknown charset.
func foldDovecot(dst []byte, start int) []byte { return casemapTail(Dovecot, dst, start) }

// foldsToCR makes one CR of each line end, in place.
func foldsToCR(s []byte) int {
	w := 0
	for i, c := range s {
		if c == '\n' {
			if i > 0 && s[i-1] == '\r' {
				continue
			}
			c = '\r'
		}
		s[w] = c
		w++
	}
	return w
}

// packDovecot packs white space in place from the first tab, line end or double
// space on; a space in front of that stays, whatever follows it.
func packDovecot(s []byte) int {
	for i, c := range s {
		if c == '\t' || c == '\n' || c == '\r' || c == ' ' && i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == '\t') {
			return i + len(collapse(s[i:]))
		}
	}
	return len(s)
}
