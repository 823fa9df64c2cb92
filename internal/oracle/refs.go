package oracle

import (
	"cmp"
	"slices"
)

// Refs answers Dovecot's THREAD REFS: linked and pruned as REFERENCES, but
// nothing is merged by subject, a top-level dummy keeps even an only child's
// place in the order, and threads are ordered by their most recent message.
// The text after "* THREAD ".
func (box *Mailbox) Refs() string {
	f := box.buildForest()
	type thread struct {
		root   *node
		latest int64
		uid    uint32 // breaks ties; a dummy has 0, and keeps its place
	}
	var threads []thread
	for _, n := range f.nodes {
		if n.parent != nil {
			continue
		}
		t := thread{root: n}
		if n.mail != nil {
			t.uid = n.mail.uid
		}
		n.walk(func(m *mail) { t.latest = max(t.latest, m.Sent) })
		if n.children = pruned(n.children); n.mail != nil || len(n.children) > 0 {
			threads = append(threads, t)
		}
	}
	slices.SortStableFunc(threads, func(a, b thread) int {
		return cmp.Or(cmp.Compare(a.latest, b.latest), cmp.Compare(a.uid, b.uid))
	})
	var roots []*node
	for _, t := range threads {
		sortBelow(t.root)
		if t.root.mail == nil && len(t.root.children) == 1 {
			t.root = t.root.children[0] // step (3): an only child is promoted
		}
		roots = append(roots, t.root)
	}
	return appendThreads(nil, roots)
}

// walk calls fn for each message of the tree.
func (n *node) walk(fn func(*mail)) {
	if n.mail != nil {
		fn(n.mail)
	}
	for _, c := range n.children {
		c.walk(fn)
	}
}
