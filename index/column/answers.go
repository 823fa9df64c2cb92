package column

import (
	"slices"

	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Answers are stored as structure over the rows 0..n-1 of the messages that
// live, in UID order; their UIDs are stored once, as runs.
//
// A forest is two streams with one number per node in preorder:
//
//	row   0 for a dummy, else 1 + zigzag(row - row of the last node that has one)
//	kids  number of children
//
// An order is one stream with zigzag(row - last row - 1) per message.

// encodeForest writes f.
func encodeForest(f *thread.Forest) (row, kids []byte) {
	row, kids = make([]byte, 0, 2*len(f.Row)), make([]byte, 0, len(f.Row))
	prev := int32(-1)
	for i, r := range f.Row {
		if r < 0 {
			row = append(row, 0)
		} else {
			row = appendUint(row, 1+zigzag(int64(r-prev-1)))
			prev = r
		}
		kids = appendUint(kids, uint64(f.Kids[i]))
	}
	return row, kids
}

// decodeForest reads nodes nodes over n rows into f. It checks that each row
// appears once and that the numbers of children close the last tree exactly,
// so that formatting can trust them.
func decodeForest(f *thread.Forest, row, kids []byte, nodes, n int) bool {
	if nodes < n || nodes > len(row) || nodes > len(kids) {
		return false
	}
	f.Row, f.Kids = slices.Grow(f.Row[:0], nodes)[:nodes], slices.Grow(f.Kids[:0], nodes)[:nodes]
	seen := make([]uint64, n/64+1)
	c := cursor{b: row}
	prev := int64(-1)
	found := 0
	for i := range f.Row {
		v := c.uint()
		if v == 0 {
			f.Row[i] = -1
			continue
		}
		prev += 1 + unzigzag(v-1)
		if uint64(prev) >= uint64(n) {
			return false
		}
		f.Row[i] = int32(prev)
		if bit := uint64(1) << (prev & 63); seen[prev>>6]&bit == 0 {
			seen[prev>>6] |= bit
			found++
		}
	}
	k := cursor{b: kids}
	open := int64(0) // nodes that were promised and have not come
	for i := range f.Kids {
		v := k.uint()
		if v >= uint64(nodes) {
			return false
		}
		f.Kids[i] = int32(v)
		if open > 0 {
			open--
		}
		open += int64(v)
	}
	return c.done() && k.done() && found == n && open == 0
}

// encodeOrder writes a permutation.
func encodeOrder(order []int32) []byte {
	b := make([]byte, 0, 2*len(order))
	prev := int32(-1)
	for _, r := range order {
		b = appendInt(b, int64(r-prev-1))
		prev = r
	}
	return b
}

// decodeOrder reads a permutation of n rows and writes what of has for them to
// dst[:0]: their UIDs, or rows of something else.
func decodeOrder[T any](dst []T, b []byte, of []T) ([]T, bool) {
	n := len(of)
	if n > len(b) {
		return dst, false
	}
	dst = slices.Grow(dst[:0], n)[:n]
	seen := make([]uint64, n/64+1)
	c := cursor{b: b}
	prev := int64(-1)
	found := 0
	for i := range dst {
		prev += 1 + c.int()
		if uint64(prev) >= uint64(n) {
			return dst[:0], false
		}
		dst[i] = of[prev]
		if bit := uint64(1) << (prev & 63); seen[prev>>6]&bit == 0 {
			seen[prev>>6] |= bit
			found++
		}
	}
	return dst, c.done() && found == n
}

// keyLetters name criteria in section names; capitals reverse.
const keyLetters = "acdfstyoi" // in the order of mailsort.Key: Arrival Cc Date From Size Subject To DisplayFrom DisplayTo

// orderName names the section of a stored order. Criteria that repeat a key
// change nothing and are left out, so names are at most 11 bytes long.
func orderName(crit []mailsort.Criterion) string {
	b := []byte("s.")
	for _, c := range canonical(crit) {
		l := keyLetters[c.Key]
		if c.Reverse {
			l -= 'a' - 'A'
		}
		b = append(b, l)
	}
	return string(b)
}

// canonical drops criteria whose key came before.
func canonical(crit []mailsort.Criterion) []mailsort.Criterion {
	var seen uint
	out := make([]mailsort.Criterion, 0, mailsort.NumKeys)
	for _, c := range crit {
		if seen&(1<<c.Key) == 0 {
			seen |= 1 << c.Key
			out = append(out, c)
		}
	}
	return out
}

// forestName names the sections of a stored forest.
func forestName(alg thread.Alg) string { return "t." + alg.String() }
