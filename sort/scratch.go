package sort

// A Scratch is working memory that Order and Ranks keep between calls. The zero
// value is ready. Not for concurrent use.
type Scratch struct {
	a, b   []uint64 // Order: packed keys, two sides
	ka, kb []cached // Ranks: cached prefixes, two sides
	todo   []span   // Ranks: groups still to be sorted
	same   []uint64 // Ranks: bitmap, equal to the predecessor
	count  []uint32 // histograms

	compares int64
}

// Compares is how many pairs of keys have been compared with this Scratch, where
// a group was sorted by comparison. Radix passes compare nothing.
func (sc *Scratch) Compares() int64 { return sc.compares }

// sized returns s with length n, reusing its memory; the contents are arbitrary.
func sized[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}
