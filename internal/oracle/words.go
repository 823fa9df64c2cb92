package oracle

import (
	"encoding/base64"
	"io"
	"regexp"
	"strings"

	"github.com/emersion/go-message/charset"
)

var encodedWord = regexp.MustCompile(`=\?([^?\s]+)\?([bBqQ])\?([^?]*)\?=`)

// decodeWords decodes the RFC 2047 encoded-words of an unfolded value. White
// space between two of them vanishes (section 6.2). A word counts only between
// white space, other words and the ends (section 5); section 5 wants white
// space between words too, but list software glues them. White space inside a
// word is text, though section 2 forbids it. What is in a charset that nobody
// knows is taken for UTF-8 (section 6.2 leaves that open).
func decodeWords(s string) string {
	if !strings.Contains(s, "=?") {
		return toUTF8(s)
	}
	var out strings.Builder
	done := 0 // s[:done] is in out and ends in an encoded-word
	for _, m := range encodedWord.FindAllStringSubmatchIndex(s, -1) {
		between := s[done:m[0]]
		blank := strings.Trim(between, " \t") == ""
		if between != "" && strings.Trim(between[len(between)-1:], " \t") != "" {
			continue
		}
		if m[1] < len(s) && s[m[1]] != ' ' && s[m[1]] != '\t' && !strings.HasPrefix(s[m[1]:], "=?") {
			continue
		}
		if done == 0 || !blank {
			out.WriteString(toUTF8(between))
		}
		out.WriteString(decodeWord(s[m[2]:m[3]], s[m[4]:m[5]], s[m[6]:m[7]]))
		done = m[1]
	}
	out.WriteString(toUTF8(s[done:]))
	return out.String()
}

// decodeWord decodes one word's text to UTF-8.
func decodeWord(cs, encoding, text string) string {
	cs, _, _ = strings.Cut(cs, "*") // RFC 2231 section 5: a language may follow
	var raw string
	if encoding == "q" || encoding == "Q" {
		raw = decodeQ(text)
	} else {
		raw = decodeB(text)
	}
	if decoded, ok := convert(cs, raw); ok {
		return decoded
	}
	return toUTF8(raw)
}

// convert turns text in a charset into UTF-8, a run of what cannot be read
// into one U+FFFD; false when nobody knows the charset.
func convert(cs, text string) (string, bool) {
	r, err := charset.Reader(cs, strings.NewReader(text))
	if err != nil {
		return "", false
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return "", false
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
