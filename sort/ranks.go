package sort

import (
	"encoding/binary"
	"slices"
)

// An Arena holds n strings back to back: string i is Data[Off[i]:Off[i+1]], and
// Off has n+1 entries (none when n is 0).
type Arena struct {
	Data []byte
	Off  []uint32
}

// Len returns the number of strings.
func (a *Arena) Len() int { return max(0, len(a.Off)-1) }

// At returns string i, which must not be written to.
func (a *Arena) At(i int) []byte { return a.Data[a.Off[i]:a.Off[i+1]] }

// Append adds a string. The arena is limited to 4 GiB; what does not fit makes
// it report false and change nothing.
func (a *Arena) Append(s []byte) bool {
	if uint64(len(a.Data))+uint64(len(s)) >= 1<<32 {
		return false
	}
	if len(a.Off) == 0 {
		a.Off = append(a.Off, 0)
	}
	a.Data = append(a.Data, s...)
	a.Off = append(a.Off, uint32(len(a.Data)))
	return true
}

// Reset empties the arena and keeps its memory.
func (a *Arena) Reset() { a.Data, a.Off = a.Data[:0], a.Off[:0] }

// A cached is a string's number and the seven bytes of it that are being
// compared, big-endian, above the number of bytes (at most 8) that were left:
// comparing keys then compares the bytes and, when they are equal, puts the
// string that ends first first. 8 means that there is more to compare.
type cached struct {
	key uint64
	i   uint32
}

const (
	keyBytes = 7
	more     = keyBytes + 1
)

// A span is a group of strings equal in their first depth bytes.
type span struct {
	lo, hi, depth uint32
}

// Ranks appends to dst[:0] the dense rank of each string by byte order, equal
// strings equal rank, the smallest 0. It is a radix sort from the front: groups
// of strings with a common prefix are sorted by their next seven bytes, which
// are fetched once and kept beside the index, so that most comparisons touch no
// string. Groups are kept on a stack of their own, no recursion. Cost: the bytes
// of the longest common prefixes, plus n log n for groups too small for a
// histogram. No allocation with a warm Scratch.
func Ranks(dst []uint32, a *Arena, sc *Scratch) []uint32 {
	n := a.Len()
	dst = slices.Grow(dst[:0], n)[:n]
	if n == 0 {
		return dst
	}
	sc.ka = sized(sc.ka, n)
	sc.kb = sized(sc.kb, n)
	sc.same = sized(sc.same, n/64+1)
	clear(sc.same)
	k := sc.ka
	for i := range k {
		k[i].i = uint32(i)
	}
	todo := append(sc.todo[:0], span{0, uint32(n), 0})
	for len(todo) > 0 {
		g := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		part := k[g.lo:g.hi]
		for j := range part {
			part[j].key = a.key(part[j].i, g.depth)
		}
		sortCached(part, sc.kb, sc)
		// Equal keys: either the strings ended, and are equal, or they go on.
		for j := 0; j < len(part); {
			e := j + 1
			for e < len(part) && part[e].key == part[j].key {
				e++
			}
			if e-j > 1 {
				if part[j].key&0xff == more {
					todo = append(todo, span{g.lo + uint32(j), g.lo + uint32(e), g.depth + keyBytes})
				} else {
					for x := int(g.lo) + j + 1; x < int(g.lo)+e; x++ {
						sc.same[x>>6] |= 1 << (x & 63)
					}
				}
			}
			j = e
		}
	}
	sc.todo = todo
	rank := ^uint32(0)
	for j := range k {
		if sc.same[j>>6]>>(j&63)&1 == 0 {
			rank++
		}
		dst[k[j].i] = rank
	}
	return dst
}

// key returns the cached key of string i at depth.
func (a *Arena) key(i, depth uint32) uint64 {
	from, to := a.Off[i]+depth, a.Off[i+1]
	left := to - from
	if int(from)+8 <= len(a.Data) {
		v := binary.BigEndian.Uint64(a.Data[from:]) &^ 0xff
		if left > keyBytes {
			return v | more
		}
		return v&^(1<<(64-8*left)-1) | uint64(left)
	}
	var v uint64
	for j := range min(left, keyBytes) {
		v |= uint64(a.Data[from+j]) << (56 - 8*j)
	}
	return v | uint64(min(left, more))
}

// sortCached sorts by key: by radix when the histograms pay, else by
// comparison. Not stable: Ranks gives equal strings one rank.
func sortCached(part, tmp []cached, sc *Scratch) {
	n := len(part)
	if n < 192 {
		sc.compares += quick(part)
		return
	}
	or, and := uint64(0), ^uint64(0)
	for _, c := range part {
		or |= c.key
		and &= c.key
	}
	vary := or &^ and
	if vary == 0 {
		return
	}
	// Bytes that vary, times n, against n log n comparisons.
	varying := 0
	for s := 0; s < 64; s += 8 {
		if vary>>s&0xff != 0 {
			varying++
		}
	}
	if n < 4096 && varying > 3 {
		sc.compares += quick(part)
		return
	}
	sc.count = sized(sc.count, 8*256)
	count := sc.count[: 8*256 : 8*256]
	clear(count)
	for _, c := range part {
		v := c.key
		for b := range 8 {
			count[b<<8|int(v&0xff)]++
			v >>= 8
		}
	}
	from, to := part, tmp[:n]
	for b := range 8 {
		s := 8 * b
		if vary>>s&0xff == 0 {
			continue
		}
		c := count[b<<8 : (b+1)<<8]
		sum := uint32(0)
		for i, x := range c {
			c[i] = sum
			sum += x
		}
		for _, v := range from {
			d := v.key >> s & 0xff
			to[c[d]] = v
			c[d]++
		}
		from, to = to, from
	}
	if &from[0] != &part[0] {
		copy(part, from)
	}
}

// quick sorts by key. slices.SortFunc is a pattern-defeating quicksort that
// falls back to heapsort, so nobody can make it quadratic. It returns the number
// of comparisons.
func quick(part []cached) (compares int64) {
	if len(part) > 16 {
		slices.SortFunc(part, func(x, y cached) int {
			compares++
			if x.key < y.key {
				return -1
			}
			if x.key > y.key {
				return 1
			}
			return 0
		})
		return compares
	}
	for i := 1; i < len(part); i++ {
		c, j := part[i], i
		for j > 0 && part[j-1].key > c.key {
			part[j] = part[j-1]
			j--
		}
		part[j] = c
		compares += int64(i - j + min(j, 1))
	}
	return compares
}
