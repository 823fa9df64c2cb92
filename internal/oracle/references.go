package oracle

import (
	"cmp"
	"slices"
)

// A node is a message, or a dummy (mail == nil) for an id that no message has.
type node struct {
	mail     *mail
	parent   *node
	children []*node // filled when step (1) is over
	kids     int     // how many children there will be
}

// A forest links messages by their ids: steps (1) of REFERENCES.
type forest struct {
	byID  map[string]*node
	nodes []*node // in the order of their creation
}

func (f *forest) add(m *mail) *node {
	n := &node{mail: m}
	f.nodes = append(f.nodes, n)
	return n
}

// lookup finds the node of an id, or makes a dummy.
func (f *forest) lookup(id string) *node {
	n := f.byID[id]
	if n == nil {
		n = f.add(nil)
		f.byID[id] = n
	}
	return n
}

// hasAncestor says whether a is n or above n.
func (n *node) hasAncestor(a *node) bool {
	for ; n != nil; n = n.parent {
		if n == a {
			return true
		}
	}
	return false
}

// link makes child a child of parent unless that would close a loop.
func link(parent, child *node) {
	// A loop needs child above parent; without children it is above nothing.
	if parent == child || child.kids > 0 && parent.hasAncestor(child) {
		return
	}
	child.parent = parent
	parent.kids++
}

func (n *node) unlink() {
	if n.parent != nil {
		n.parent.kids--
		n.parent = nil
	}
}

// buildForest is RFC 5256 section 3, REFERENCES step (1).
func (box *Mailbox) buildForest() *forest {
	f := &forest{byID: make(map[string]*node)}
	own := make([]*node, len(box.mails))
	for i, m := range box.mails {
		// "If a message does not contain a Message-ID header line, or the
		// Message-ID header line does not contain a valid Message ID, then
		// assign a unique Message ID to this message." The same for the second
		// and later messages of one id.
		if m.ID == "" {
			own[i] = f.add(m)
		} else if n := f.lookup(m.ID); n.mail == nil {
			n.mail, own[i] = m, n
		} else {
			own[i] = f.add(m)
		}
		// (A) Using the Message IDs in the message's references, link the
		// corresponding messages together as parent/child.
		var last *node
		for _, id := range m.Refs {
			n := f.lookup(id)
			// "If a message already has a parent, don't change the existing
			// link." "Do not create a parent/child link if creating that link
			// would introduce a loop."
			if last != nil && n.parent == nil {
				link(last, n)
			}
			last = n
		}
		// (B) Create a parent/child link between the last reference (or NIL if
		// there are no references) and the current message. "If the current
		// message already has a parent, it is probably the result of a
		// truncated References header field, so break the current parent/child
		// link before creating the new correct one." No loop here either.
		if n := own[i]; n.parent != last {
			n.unlink()
			if last != nil {
				link(last, n)
			}
		}
	}
	for _, n := range f.nodes {
		if n.parent != nil {
			n.parent.children = append(n.parent.children, n)
		}
	}
	return f
}

// References answers THREAD REFERENCES (RFC 5256 section 3): the text after
// "* THREAD ".
func (box *Mailbox) References() string {
	f := box.buildForest()

	// (2) Gather together all of the messages that have no parents and make
	// them all children (siblings of one another) of a dummy parent (the
	// "root").
	root := new(node)
	for _, n := range f.nodes {
		if n.parent == nil {
			root.children = append(root.children, n)
		}
	}

	// (3) Prune dummy messages from the thread tree.
	pruneRoot(root)

	// (4) Sort the messages under the root (top-level siblings only) by sent
	// date. In the case of a dummy message, sort its children by sent date and
	// then use the first child for the top-level sort.
	sortTop(root)

	// (5) Gather together messages under the root that have the same base
	// subject text.
	mergeSubjects(root)

	// (6) Traverse the messages under the root and sort each set of siblings
	// by sent date. "In the case of a dummy message (which can only occur with
	// top-level siblings), use its first child for sorting."
	for _, n := range root.children {
		sortBelow(n)
	}
	sortTop(root)
	return appendThreads(nil, root.children)
}

// pruneRoot is step (3) under the root: "Do not promote the children if doing
// so would make them children of the root, unless there is only one child."
func pruneRoot(root *node) {
	var kept []*node
	for _, n := range root.children {
		n.children = pruned(n.children)
		switch {
		case n.mail != nil || len(n.children) > 1:
			kept = append(kept, n)
		case len(n.children) == 1:
			kept = append(kept, n.children[0])
		}
	}
	root.children = kept
}

// pruned is step (3) below the root: "If it is a dummy message with NO
// children, delete it. If it is a dummy message with children, delete it, but
// promote its children to the current level."
func pruned(siblings []*node) []*node {
	var kept []*node
	for _, n := range siblings {
		n.children = pruned(n.children)
		if n.mail != nil {
			kept = append(kept, n)
		} else {
			kept = append(kept, n.children...)
		}
	}
	return kept
}

// eldest is the message that stands for n: its own, or its first child's.
// The children of a dummy must be sorted.
func (n *node) eldest() *mail {
	if n.mail != nil {
		return n.mail
	}
	return n.children[0].mail
}

// compareSent: RFC 5256 section 2.2, by sent date; exact ties by sequence number.
func compareSent(a, b *mail) int {
	return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.seq, b.seq))
}

func sortSiblings(s []*node) {
	slices.SortFunc(s, func(a, b *node) int { return compareSent(a.eldest(), b.eldest()) })
}

// sortTop sorts the children of the root, and before that those of dummies.
func sortTop(root *node) {
	for _, n := range root.children {
		if n.mail == nil {
			sortSiblings(n.children)
		}
	}
	sortSiblings(root.children)
}

// sortBelow sorts the youngest sets of siblings first.
func sortBelow(n *node) {
	for _, child := range n.children {
		sortBelow(child)
	}
	sortSiblings(n.children)
}

// mergeSubjects is step (5).
func mergeSubjects(root *node) {
	// (A) Create a new subject table.
	table := make(map[string]*node)

	// (B) Populate the subject table with one message per each base subject.
	for _, n := range root.children {
		// (i) The subject of this thread is the base subject of the message,
		// or of its first child if it is a dummy.
		subject := n.eldest().Subject
		// (ii) If the thread subject is empty, skip this message.
		if subject == "" {
			continue
		}
		// (iii) Look up the message associated with the thread subject.
		// (iv) If there is none, add the current message. Otherwise, if the
		// message in the table is not a dummy, AND either the current message
		// is a dummy, OR the message in the table is a reply or forward and
		// the current message is not, then replace it.
		t := table[subject]
		if t == nil || t.mail != nil && (n.mail == nil || t.mail.Reply && !n.mail.Reply) {
			table[subject] = n
		}
	}

	// (C) Merge threads with the same thread subject.
	gone := make(map[*node]bool)
	for i := 0; i < len(root.children); i++ {
		n := root.children[i]
		if gone[n] {
			continue
		}
		// (i), (ii), (iii) as above.
		subject := n.eldest().Subject
		if subject == "" {
			continue
		}
		// (iv) If the message in the subject table is the current message,
		// skip this message.
		t := table[subject]
		if t == n {
			continue
		}
		switch {
		case t.mail == nil && n.mail == nil:
			// If both messages are dummies, append the current message's
			// children to the children of the message in the subject table,
			// and then delete the current message.
			t.children = append(t.children, n.children...)
			gone[n] = true
		case t.mail == nil, n.mail.Reply && !t.mail.Reply:
			// If the message in the subject table is a dummy and the current
			// message is not, or if the current message is a reply or forward
			// and the message in the subject table is not, make the current
			// message a child of the message in the subject table.
			t.children = append(t.children, n)
			gone[n] = true
		default:
			// Otherwise, create a new dummy message and make both the current
			// message and the message in the subject table children of the
			// dummy. Then replace the message in the subject table with the
			// dummy message.
			dummy := &node{children: []*node{t, n}}
			gone[t], gone[n] = true, true
			table[subject] = dummy
			root.children = append(root.children, dummy)
		}
	}
	root.children = slices.DeleteFunc(root.children, func(n *node) bool { return gone[n] })
}
