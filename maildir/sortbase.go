package maildir

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// SortBase packs the numbers of a name into one word, sorts words by radix and
// moves each entry once. A name's word is seconds, class and microseconds,
// clamped; names whose words are equal are compared as strings afterwards.
// Clamping keeps the order, so only speed depends on names being sensible.
const (
	secBits  = 40
	usecBits = 22
	maxSecs  = 1<<secBits - 1
	maxUsecs = 1<<usecBits - 1
)

func (k orderKey) pack() uint64 {
	// A clamped number must not be ordered by what stands below it.
	if k.secs >= maxSecs {
		return maxSecs << (64 - secBits)
	}
	w := k.secs<<(64-secBits) | uint64(k.class)<<usecBits
	return w | min(k.usecs, maxUsecs)
}

type sortItem struct {
	key uint64
	at  uint32
	n   uint32 // the caller's
}

const (
	digitBits = 11
	digits    = 1 << digitBits
)

// SortBase sorts entries by Compare of their base names, which is the order of
// UIDs for new mail; stable. O(n) for names that begin with a time, O(n log n)
// among those with the same second and microsecond. It takes 32 bytes an entry
// of scratch, in a few allocations; nothing when already in order.
func SortBase(entries []Entry) {
	if slices.IsSortedFunc(entries, compareEntries) {
		return
	}
	permute(entries, sortItems(len(entries), func(i int) string { return entries[i].Base }))
}

// OrderBase appends the numbers 0 to n-1 to dst in the order of the base names
// that base returns: SortBase without anything being moved.
func OrderBase(dst []int32, n int, base func(i int) string) []int32 {
	for _, it := range sortItems(n, base) {
		dst = append(dst, int32(it.at))
	}
	return dst
}

// sortItems sorts 0 to n-1 by their base names.
func sortItems(n int, base func(i int) string) []sortItem {
	items := make([]sortItem, n)
	for i := range n {
		items[i] = sortItem{key: keyOf(base(i)).pack(), at: uint32(i)}
	}
	return sortPacked(items, func(at uint32) string { return base(int(at)) })
}

// sortPacked sorts items whose keys are packed and whose at ascends; base gives
// the name at a place.
func sortPacked(items []sortItem, base func(at uint32) string) []sortItem {
	n := len(items)
	if n < digits { // the counters would cost more than the sort
		slices.SortFunc(items, func(a, b sortItem) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return cmp.Compare(a.at, b.at)
		})
	} else {
		var differ uint64
		for i := range items {
			differ |= items[i].key ^ items[0].key
		}
		items = radix(items, make([]sortItem, n), differ)
	}
	for from := 0; from < n; {
		to := from + 1
		for to < n && items[to].key == items[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortStableFunc(items[from:to], func(a, b sortItem) int {
				return Compare(base(a.at), base(b.at))
			})
		}
		from = to
	}
	return items
}

func compareEntries(a, b Entry) int { return Compare(a.Base, b.Base) }

// radix sorts by the bits in which the keys differ, lowest digit first. Each
// digit starts at the lowest such bit that is left, so bits that all keys share
// cost no pass.
func radix(from, to []sortItem, differ uint64) []sortItem {
	var count [digits]int32
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		differ &^= (digits - 1) << shift
		clear(count[:])
		for i := range from {
			count[from[i].key>>shift%digits]++
		}
		var sum int32
		for d, c := range count {
			count[d] = sum
			sum += c
		}
		for _, it := range from {
			d := it.key >> shift % digits
			to[count[d]] = it
			count[d]++
		}
		from, to = to, from
	}
	return from
}

// permute puts entries[items[i].at] at i by following cycles: each entry moves
// once and nothing is allocated. It uses up items.
func permute(entries []Entry, items []sortItem) {
	const done = math.MaxUint32
	for start := range items {
		if items[start].at == done || int(items[start].at) == start {
			continue
		}
		first := entries[start]
		at := start
		for {
			next := int(items[at].at)
			items[at].at = done
			if next == start {
				entries[at] = first
				break
			}
			entries[at] = entries[next]
			at = next
		}
	}
}
