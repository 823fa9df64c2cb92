package sort

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Casemap appends s, prepared for comparison by i;unicode-casemap, to dst: byte
// order of prepared strings is the order of the collation (RFC 5051 section 2).
// s must not overlap the free capacity of dst. Linear; allocates only to grow dst.
func Casemap(dst, s []byte) []byte { return RFC.Casemap(dst, s) }

// Casemap is the function of that name, as c wants it.
func (c Compat) Casemap(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			j := i + 1
			for j < len(s) && s[j] < utf8.RuneSelf {
				j++
			}
			n := len(dst)
			dst = append(dst, s[i:j]...)
			upperASCII(dst[n:])
			i = j
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		i += n
		if r == utf8.RuneError && n == 1 {
			if c == Dovecot && endsInReplacement(dst) {
				continue
			}
			dst = utf8.AppendRune(dst, utf8.RuneError)
			continue
		}
		// RFC 5051 section 2: first the titlecase property, one to one, then
		// the decomposition property, repeatedly. No titlecasing of what the
		// decomposition gave, no reordering of marks.
		dst = decompose(dst, unicode.ToTitle(r), c)
	}
	return dst
}

// casemapTail replaces dst[start:] by its casemapped form.
func casemapTail(c Compat, dst []byte, start int) []byte {
	// Upper-casing the ASCII first changes nothing for the rest.
	if upperASCII(dst[start:]) {
		return dst
	}
	// The source stays readable: append writes behind it or moves.
	end := len(dst)
	dst = c.Casemap(dst, dst[start:end])
	n := copy(dst[start:], dst[end:])
	return dst[:start+n]
}

// upperASCII upper-cases the ASCII letters of b in place, eight bytes at a time,
// and says whether b is all ASCII.
func upperASCII(b []byte) (ascii bool) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	high := uint64(0)
	for len(b) >= 8 {
		v := binary.LittleEndian.Uint64(b)
		// The top bit of each byte says: at least 'a', but not above 'z'.
		low := v &^ tops
		lower := (low + (0x80-'a')*ones) &^ (low + (0x7f-'z')*ones) &^ v & tops
		binary.LittleEndian.PutUint64(b, v-lower>>2)
		high |= v
		b = b[8:]
	}
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 0x20
		}
		high |= uint64(c)
	}
	return high&tops == 0
}

// decompose appends the full decomposition of r, compatibility ones included.
func decompose(dst []byte, r rune, c Compat) []byte {
	const (
		sBase, lBase, vBase, tBase = 0xac00, 0x1100, 0x1161, 0x11a7
		vCount, tCount             = 21, 28
	)
	if sBase <= r && r <= 0xd7a3 {
		// Hangul syllables decompose by arithmetic (Unicode 3.12); norm's
		// tables do not hold them.
		i := r - sBase
		dst = utf8.AppendRune(dst, lBase+i/(vCount*tCount))
		dst = utf8.AppendRune(dst, vBase+i%(vCount*tCount)/tCount)
		if t := i % tCount; t != 0 {
			dst = utf8.AppendRune(dst, tBase+t)
		}
		return dst
	}
	if c == Dovecot && (r == 0x1c5 || r == 0x1c8 || r == 0x1cb || r == 0x1f2) {
		return utf8.AppendRune(dst, r)
	}
	n := len(dst)
	dst = utf8.AppendRune(dst, r)
	if d := norm.NFKD.Properties(dst[n:]).Decomposition(); d != nil {
		if c == Dovecot && r > 0xffff && utf8.RuneCount(d) > 1 {
			return dst
		}
		dst = append(dst[:n], d...)
	}
	return dst
}

func endsInReplacement(b []byte) bool {
	n := len(b)
	return n >= 3 && b[n-3] == 0xef && b[n-2] == 0xbf && b[n-1] == 0xbd
}
