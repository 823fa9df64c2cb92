package sort

import (
	"math/bits"
	"slices"
)

// Order appends to dst[:0] the rows (all of 0..n-1 when rows is nil, else the
// given ones, which must ascend) in the order of crit; ties by row number.
// col(k) gives the column of k, values that compare as unsigned integers,
// indexed by row; it is called once for each criterion.
//
// Each criterion is one stable radix sort, the last one first. Key and row are
// packed into one word (key minus the smallest key, then the row), so that a
// pass moves eight bytes and a later criterion reads its rows out of the same
// words; only the bits in which keys differ are sorted, 11 at a time. A column
// that is in order already, as dates nearly are and arrivals are, costs one
// look. O(n) per criterion, no allocation with a warm Scratch.
func Order(dst []int32, n int, rows []int32, crit []Criterion, col func(Key) []uint64, sc *Scratch) []int32 {
	m := n
	if rows != nil {
		m = len(rows)
	}
	dst = slices.Grow(dst[:0], m)[:m]
	if rows != nil {
		copy(dst, rows)
	} else {
		for i := range dst {
			dst[i] = int32(i)
		}
	}
	if m < 2 {
		return dst
	}
	rowBits := bits.Len(uint(n - 1))
	if n < 1 || rows != nil {
		rowBits = bits.Len32(uint32(slices.Max(rows)))
	}
	for i := len(crit) - 1; i >= 0; i-- {
		sortBy(dst, col(crit[i].Key), crit[i].Reverse, rowBits, sc)
	}
	return dst
}

// sortBy sorts order stably by the column.
func sortBy(order []int32, col []uint64, reverse bool, rowBits int, sc *Scratch) {
	lo, hi := col[order[0]], col[order[0]]
	sorted := true
	prev := lo
	for _, r := range order[1:] {
		v := col[r]
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
		if v != prev && (v < prev) != reverse {
			sorted = false
		}
		prev = v
	}
	if sorted {
		return
	}
	if len(order) <= 32 {
		insertBy(order, col, reverse)
		return
	}
	sc.a = sized(sc.a, len(order))
	sc.b = sized(sc.b, len(order))
	// Keys wider than what the row leaves of a word are sorted in slices, the
	// lowest first, as if they were several criteria.
	width := bits.Len64(hi - lo)
	room := 64 - rowBits
	for done := 0; done < width; done += room {
		w := min(room, width-done)
		mask := uint64(1)<<w - 1
		a := sc.a
		if reverse {
			for i, r := range order {
				a[i] = ((hi-col[r])>>done&mask)<<rowBits | uint64(r)
			}
		} else {
			for i, r := range order {
				a[i] = ((col[r]-lo)>>done&mask)<<rowBits | uint64(r)
			}
		}
		a = radix(a, sc.b, rowBits, w, sc)
		low := uint64(1)<<rowBits - 1
		for i, v := range a {
			order[i] = int32(v & low)
		}
	}
}

// insertBy is for orders so short that histograms would cost more.
func insertBy(order []int32, col []uint64, reverse bool) {
	for i := 1; i < len(order); i++ {
		r, j := order[i], i
		v := col[r]
		for j > 0 {
			u := col[order[j-1]]
			if u == v || (u < v) != reverse {
				break
			}
			order[j] = order[j-1]
			j--
		}
		order[j] = r
	}
}

// digitBits is the width of a radix digit: 2,048 counters are 8 KiB, which
// stays in the first-level cache beside the write positions' lines; 8 bits need
// half as many passes again.
const digitBits = 11

// radix sorts a stably by the width bits above shift, with b as the other
// side, and returns the side that holds the result.
func radix(a, b []uint64, shift, width int, sc *Scratch) []uint64 {
	passes := (width + digitBits - 1) / digitBits
	if passes == 0 {
		return a
	}
	// Equal digits: 12 bits are two passes of 6, not 11 and 1.
	d := (width + passes - 1) / passes
	sc.count = sized(sc.count, passes<<d)
	count := sc.count
	clear(count)
	mask := uint64(1)<<d - 1
	for p := range passes {
		c := count[p<<d : (p+1)<<d]
		s := shift + p*d
		for _, v := range a {
			c[v>>s&mask]++
		}
	}
	for p := range passes {
		c := count[p<<d : (p+1)<<d]
		s := shift + p*d
		if c[a[0]>>s&mask] == uint32(len(a)) {
			continue // all equal in this digit
		}
		sum := uint32(0)
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for _, v := range a {
			k := v >> s & mask
			b[c[k]] = v
			c[k]++
		}
		a, b = b, a
	}
	return a
}
