package sort

import (
	"slices"

	"mailbench/internal/decimal"
)

// AppendIMAP appends "* SORT 2 1 3", without CRLF (RFC 5256 section 4).
func AppendIMAP(dst []byte, uids []uint32) []byte {
	dst = append(dst, "* SORT"...)
	dst = slices.Grow(dst, 11*len(uids))
	n := len(dst)
	b := dst[:cap(dst)]
	for _, u := range uids {
		b[n] = ' '
		n = decimal.Put(b, n+1, u)
	}
	return dst[:n]
}
