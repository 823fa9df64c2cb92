package thread

import "math/bits"

// A keyed is a node and what it is sorted by.
type keyed struct {
	key  uint64
	node int32
}

// dateKey orders like the date.
func dateKey(d int64) uint64 { return uint64(d) ^ 1<<63 }

// sortChildren sorts the children of x, rows all, by date and row. Lists that
// are in order already, which on real mail nearly all are, cost one look.
func (sc *Scratch) sortChildren(in *Input, x int32) {
	if sc.deg[x] < 2 {
		return
	}
	k := sc.first[x]
	inOrder, rowOrder := true, true
	for m := sc.next[k]; m >= 0; k, m = m, sc.next[m] {
		if m < k {
			rowOrder = false
		}
		if a, b := in.Date[k], in.Date[m]; a > b || (a == b && m < k) {
			inOrder = false
			break
		}
	}
	if inOrder {
		return
	}
	sc.pack = sized(sc.pack, int(sc.deg[x]))
	i := 0
	prev := int32(-1)
	for k := sc.first[x]; k >= 0; k = sc.next[k] {
		sc.pack[i] = keyed{uint64(k), k}
		i++
		rowOrder = rowOrder && prev < k
		prev = k
	}
	if !rowOrder {
		sc.sortStable()
	}
	for i := range sc.pack {
		sc.pack[i].key = dateKey(in.Date[sc.pack[i].node])
	}
	sc.sortStable()
	prev = -1
	for _, p := range sc.pack {
		if prev < 0 {
			sc.first[x] = p.node
		} else {
			sc.next[prev] = p.node
		}
		prev = p.node
	}
	sc.next[prev] = -1
	sc.last[x] = prev
}

// sortStable sorts sc.pack by key, stably: insertion when short, else radix
// over the bits between the smallest key and the largest.
func (sc *Scratch) sortStable() {
	a := sc.pack
	if len(a) <= 24 {
		for i := 1; i < len(a); i++ {
			c, j := a[i], i
			for j > 0 && a[j-1].key > c.key {
				a[j] = a[j-1]
				j--
			}
			a[j] = c
		}
		return
	}
	lo, hi := a[0].key, a[0].key
	sorted := true
	for i := 1; i < len(a); i++ {
		k := a[i].key
		if k < a[i-1].key {
			sorted = false
		}
		lo, hi = min(lo, k), max(hi, k)
	}
	if sorted {
		return
	}
	// Few keys: counters of 11 bits would cost more than the keys.
	digit := 11
	if len(a) < 2048 {
		digit = 8
	}
	width := bits.Len64(hi - lo)
	sc.pack2 = sized(sc.pack2, len(a))
	b := sc.pack2
	mask := uint64(1)<<digit - 1
	sc.hist = sized(sc.hist, 1<<digit)
	h := sc.hist
	for shift := 0; shift < width; shift += digit {
		clear(h)
		for _, c := range a {
			h[(c.key-lo)>>shift&mask]++
		}
		sum := uint32(0)
		for i, n := range h {
			h[i] = sum
			sum += n
		}
		for _, c := range a {
			d := (c.key - lo) >> shift & mask
			b[h[d]] = c
			h[d]++
		}
		a, b = b, a
	}
	sc.pack, sc.pack2 = a, b
}
