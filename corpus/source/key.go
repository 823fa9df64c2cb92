package source

import (
	"strconv"
	"strings"
	"unsafe"

	"mailbench/index"
)

// hashDigits is the length of the first part of a key.
const hashDigits = 16

// A keyArena holds the keys of one listing.
type keyArena struct{ b []byte }

// reset makes room for n keys: what is longer than foreseen (nine digits of
// duplicates are foreseen) moves on to a new arena.
func (a *keyArena) reset(n int) {
	const foreseen = hashDigits + 1 + 9
	if cap(a.b) < n*foreseen {
		a.b = make([]byte, 0, n*foreseen)
	}
	a.b = a.b[:0]
}

// add returns the key as a string in the arena.
func (a *keyArena) add(k rowKey) string {
	const digits = "0123456789abcdef"
	from := len(a.b)
	for shift := 60; shift >= 0; shift -= 4 {
		a.b = append(a.b, digits[k.hash>>shift&15])
	}
	a.b = append(a.b, '.')
	a.b = strconv.AppendUint(a.b, uint64(k.nth), 10)
	// Appending never writes below len again until the next reset.
	return unsafe.String(&a.b[from], len(a.b)-from)
}

// parseKey is the inverse of add.
func parseKey(s string) (k rowKey, ok bool) {
	if len(s) < hashDigits+2 || s[hashDigits] != '.' || strings.ContainsAny(s, "ABCDEF") {
		return k, false
	}
	if k.hash, ok = hex(s[:hashDigits]); !ok {
		return k, false
	}
	n, err := strconv.ParseUint(s[hashDigits+1:], 10, 32)
	k.nth = uint32(n)
	return k, err == nil
}

// A counter numbers equal hashes: open addressing, at most half full, kept
// between listings.
type counter struct{ slots []slot }

type slot struct {
	hash uint64
	n    uint32 // 0 = free
}

// reset empties the counter and makes room for n hashes.
func (c *counter) reset(n int) {
	size := 1 << 10
	for size < 2*n {
		size *= 2
	}
	if len(c.slots) < size {
		c.slots = make([]slot, size)
		return
	}
	clear(c.slots)
}

// next returns 1 for the first time it sees hash, then 2, ...
func (c *counter) next(hash uint64) uint32 {
	mask := uint64(len(c.slots) - 1)
	// Mixed once more: headers can be made whose hashes share low bits.
	for i := mix(hash) & mask; ; i = (i + 1) & mask {
		s := &c.slots[i]
		if s.n == 0 {
			s.hash = hash
		}
		if s.hash == hash {
			s.n++
			return s.n
		}
	}
}

// mix is the finalizer of splitmix64: a bijection in which each bit depends on
// each bit.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// digestOf is one entry's share of a Digest: key, place, size, flags. Sums of
// it do not depend on the order.
func digestOf(hash uint64, nth uint32, e *index.Entry) [2]uint64 {
	who := mix(hash + uint64(nth)*0x9e3779b97f4a7c15)
	what := mix(uint64(e.Off)<<20^uint64(e.Size)) + uint64(e.Flags)<<32 + uint64(e.Keywords)
	return [2]uint64{mix(who + mix(what)), mix(who ^ mix(what+0x632be59bd9b4e019))}
}
