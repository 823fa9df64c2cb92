package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// forest is trees over nodes: the first nodes are messages (rows of a search
// result, in order), the others dummies. It is built for clarity, but in
// linear space and time save for sorting.
type forest struct {
	t        *Truth
	rows     []int32
	parent   []int32   // of each node; none is a top-level node
	children []int32   // how many children a node has
	kids     [][]int32 // filled when the links are final
	top      []int32
}

const none int32 = -1

func (f *forest) dummy(node int32) bool { return int(node) >= len(f.rows) }

// Thread returns the line "* THREAD (1 2)(3 (4)(5))" with UIDs and without a
// line end. alg is references, refs or orderedsubject. uids, ascending, are the
// messages to thread; nil means all.
func (t *Truth) Thread(alg string, uids []uint32) (string, error) {
	line, err := t.thread(alg, uids)
	return string(line), err
}

func (t *Truth) thread(alg string, uids []uint32) ([]byte, error) {
	rows, err := t.rows(uids)
	if err != nil {
		return nil, err
	}
	f := &forest{t: t, rows: rows}
	switch strings.ToLower(alg) {
	case "references":
		f.link()
		f.prune()
		f.sortSiblings()
		f.sortTop()
		f.gather()
		f.sortSiblings()
		f.sortTop()
	case "refs":
		f.link()
		f.prune()
		f.sortSiblings()
		f.sortTopByLatest()
	case "orderedsubject":
		f.orderedSubject()
	default:
		return nil, fmt.Errorf("%w: thread %q", ErrAnswer, alg)
	}
	return f.append([]byte("* THREAD")), nil
}

// link is REFERENCES step (1): parents by the ids that messages name.
func (f *forest) link() {
	t := f.t
	// The node of each identity: the first message that carries it, or a dummy
	// made when it is named.
	nodes := make([]int32, t.pl.ids())
	for i := range nodes {
		nodes[i] = none
	}
	for node, row := range f.rows {
		// Without a valid id, or with one that an earlier message has, a message
		// gets an id that nobody can name.
		if id := t.id[row]; id != noID && nodes[id] == none {
			nodes[id] = int32(node)
		}
	}
	n := len(f.rows)
	f.parent, f.children = make([]int32, n), make([]int32, n)
	for i := range f.parent {
		f.parent[i] = none
	}
	var ids []int32
	for i, row := range f.rows {
		ids = t.pl.refs(ids[:0], t.links[row])
		last := none
		for _, id := range ids {
			node := nodes[id]
			if node == none {
				node = int32(len(f.parent))
				nodes[id] = node
				f.parent, f.children = append(f.parent, none), append(f.children, 0)
			}
			// (1)(A): an existing link stays, a loop is never made.
			if last != none && f.parent[node] == none && !f.above(node, last) {
				f.attach(node, last)
			}
			last = node
		}
		// (1)(B): the message's own last reference is its parent.
		me := int32(i)
		if p := f.parent[me]; p != none {
			f.parent[me] = none
			f.children[p]--
		}
		if last != none && !f.above(me, last) {
			f.attach(me, last)
		}
	}
}

func (f *forest) attach(node, parent int32) {
	f.parent[node] = parent
	f.children[parent]++
}

// above reports whether node is other or one of its ancestors. Without
// children it can only be other itself, which keeps long chains linear.
func (f *forest) above(node, other int32) bool {
	if node == other || f.children[node] == 0 {
		return node == other
	}
	for ; other != none; other = f.parent[other] {
		if other == node {
			return true
		}
	}
	return false
}

// prune is REFERENCES steps (2) and (3): dummies go, their children move up,
// but only a single child may move to the top.
func (f *forest) prune() {
	// The nearest ancestor that is a message, or the dummy at the top. Path
	// compression keeps chains of dummies linear.
	up := slices.Clone(f.parent)
	var path []int32
	resolve := func(node int32) int32 {
		path = path[:0]
		for a := up[node]; a != none && f.dummy(a) && up[a] != none; a = up[a] {
			path = append(path, node)
			node = a
		}
		a := up[node]
		for _, p := range path {
			up[p] = a
		}
		return a
	}
	f.kids = make([][]int32, len(f.parent))
	var top []int32
	for i := range f.rows {
		node := int32(i)
		if a := resolve(node); a == none {
			top = append(top, node)
		} else {
			f.kids[a] = append(f.kids[a], node)
		}
	}
	for node := int32(len(f.rows)); int(node) < len(f.parent); node++ {
		switch kids := f.kids[node]; {
		case len(kids) == 1:
			top = append(top, kids[0])
		case len(kids) > 1:
			top = append(top, node)
		}
	}
	f.top = top
}

// byDate orders messages by sent date, then by sequence number (RFC 5256
// section 2.2).
func (f *forest) byDate(a, b int32) int {
	ra, rb := f.rows[a], f.rows[b]
	if c := cmp.Compare(f.t.sent[ra], f.t.sent[rb]); c != 0 {
		return c
	}
	return cmp.Compare(ra, rb)
}

// first is the message that stands for a node in sorting and for its thread's
// subject: itself, or a dummy's first child. Only top-level nodes are dummies,
// and after gather also the children of dummies are messages.
func (f *forest) first(node int32) int32 {
	for f.dummy(node) {
		node = f.kids[node][0]
	}
	return node
}

// latest is the latest sent date in a tree.
func (f *forest) latest(node int32) int64 {
	best := f.t.sent[f.rows[f.first(node)]]
	stack := []int32{node}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], f.kids[at]...)
		if !f.dummy(at) {
			best = max(best, f.t.sent[f.rows[at]])
		}
	}
	return best
}

// sortSiblings is the order below the top of steps (4) and (6). Since a child
// sorts by its own date, the order of the work does not matter.
func (f *forest) sortSiblings() {
	for _, kids := range f.kids {
		slices.SortFunc(kids, f.byDate)
	}
}

// sortTop orders the threads by the message that stands for each, steps (4)
// and (6).
func (f *forest) sortTop() {
	slices.SortFunc(f.top, func(a, b int32) int { return f.byDate(f.first(a), f.first(b)) })
}

// sortTopByLatest is the order of REFS: the latest date of each thread, then
// the UID at its top. Where a missing message was at the top, the place is that
// of UID 0, also if its only child has taken it; such threads keep the order in
// which the missing messages were first named.
func (f *forest) sortTopByLatest() {
	type entry struct {
		node   int32
		latest int64
		uid    int32
		dummy  int32
	}
	entries := make([]entry, len(f.top))
	for i, node := range f.top {
		e := entry{node: node, latest: f.latest(node)}
		if p := f.parent[node]; p != none { // its parent, or the top of its parents, was a dummy
			for e.dummy = p; f.parent[e.dummy] != none; e.dummy = f.parent[e.dummy] {
			}
		} else if f.dummy(node) {
			e.dummy = node
		} else {
			e.uid = f.rows[node] + 1
		}
		entries[i] = e
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.latest, b.latest), cmp.Compare(a.uid, b.uid), cmp.Compare(a.dummy, b.dummy))
	})
	for i, e := range entries {
		f.top[i] = e.node
	}
}

// gather is REFERENCES step (5): threads of one base subject become one.
func (f *forest) gather() {
	t := f.t
	subject := func(node int32) uint32 { return t.subjects[t.subject[f.rows[f.first(node)]]] }
	isReply := func(node int32) bool { return t.reply[f.rows[node]] }

	table := make(map[uint32]int32) // (5)(A)
	for _, node := range f.top {    // (5)(B)
		s := subject(node)
		if s == 0 { // (ii)
			continue
		}
		old, ok := table[s]
		switch {
		case !ok: // (iv)
			table[s] = node
		case !f.dummy(old) && (f.dummy(node) || isReply(old) && !isReply(node)):
			table[s] = node
		}
	}
	gone := make(map[int32]bool)
	var fresh []int32
	for _, node := range f.top { // (5)(C)
		s := subject(node)
		head, ok := table[s]
		if s == 0 || !ok || head == node {
			continue
		}
		switch {
		case f.dummy(node) && f.dummy(head):
			f.kids[head] = append(f.kids[head], f.kids[node]...)
			gone[node] = true
		case f.dummy(head), isReply(node) && !isReply(head):
			f.kids[head] = append(f.kids[head], node)
			gone[node] = true
		default:
			both := int32(len(f.kids))
			f.kids = append(f.kids, []int32{head, node})
			gone[head], gone[node] = true, true
			fresh = append(fresh, both)
			table[s] = both
		}
	}
	f.top = append(slices.DeleteFunc(f.top, func(node int32) bool { return gone[node] }), fresh...)
}

// orderedSubject is THREAD=ORDEREDSUBJECT: messages by base subject, then by
// sent date; the first of each subject is the parent of the others. Unlike in
// REFERENCES the empty subject is one like any other.
func (f *forest) orderedSubject() {
	n := len(f.rows)
	f.kids = make([][]int32, n)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	subject := func(node int32) uint32 { return f.t.subjects[f.t.subject[f.rows[node]]] }
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(subject(a), subject(b)); c != 0 {
			return c
		}
		return f.byDate(a, b)
	})
	for i, node := range order {
		if i == 0 || subject(node) != subject(f.top[len(f.top)-1]) {
			f.top = append(f.top, node)
		} else {
			head := f.top[len(f.top)-1]
			f.kids[head] = append(f.kids[head], node)
		}
	}
	slices.SortFunc(f.top, f.byDate)
}

// append writes the forest in the grammar of RFC 5256 section 5, without
// recursion: a chain may be as long as the mailbox.
func (f *forest) append(dst []byte) []byte {
	type step struct {
		node  int32 // none closes a parenthesis
		opens bool  // the node begins a parenthesis
	}
	if len(f.top) > 0 {
		dst = append(dst, ' ')
	}
	var stack []step
	for _, top := range f.top {
		stack = append(stack, step{top, true})
		for len(stack) > 0 {
			s := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if s.node == none {
				dst = append(dst, ')')
				continue
			}
			if s.opens {
				dst = append(dst, '(')
			}
			kids := f.kids[s.node]
			if !f.dummy(s.node) {
				dst = appendInt(dst, int(f.rows[s.node]+1))
				if len(kids) > 0 {
					dst = append(dst, ' ')
				}
			}
			if s.opens {
				stack = append(stack, step{node: none})
			}
			for i := len(kids) - 1; i >= 0; i-- {
				stack = append(stack, step{kids[i], len(kids) > 1})
			}
		}
	}
	return dst
}
