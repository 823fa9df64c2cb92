package floor

import "math/rand/v2"

// Keys makes n packed keys that look like sent dates, the same every time.
func Keys(n int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = 1_000_000_000 + uint64(r.IntN(200_000_000))
	}
	return keys
}

// Radix sorts a copy of keys (in work, len(keys) each for work and tmp) by
// the bytes that differ, least significant first.
func Radix(keys, work, tmp []uint64) Work {
	copy(work, keys)
	radix(work, tmp)
	return Work{Bytes: int64(8 * len(keys)), Calls: int64(len(keys))}
}

// radix sorts a with the help of tmp, skipping bytes that are the same
// everywhere. The result is in a.
func radix(a, tmp []uint64) {
	var or, and uint64 = 0, ^uint64(0)
	for _, k := range a {
		or |= k
		and &= k
	}
	varies := or &^ and
	src, dst := a, tmp
	for shift := 0; shift < 64; shift += 8 {
		if varies>>shift&0xff == 0 {
			continue
		}
		var count [257]int
		for _, k := range src {
			count[k>>shift&0xff+1]++
		}
		for i := range 256 {
			count[i+1] += count[i]
		}
		for _, k := range src {
			b := k >> shift & 0xff
			dst[count[b]] = k
			count[b]++
		}
		src, dst = dst, src
	}
	if len(a) > 0 && &src[0] != &a[0] {
		copy(a, src)
	}
}

// A Join is one open-addressing probe per message id, perMessage of them for
// each of n messages: the part of threading that no design can avoid when it
// starts from ids.
type Join struct {
	table []uint64
	ids   []uint64
}

// NewJoin prepares a table of n ids and 4n look-ups, half of them near, as
// references are.
func NewJoin(n int) *Join {
	size := 1
	for size < 2*n {
		size *= 2
	}
	j := &Join{table: make([]uint64, max(size, 2)), ids: make([]uint64, 0, 4*n)}
	r := rand.New(rand.NewPCG(uint64(n), 2))
	for i := range n {
		for k := range 4 {
			ref := i
			if k > 0 {
				ref = max(0, i-r.IntN(200))
			}
			j.ids = append(j.ids, mix(uint64(ref)+1))
		}
	}
	return j
}

// Run probes every id once, inserting what is missing.
func (j *Join) Run() Work {
	clear(j.table)
	mask := uint64(len(j.table) - 1)
	for _, id := range j.ids {
		for p := id & mask; ; p = (p + 1) & mask {
			if j.table[p] == 0 {
				j.table[p] = id
				break
			}
			if j.table[p] == id {
				break
			}
		}
	}
	return Work{Bytes: int64(8 * len(j.ids)), Calls: int64(len(j.ids))}
}

func mix(x uint64) uint64 {
	x ^= x >> 31
	x *= 0x7fb5d329728ea185
	x ^= x >> 27
	x *= 0x81dadef4bc2dd44d
	return x ^ x>>33 | 1
}

// Format writes the numbers 1..n in decimal with a space behind each: the
// least that an answer of n UIDs costs. It appends to dst[:0].
func Format(dst []byte, n int) ([]byte, Work) {
	dst = dst[:0]
	for i := 1; i <= n; i++ {
		var d [10]byte
		p := len(d)
		for v := uint32(i); ; {
			q := v / 10
			p--
			d[p] = byte('0' + v - q*10)
			if v = q; v == 0 {
				break
			}
		}
		dst = append(dst, d[p:]...)
		dst = append(dst, ' ')
	}
	return dst, Work{Bytes: int64(len(dst)), Calls: int64(n)}
}
