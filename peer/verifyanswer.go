package peer

import (
	"bytes"
	"fmt"
	"slices"

	"mailbench/peer/imap"
)

// An answer is a reply to THREAD or SORT in a form that can be compared.
type answer struct {
	uids []uint32 // in the order of the reply; 0 is a parent that is not there
	// Of a thread only:
	depth  []int32 // of each uid, top-level messages 0
	parent []int32 // the place in uids of each one's parent, -1 of a top-level one
}

// threadAnswer reads an untagged THREAD line.
func threadAnswer(line []byte) (answer, error) {
	t, err := imap.ParseThread(bytes.TrimPrefix(line, []byte("* ")))
	if err != nil {
		return answer{}, err
	}
	a := answer{
		uids: make([]uint32, 0, len(t.Nodes)), depth: make([]int32, 0, len(t.Nodes)), parent: make([]int32, 0, len(t.Nodes)),
	}
	// Children are put on the stack behind their later siblings. No recursion:
	// threads are as deep as mail makes them.
	type place struct{ node, depth, parent int32 }
	var stack []place
	for _, root := range slices.Backward(t.Roots) {
		stack = append(stack, place{root, 0, -1})
	}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := &t.Nodes[p.node]
		at := int32(len(a.uids))
		a.uids, a.depth, a.parent = append(a.uids, n.Num), append(a.depth, p.depth), append(a.parent, p.parent)
		for _, kid := range slices.Backward(n.Children) {
			stack = append(stack, place{kid, p.depth + 1, at})
		}
	}
	return a, nil
}

func (a answer) equal(b answer) bool {
	return slices.Equal(a.uids, b.uids) && slices.Equal(a.depth, b.depth)
}

// above is the UID of the parent of the message in place i, 0 for none.
func (a answer) above(i int) uint32 {
	if a.parent == nil || a.parent[i] < 0 {
		return 0
	}
	return a.uids[a.parent[i]]
}

// first says where theirs (b) first differs from ours (a), and which messages
// are there: those two, their parents and the one before.
func (a answer) first(b answer) (text string, uids []uint32) {
	i := 0
	for i < len(a.uids) && i < len(b.uids) && a.uids[i] == b.uids[i] && (a.depth == nil || a.depth[i] == b.depth[i]) {
		i++
	}
	add := func(uid uint32) {
		if uid != 0 && !slices.Contains(uids, uid) {
			uids = append(uids, uid)
		}
	}
	name := func(x answer) string {
		if i >= len(x.uids) {
			return "nothing"
		}
		s := fmt.Sprintf("UID %d", x.uids[i])
		if x.uids[i] == 0 {
			s = "a parent that is not there"
		}
		add(x.uids[i])
		if x.parent != nil {
			if p := x.above(i); p != 0 {
				s += fmt.Sprintf(" below UID %d", p)
			} else if x.parent[i] >= 0 {
				s += " below a parent that is not there"
			} else {
				s += " at the top of a thread"
			}
		}
		return s
	}
	text = fmt.Sprintf("at place %d: theirs has %s, ours %s", i+1, name(b), name(a))
	for _, x := range []answer{a, b} {
		if i < len(x.uids) {
			add(x.above(i))
		}
	}
	if i > 0 {
		add(a.uids[i-1])
	}
	slices.Sort(uids)
	return text, uids
}

// moved is how many messages stand elsewhere in b: of a sort, the least number
// that must be moved to make one of the other; of threads, those with another
// parent, or when there are none those that must be moved.
func (a answer) moved(b answer) int {
	if n := len(a.otherParents(b)); n > 0 {
		return n
	}
	return len(a.uids) - longestKept(a.uids, b.uids) + max(0, len(b.uids)-len(a.uids))
}

// otherParents are the messages whose parents are not the same: UID 0 stands for
// the dummies, which are told apart by their first child that is a message.
func (a answer) otherParents(b answer) (uids []uint32) {
	if a.parent == nil || b.parent == nil {
		return nil
	}
	theirs := b.parents()
	for uid, p := range a.parents() {
		if q, ok := theirs[uid]; !ok || p != q {
			uids = append(uids, uid)
		}
	}
	slices.Sort(uids)
	return uids
}

// parents gives each message's parent; a dummy is the complement of its first
// child's UID, a top-level message's is 0.
func (a answer) parents() map[uint32]int64 {
	m := make(map[uint32]int64, len(a.uids))
	firstKid := map[int32]uint32{}
	for i, uid := range a.uids {
		p := a.parent[i]
		if uid == 0 {
			continue
		}
		switch {
		case p < 0:
			m[uid] = 0
		case a.uids[p] != 0:
			m[uid] = int64(a.uids[p])
		default:
			if firstKid[p] == 0 {
				firstKid[p] = uid
			}
			m[uid] = -int64(firstKid[p])
		}
	}
	return m
}

// longestKept is the length of the longest common subsequence of two orders of
// distinct UIDs: what need not be moved. O(n log n).
func longestKept(a, b []uint32) int { return len(keptOf(a, b)) }

// keptOf are the UIDs of such a subsequence. Dummies do not count.
func keptOf(a, b []uint32) map[uint32]bool {
	at := make(map[uint32]int, len(b))
	for i, uid := range b {
		if uid != 0 {
			at[uid] = i
		}
	}
	// Patience sorting on the places in b: ends[k] is the element of a (by index)
	// that ends the best subsequence of length k+1.
	var ends []int
	before := make([]int, len(a))
	for i, uid := range a {
		p, ok := at[uid]
		if !ok {
			continue
		}
		k, _ := slices.BinarySearchFunc(ends, p, func(e, p int) int { return at[a[e]] - p })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	kept := make(map[uint32]bool, len(ends))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			kept[a[i]] = true
		}
	}
	return kept
}
