package maildir

import (
	"cmp"
	"math"
	"strings"
)

// The order in which new mail gets its UIDs is that of Dovecot: the seconds at
// the front of the base name as a number, then the microseconds behind an M in
// the part after the first dot, then the bytes.
//
// Dovecot compares microseconds only if both names have them, otherwise bytes;
// with three names of one second that can run in a circle. Here a name with
// microseconds stands, among those without, where ".M" stands. For names in
// which the M comes first, as all known programs write it, that is the same.

// orderKey is the numeric part of a base name's place.
type orderKey struct {
	secs  uint64 // saturated
	class uint8  // 0: no microseconds, rest before ".M"; 1: microseconds; 2: none, rest after ".M"
	usecs uint64 // saturated
	rest  int    // where the seconds end
}

func keyOf(base string) orderKey {
	var k orderKey
	k.secs, k.rest = number(base, 0)
	rest := base[k.rest:]
	if rest == "" || rest[0] != '.' {
		if rest > ".M" {
			k.class = 2
		}
		return k
	}
	for i := 1; i < len(rest) && rest[i] != '.'; i++ {
		if rest[i] == 'M' {
			k.class = 1
			k.usecs, _ = number(rest, i+1)
			return k
		}
	}
	if len(rest) > 1 && rest[1] > 'M' {
		k.class = 2
	}
	return k
}

// number reads digits from position i on and returns where they end.
func number(s string, i int) (v uint64, end int) {
	for ; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			break
		}
		if v > (math.MaxUint64-9)/10 {
			v = math.MaxUint64 // and stays there
			continue
		}
		v = v*10 + uint64(c)
	}
	return v, i
}

// Compare orders base names as Dovecot assigns UIDs. It is a total order; only
// equal strings are equal. It does not allocate.
func Compare(a, b string) int {
	ka, kb := keyOf(a), keyOf(b)
	if c := cmp.Compare(ka.secs, kb.secs); c != 0 {
		return c
	}
	if c := cmp.Compare(ka.class, kb.class); c != 0 {
		return c
	}
	if c := cmp.Compare(ka.usecs, kb.usecs); c != 0 {
		return c
	}
	if c := strings.Compare(a[ka.rest:], b[kb.rest:]); c != 0 {
		return c
	}
	return strings.Compare(a, b) // 7 and 07
}
