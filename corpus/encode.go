package corpus

import (
	"encoding/base64"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

var charsets = map[string]encoding.Encoding{
	"iso-8859-1":   charmap.ISO8859_1,
	"iso-8859-2":   charmap.ISO8859_2,
	"iso-8859-15":  charmap.ISO8859_15,
	"windows-1252": charmap.Windows1252,
	"koi8-r":       charmap.KOI8R,
	"windows-1251": charmap.Windows1251,
	"iso-2022-jp":  japanese.ISO2022JP,
	"gb2312":       simplifiedchinese.GBK, // a superset with the same bytes
}

// appendEncodedWord writes one RFC 2047 encoded word of bytes in charset.
func appendEncodedWord(dst []byte, charset string, enc byte, b []byte) []byte {
	dst = append(append(dst, "=?"...), charset...)
	dst = append(dst, '?', enc, '?')
	if enc == 'B' {
		dst = base64.StdEncoding.AppendEncode(dst, b)
	} else {
		for _, c := range b {
			switch {
			case c == ' ':
				dst = append(dst, '_')
			case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '-', c == '/':
				dst = append(dst, c) // what RFC 2047 section 5 (3) allows everywhere, and a little less
			default:
				const hex = "0123456789ABCDEF"
				dst = append(dst, '=', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, "?="...)
}

// appendEncoded writes text as encoded words of at most about 60 characters,
// separated by a folded space, which a reader drops between encoded words.
// Characters are never cut, and each word is complete in itself, as RFC 2047
// section 5 and 6.3 demand; for iso-2022-jp this means a return to ASCII.
func appendEncoded(dst []byte, charset string, enc byte, text string) []byte {
	const most = 45 // octets of UTF-8 of a word; the charsets are not much wider
	limit := most
	if enc == 'Q' {
		limit = 18
	}
	for first := true; text != ""; first = false {
		n := 0
		for n < len(text) {
			_, w := utf8.DecodeRuneInString(text[n:])
			if n+w > limit {
				break
			}
			n += w
		}
		b := []byte(text[:n])
		if cs, ok := charsets[charset]; ok {
			var err error
			if b, err = cs.NewEncoder().Bytes(b); err != nil {
				panic("corpus: " + charset + " cannot hold " + text) // a mistake in words.go
			}
		}
		if !first {
			dst = append(dst, "\n "...)
		}
		dst = appendEncodedWord(dst, charset, enc, b)
		text = text[n:]
	}
	return dst
}

// encodedSubjects holds intlSubjects in each of their written forms: the
// encoders are slow, and there are few phrases.
var encodedSubjects = sync.OnceValue(func() [][][]byte {
	all := make([][][]byte, len(intlSubjects))
	for i, s := range intlSubjects {
		for _, charset := range append([]string{"utf-8"}, s.charsets...) {
			for _, enc := range []byte{'B', 'Q'} {
				all[i] = append(all[i], appendEncoded(nil, charset, enc, s.text))
			}
		}
	}
	return all
})
