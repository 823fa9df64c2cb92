// Package thread builds the thread trees of RFC 5256 over int32 columns. It
// knows no files, no headers and no strings: ids and subjects come as dense
// integers (see Interner), the tree goes out as a preorder list.
//
// # REFERENCES
//
// RFC 5256 section 3, in the order of the code:
//
//	(1) link.go    rows in sequence order; parent links between ids
//	(2) splice.go  what has no parent is a root
//	(3) splice.go  dummies go: a message hangs on its nearest real ancestor, or
//	               on the topmost dummy when there is none
//	(4) roots.go   roots by sent date; a dummy by its first child
//	(5) merge.go   roots of one base subject are merged
//	(6) emit.go    siblings by sent date, preorder
//
// Nodes. In step (1) node x < NumIDs is the message id x, and nodes from NumIDs
// on are rows that own no id: without one, or with one that a lower row has
// already. From step (3) on node x < N is row x and nodes from N on are the
// dummies that remain, all of them roots.
//
// Loops. A link parent -> child closes a loop if and only if child is an
// ancestor of parent or parent itself. Step (1) only ever gives a parent to a
// node that has none, so this is: is child the root of parent's tree? A child
// without children cannot be. Else we walk up from parent. On real mail the
// walks are a few steps; mail made to hurt can make each of them as long as the
// mailbox, and no union-find helps, because (1)(B) also cuts links. So the steps
// are counted, and when there are more than a fixed number per reference the
// same forest goes on as link-cut trees (cut.go), whose worst case is
// logarithmic. Build is O((rows + references) log n) at worst, and linear on
// anything anybody has ever sent.
//
// # Subsets
//
// THREAD threads the messages that its search found: others are as absent, as
// if the mailbox held only the found ones (RFC 5256 section 3). A subset gets
// its own dense ids first, so its cost does not depend on the mailbox.
//
// # REFS
//
// Dovecot's REFS is REFERENCES without the subject merge of step (5), with the
// threads in the order of their most recent message instead of their first. Of
// equally recent ones those without a real root come first, in the order in
// which their topmost id was first seen, then the others by row.
//
// # Changes
//
// Update (update.go) makes the forest of a changed set of rows out of the one
// before, equal to what Build gives, at about a third of its cost.
//
// # Invariants
//
//	I1. Every row of the input is in the Forest exactly once.
//	I2. A dummy is a root with at least two children.
//	I3. With a warm Scratch and Forest nothing allocates; nothing recurses.
//
// Dates decide order only, and equal dates fall back to the row.
package thread
