package rfc5322

import (
	"bytes"
	"unicode/utf8"
)

// DecodeWords appends raw, unfolded, trimmed and with its RFC 2047 encoded
// words decoded to UTF-8, to dst. It always appends valid UTF-8. O(raw); no
// allocation when raw is ASCII without encoded words and dst has room.
//
//   - White space between two encoded words is dropped (RFC 2047 6.2), other
//     white space stays.
//   - An encoded word has white space, an end of raw or another word at
//     either side; other text that looks like one stays as it is. RFC 2047
//     section 5 wants white space between words, too, but many mailers write
//     none. White space inside a word, forbidden as well, is taken as text.
//   - Bytes of words that follow each other in one charset are joined before
//     they are converted, as many mailers cut characters in two. Charsets
//     with shift states are not joined: each word begins in ASCII.
//   - A charset that is not known is taken for UTF-8: the ASCII in it shows.
//   - Each run of bytes that are no text becomes one U+FFFD. Raw 8-bit text
//     is taken for UTF-8.
func DecodeWords(dst, raw []byte) []byte { return DecodeWordsCompat(dst, raw, RFC) }

// DecodeWordsCompat is DecodeWords as c reads it. Dovecot differs: encoded
// words are decoded wherever they stand; white space before anything that
// begins like an encoded word is dropped at the start and behind an encoded
// word; each word is converted by itself; a NUL byte is no text. Its iconv
// also knows other charsets, and drops half a character at the end of a word
// where we write U+FFFD: that is not imitated.
func DecodeWordsCompat(dst, raw []byte, c Compat) []byte {
	return decodeWords(dst, trim(raw), c, nil)
}

// DecodeWordsFunc is DecodeWordsCompat with the text changed by fold: it is
// called for each piece of plain text and each encoded word, dst[start:], and
// returns dst. For Dovecot words of unknown charsets are left out.
func DecodeWordsFunc(dst, raw []byte, c Compat, fold func(dst []byte, start int) []byte) []byte {
	return decodeWords(dst, trim(raw), c, fold)
}

func decodeWords(dst, raw []byte, c Compat, fold func([]byte, int) []byte) []byte {
	if fold == nil {
		fold = func(dst []byte, _ int) []byte { return dst }
	}
	if isPlain(raw) {
		return fold(append(dst, raw...), len(dst))
	}
	if c == Dovecot && bytes.IndexByte(raw, 0) >= 0 {
		// Dovecot's header reader turns NUL into the byte 0x80, which is no
		// text in UTF-8.
		raw = bytes.ReplaceAll(raw, []byte{0}, []byte{0x80})
	}
	d := decoder{dst: dst, base: len(dst), dovecot: c == Dovecot, fold: fold}
	d.decode(raw)
	return d.dst
}

// isPlain says whether b needs nothing done: ASCII, no line end, no NUL, no
// "=?".
func isPlain(b []byte) bool {
	for i, c := range b {
		if c >= 0x80 || c == '\n' || c == 0 || c == '=' && i+1 < len(b) && b[i+1] == '?' {
			return false
		}
	}
	return true
}

type decoder struct {
	dst     []byte
	base    int // where our part of dst begins
	fold    func(dst []byte, start int) []byte
	dovecot bool

	// Decoded bytes in charset that wait for the next word. They are the
	// tail of dst from pending on.
	pending int
	charset []byte
	waiting bool
}

func (d *decoder) decode(raw []byte) {
	plain := 0 // raw[plain:i] is text that was not yet appended
	word := false
	for i := 0; ; {
		n := bytes.Index(raw[i:], []byte("=?"))
		if n < 0 {
			break
		}
		i += n
		gap := raw[plain:i]
		w, ok := parseWord(raw[i:], d.dovecot)
		if ok && !d.dovecot {
			ok = leftEdge(raw, i, word && i == plain) && rightEdge(raw, i+w.size)
		}
		switch {
		case (ok && word || d.dovecot) && isSpace(gap):
			// Nothing or white space in front of this word: dropped.
		case !ok && !d.dovecot:
			// Not a word: it stays with the text around it.
			i += 2
			continue
		default:
			d.text(gap)
		}
		if !ok {
			plain = i
			i += 2
			word = false
			continue
		}
		d.word(w)
		word = true
		i += w.size
		plain = i
	}
	d.text(raw[plain:])
	d.flush()
}

// leftEdge says whether a word may begin at i: at the start of raw, behind white
// space, or right behind another word (chained).
func leftEdge(raw []byte, i int, chained bool) bool {
	return chained || i == 0 || isLWSP(raw[i-1])
}

// rightEdge says whether a word may end before i.
func rightEdge(raw []byte, i int) bool {
	if i == len(raw) || isLWSP(raw[i]) {
		return true
	}
	if !bytes.HasPrefix(raw[i:], []byte("=?")) {
		return false
	}
	_, ok := parseWord(raw[i:], false)
	return ok
}

func isSpace(b []byte) bool {
	for _, c := range b {
		if !isLWSP(c) {
			return false
		}
	}
	return true
}

// An encodedWord is "=?" charset [ "*" language ] "?" encoding "?" text "?=".
type encodedWord struct {
	charset, text []byte
	base64        bool
	size          int
}

// parseWord reads the encoded word at the start of b, which begins with "=?".
func parseWord(b []byte, dovecot bool) (w encodedWord, ok bool) {
	var mark [3]int
	p := 2
	for i := range mark {
		n := bytes.IndexByte(b[p:], '?')
		if n < 0 {
			return w, false
		}
		mark[i] = p + n
		p += n + 1
	}
	if p >= len(b) || b[p] != '=' {
		return w, false
	}
	// RFC 2047 has one letter here; Dovecot reads the first and so do we.
	switch b[mark[0]+1] | 0x20 {
	case 'q':
	case 'b':
		w.base64 = true
	default:
		return w, false
	}
	w.charset = b[2:mark[0]]
	if n := bytes.IndexByte(w.charset, '*'); n >= 0 && !dovecot { // RFC 2231 section 5
		w.charset = w.charset[:n]
	}
	w.text = b[mark[1]+1 : mark[2]]
	w.size = p + 1
	return w, true
}

// word appends the decoded bytes of w as pending, after flushing what it
// cannot be joined with.
func (d *decoder) word(w encodedWord) {
	if d.waiting && (d.dovecot || !bytes.EqualFold(d.charset, w.charset) || hasShifts(w.charset)) {
		d.flush()
	}
	if !d.waiting {
		d.waiting, d.pending, d.charset = true, len(d.dst), w.charset
	}
	if w.base64 {
		d.dst = appendBase64(d.dst, w.text)
	} else {
		d.dst = appendQ(d.dst, w.text)
	}
}

// text appends b, which is not encoded, without its line ends.
func (d *decoder) text(b []byte) {
	if len(b) == 0 {
		return
	}
	d.flush()
	start := len(d.dst)
	d.dst = appendUnfolded(d.dst, b)
	d.dst = d.fold(validate(d.dst, start, d.base), start)
}

// flush converts what is pending.
func (d *decoder) flush() {
	if !d.waiting {
		return
	}
	d.waiting = false
	known := isUTF8(d.charset)
	if !known {
		var out []byte
		if out, known = convert(d.charset, d.dst[d.pending:]); known {
			d.dst = append(d.dst[:d.pending], out...)
		}
	}
	d.dst = validate(d.dst, d.pending, d.base)
	if known || !d.dovecot {
		d.dst = d.fold(d.dst, d.pending)
	}
}

// replacement is U+FFFD.
const replacement = "\uFFFD"

// validate makes dst[start:] valid UTF-8 in which bytes that are none, one or
// many in a row, are one U+FFFD, even if the row began in dst[base:start].
func validate(dst []byte, start, base int) []byte {
	i := start
	for i < len(dst) && dst[i] < utf8.RuneSelf {
		i++
	}
	if i == len(dst) || utf8.Valid(dst[i:]) {
		return dst
	}
	// The replacement is longer than the byte it stands for, so build anew.
	bad := bytes.Clone(dst[i:])
	dst = dst[:i]
	for len(bad) > 0 {
		r, n := utf8.DecodeRune(bad)
		if r == utf8.RuneError && n == 1 {
			if !bytes.HasSuffix(dst[base:], []byte(replacement)) {
				dst = append(dst, replacement...)
			}
		} else {
			dst = append(dst, bad[:n]...)
		}
		bad = bad[n:]
	}
	return dst
}

// appendQ decodes the Q encoding (RFC 2047 4.2). A "=" without two
// hexadecimal digits is text, and so is all behind it when the word is too
// short for two; line ends are dropped.
func appendQ(dst, b []byte) []byte {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '_':
			dst = append(dst, ' ')
		case '=':
			if i+2 >= len(b) {
				return append(dst, b[i:]...)
			}
			if hi, lo := unhex(b[i+1]), unhex(b[i+2]); hi|lo < 16 {
				dst = append(dst, hi<<4|lo)
				i += 2
				continue
			}
			dst = append(dst, c)
		case '\r', '\n':
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// unhex returns the value of a hexadecimal digit, 255 for another byte.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// appendBase64 decodes base64 as far as it goes: white space is passed over,
// padding may be missing, any other byte ends it.
func appendBase64(dst, b []byte) []byte {
	var bits uint32
	have := 0
	for _, c := range b {
		v := base64Value[c]
		if v == base64Bad {
			if isLWSP(c) {
				continue
			}
			break
		}
		bits = bits<<6 | uint32(v)
		if have += 6; have >= 8 {
			have -= 8
			dst = append(dst, byte(bits>>have))
		}
	}
	return dst
}

const base64Bad = 255

var base64Value = func() (t [256]uint8) {
	for i := range t {
		t[i] = base64Bad
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = uint8(i)
	}
	return t
}()
