package index

import (
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// InternerRanks ranks the strings of t by their bytes: rank[id]. O(bytes).
func InternerRanks(t *thread.Interner, sc *mailsort.Scratch) []uint32 {
	a := mailsort.Arena{Off: make([]uint32, 1, t.Len()+1)}
	for i := range t.Len() {
		a.Data = append(a.Data, t.Bytes(int32(i))...)
		a.Off = append(a.Off, uint32(len(a.Data)))
	}
	return mailsort.Ranks(nil, &a, sc)
}

// RankColumn appends rank[id[row]] of each row to dst: a column for
// mailsort.Order.
func RankColumn(dst []uint64, id []int32, rank []uint32) []uint64 {
	for _, i := range id {
		dst = append(dst, uint64(rank[i]))
	}
	return dst
}

// SignedColumn appends values so that they compare as unsigned numbers.
func SignedColumn(dst []uint64, v []int64) []uint64 {
	for _, x := range v {
		dst = append(dst, uint64(x)^1<<63)
	}
	return dst
}
