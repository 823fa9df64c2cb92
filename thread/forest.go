package thread

import (
	"errors"
	"fmt"
	"slices"

	"mailbench/internal/decimal"
)

// A Forest is thread trees in preorder: node i is message Row[i], or a dummy
// when that is -1, and has Kids[i] children, which follow it.
type Forest struct {
	Row  []int32
	Kids []int32
}

// AppendIMAP appends "* THREAD (1 2)(3 (4)(5))", without CRLF: RFC 5256 section
// 4. uid maps rows to UIDs (or sequence numbers). Parentheses are as few as the
// grammar allows: an only child follows its parent after a space, and each of
// several siblings is in parentheses. O(nodes); allocates to grow dst, and for
// trees that branch at more than 128 levels.
func (f *Forest) AppendIMAP(dst []byte, uid []uint32) []byte {
	dst = append(dst, "* THREAD"...)
	if len(f.Row) == 0 {
		return dst
	}
	dst = append(dst, ' ')
	// A node takes at most ten digits, a space and two parentheses; measured
	// on the UIDs at hand that is much less.
	widest := uint32(9)
	for _, r := range f.Row {
		if r >= 0 {
			widest = max(widest, uid[r])
		}
	}
	var w [10]byte
	dst = slices.Grow(dst, len(f.Row)*(decimal.Put(w[:], 0, widest)+3)+16)
	b := dst[:cap(dst)]
	n := len(dst)
	// open holds, for each node on the way that branches, the children to
	// come. Each such node ends what a parenthesis began.
	var room [128]int32
	open := room[:0]
	chain := false // the node is an only child: no parenthesis
	for i, r := range f.Row {
		if !chain {
			b[n] = '('
			n++
		}
		if r >= 0 {
			n = decimal.Put(b, n, uid[r])
		}
		kids := f.Kids[i]
		chain = kids == 1
		if kids > 0 {
			if r >= 0 {
				b[n] = ' '
				n++
			}
			if kids > 1 {
				open = append(open, kids)
			}
			continue
		}
		b[n] = ')'
		n++
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
			b[n] = ')'
			n++
		}
	}
	return dst[:n]
}

// ErrForest reports arrays that are no forest.
var ErrForest = errors.New("thread: not a forest")

// Check says whether f is a forest over rows 0..n-1 in which each row occurs at
// most once and dummies are roots with at least two children. Errors wrap
// ErrForest. For trees that were read from a file.
func (f *Forest) Check(n int) error {
	if len(f.Row) != len(f.Kids) {
		return fmt.Errorf("%w: %d rows, %d counts", ErrForest, len(f.Row), len(f.Kids))
	}
	seen := make([]uint64, n/64+1)
	// due is how many nodes the open tree still needs: each brings its
	// children and settles one.
	due := int64(0)
	for i, r := range f.Row {
		root := due == 0
		if root {
			due = 1
		}
		k := f.Kids[i]
		if k < 0 {
			return fmt.Errorf("%w: node %d has %d children", ErrForest, i, k)
		}
		due += int64(k) - 1
		if r == -1 {
			if !root || k < 2 {
				return fmt.Errorf("%w: dummy at node %d, root %v, children %d", ErrForest, i, root, k)
			}
			continue
		}
		if r < 0 || int(r) >= n {
			return fmt.Errorf("%w: row %d of %d at node %d", ErrForest, r, n, i)
		}
		if seen[r>>6]>>(r&63)&1 != 0 {
			return fmt.Errorf("%w: row %d twice", ErrForest, r)
		}
		seen[r>>6] |= 1 << (r & 63)
	}
	if due != 0 {
		return fmt.Errorf("%w: %d nodes missing", ErrForest, due)
	}
	return nil
}
