package sort

import "slices"

// Merge appends to dst[:0] what Order would give for the rows of old without
// those of gone and with those of fresh. old is what Order gave for crit on the
// same columns (new rows may have been added to them, keys that changed
// altogether must have kept their order, as ranks do); col(k) is that of
// criterion k, and all of them are there at a time. gone and fresh are in no
// order; fresh gets sorted. Each row's place is found by bisection, so it is
// O(changes * log n) and one copy of the order. ok is false when old is not in
// order or lacks a row that went.
func Merge(dst, old, gone, fresh []int32, crit []Criterion, col [][]uint64) (out []int32, ok bool) {
	compare := func(a, b int32) int {
		for k := range crit {
			x, y := col[k][a], col[k][b]
			if x != y {
				if (x < y) != crit[k].Reverse {
					return -1
				}
				return 1
			}
		}
		return int(a) - int(b)
	}
	slices.SortFunc(fresh, compare)
	at := make([]int, 0, len(gone)) // places in old
	for _, r := range gone {
		i, found := slices.BinarySearchFunc(old, r, compare)
		if !found {
			return dst, false
		}
		at = append(at, i)
	}
	slices.Sort(at)
	dst = slices.Grow(dst[:0], max(0, len(old)+len(fresh)-len(gone)))
	done := 0 // of old
	upTo := func(end int) {
		for len(at) > 0 && at[0] < end {
			dst = append(dst, old[done:at[0]]...)
			done, at = at[0]+1, at[1:]
		}
		if done < end {
			dst = append(dst, old[done:end]...)
			done = end
		}
	}
	for _, r := range fresh {
		i, found := slices.BinarySearchFunc(old[done:], r, compare)
		if found {
			return dst, false
		}
		upTo(done + i)
		dst = append(dst, r)
	}
	upTo(len(old))
	return dst, len(dst) == len(old)+len(fresh)-len(gone)
}
