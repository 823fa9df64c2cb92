package tier

import (
	"cmp"
	"slices"
)

// Bound gives a number of hits that no cache of so many bytes can exceed in
// calls[from:], after it has seen those before: not even one that knows every
// call to come. size tells the bytes of a message's record, negative when the
// message is not there.
//
// A message that is asked for in two calls is a hit the second time only if
// its record lies in the cache between all calls from the one to the other.
// That takes room for that time. The bound lets those intervals be hits that
// take least, until all the room of all the time is used up, and forgets that
// at no single moment there may be more records than fit (the relaxation
// behind PFOO-L; Berger, Beckmann and Harchol-Balter, "Practical Bounds on
// Optimal Caching with Variable Object Sizes", 2018). O(n log n).
func Bound(calls []Call, from int, bytes int64, size func(uid uint32, fields []string) int64) int64 {
	var (
		t     Tier // for its numbers of lists
		last  = map[uint64]int{}
		takes []int64
	)
	for i, call := range calls {
		list := t.list(call.Fields)
		for _, uid := range call.UIDs {
			n := size(uid, call.Fields)
			if n < 0 {
				continue
			}
			k := key(list, uid)
			if before, ok := last[k]; ok && i >= from && n+Overhead <= bytes {
				// Room before the counted calls is free: that only raises the bound.
				takes = append(takes, (n+Overhead)*int64(i-max(before, from-1)))
			}
			last[k] = i
		}
	}
	slices.SortFunc(takes, cmp.Compare[int64])
	room := bytes * int64(len(calls)-from)
	hits := int64(0)
	for _, need := range takes {
		if room -= need; room < 0 {
			break
		}
		hits++
	}
	return hits
}
