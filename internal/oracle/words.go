package oracle

import (
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
)

// word cuts the encoded-word off that s begins with; size is 0 if it begins with
// none. It looks no further than the third question mark behind: a header full
// of what begins like words takes time for its length alone.
func word(s string) (charset, encoding, text string, size int) {
	rest, ok := strings.CutPrefix(s, "=?")
	if !ok {
		return "", "", "", 0
	}
	charset, rest, _ = strings.Cut(rest, "?")
	if rest == "" || strings.IndexByte("bBqQ", rest[0]) < 0 {
		return "", "", "", 0
	}
	encoding = rest[:1]
	_, rest, _ = strings.Cut(rest, "?")
	text, rest, _ = strings.Cut(rest, "?")
	if rest == "" || rest[0] != '=' {
		return "", "", "", 0
	}
	return charset, encoding, text, len(s) - len(rest) + 1
}

// decodeWords decodes the RFC 2047 encoded-words of an unfolded value. White
// space between two of them vanishes (section 6.2). A word counts only between
// white space, other words and the ends (section 5); section 5 wants white
// space between words too, but list software glues them. White space inside a
// word is text, though section 2 forbids it. What is in a charset that nobody
// knows is taken for UTF-8 (section 6.2 leaves that open).
func decodeWords(s string) string {
	var text textBuilder
	var pending []byte // decoded bytes of the last words
	var pendingCharset string
	flush := func() {
		decoded, _ := convert(pendingCharset, string(pending))
		text.write(decoded)
		pending, pendingCharset = pending[:0], ""
	}
	done := 0 // s[:done] is dealt with and, unless it is 0, ends in a word
	for pos := 0; ; {
		i := strings.Index(s[pos:], "=?")
		if i < 0 {
			break
		}
		pos += i
		charset, encoding, encoded, size := word(s[pos:])
		if size == 0 || !(pos == done || isBlank(s[pos-1])) {
			pos += 2
			continue
		}
		end := pos + size
		if end < len(s) && !isBlank(s[end]) {
			if _, _, _, size := word(s[end:]); size == 0 {
				pos += 2
				continue
			}
		}
		between := s[done:pos]
		if done == 0 || strings.Trim(between, " \t\r\n") != "" {
			flush()
			text.write(between)
		}
		// Characters must not be divided among words (section 5), but are: so
		// bytes of neighbours in one charset belong together, unless each word
		// begins in a state of its own.
		cs, _, _ := strings.Cut(charset, "*") // RFC 2231 section 5: a language may follow
		if !strings.EqualFold(cs, pendingCharset) || strings.Contains(strings.ToLower(cs), "2022") {
			flush()
		}
		pending, pendingCharset = append(pending, decodeText(encoding, encoded)...), cs
		pos, done = end, end
	}
	flush()
	text.write(s[done:])
	return text.String()
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// decodeText undoes the encoding of one word.
func decodeText(encoding, text string) string {
	if encoding == "q" || encoding == "Q" {
		return decodeQ(text)
	}
	return decodeB(text)
}

// A textBuilder collects text in which each run of bytes that are not UTF-8
// is one U+FFFD, also a run that comes in two pieces.
type textBuilder struct{ strings.Builder }

func (b *textBuilder) write(s string) {
	if strings.HasSuffix(b.String(), "\uFFFD") {
		for s != "" {
			if r, n := utf8.DecodeRuneInString(s); r != utf8.RuneError || n > 1 {
				break
			}
			s = s[1:]
		}
	}
	b.WriteString(toUTF8(s))
}

// convert turns text in a charset into UTF-8, a run of what cannot be read
// into one U+FFFD; false when nobody knows the charset. Text in UTF-8 stays as
// it is.
func convert(cs, text string) (string, bool) {
	switch strings.ToLower(cs) {
	case "", "utf-8", "utf8":
		return text, true
	}
	r, err := charset.Reader(cs, strings.NewReader(text))
	if err != nil {
		return text, false
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return text, false
	}
	return badRun.ReplaceAllString(toUTF8(string(b)), "\uFFFD"), true
}

var badRun = regexp.MustCompile(`\x{FFFD}+`)

// decodeQ: RFC 2047 section 4.2; a bad escape stands for itself.
func decodeQ(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '_':
			out.WriteByte(' ')
		case s[i] == '=' && i+2 < len(s) && hex(s[i+1]) >= 0 && hex(s[i+2]) >= 0:
			out.WriteByte(byte(hex(s[i+1])<<4 | hex(s[i+2])))
			i += 2
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

func hex(c byte) int {
	return strings.IndexByte("0123456789abcdef", strings.ToLower(string(rune(c)))[0])
}

// decodeB: RFC 2047 section 4.1; reads up to the first byte that is no base64,
// with or without padding.
func decodeB(s string) string {
	s = removeBlanks.Replace(s)
	if i := strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", r)
	}); i >= 0 {
		s = s[:i]
	}
	if len(s)%4 == 1 {
		s = s[:len(s)-1]
	}
	b, _ := base64.RawStdEncoding.DecodeString(s)
	return string(b)
}

// toUTF8 replaces each run of bytes that are not UTF-8 by one U+FFFD.
func toUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
