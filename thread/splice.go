package thread

// splice is steps (2) and (3) of REFERENCES: it turns the links between ids
// into a forest of rows, with dummies only as roots that have two children or
// more, and siblings in row order.
//
// RFC 5256 prunes while it walks down; we look at what is left in the end. A
// dummy without children goes. One below the root gives its children to its
// parent, so a message ends up under its nearest real ancestor; if there is
// none, under the topmost dummy, which goes too if that child is its only one.
func (sc *Scratch) splice(in *Input) {
	n := int32(in.N)
	nodes := len(sc.parent)
	sc.dummy = filled(sc.dummy, nodes, -1)
	sc.up = sized(sc.up, in.N)
	dummies := int32(0)
	for row := range n {
		p := sc.parent[sc.nodeOf[row]]
		if p < 0 {
			sc.up[row] = -1
			continue
		}
		if o := sc.owner[p]; o >= 0 {
			sc.up[row] = o
			continue
		}
		p = sc.nearest(p)
		if o := sc.owner[p]; o >= 0 {
			sc.up[row] = o
			continue
		}
		if sc.dummy[p] < 0 {
			sc.dummy[p] = n + dummies
			dummies++
		}
		sc.up[row] = sc.dummy[p]
	}
	sc.reserve(n + dummies)
	for d := n; d < n+dummies; d++ {
		sc.up[d] = -1
	}
	// Children in row order: prepend from behind.
	for row := n - 1; row >= 0; row-- {
		if p := sc.up[row]; p >= 0 {
			sc.prepend(p, row)
		}
	}
	// A lone child takes the place of its dummy, which keeps it as its last.
	sc.lone = sized(sc.lone, in.N)
	clear(sc.lone)
	for d := n; d < n+dummies; d++ {
		if sc.deg[d] == 1 {
			sc.lone[sc.first[d]] = 1
			sc.up[sc.first[d]] = -1
			sc.deg[d] = 0
			sc.first[d] = -1
		}
	}
}

// nearest returns the nearest real ancestor of the dummy x, or its topmost
// dummy one. The links on the way are shortened to it, so that a long chain of
// dummies is walked once: from here on only this function reads dummies' links.
func (sc *Scratch) nearest(x int32) int32 {
	top := x
	for sc.owner[top] < 0 && sc.parent[top] >= 0 {
		top = sc.parent[top]
	}
	for x != top && sc.owner[x] < 0 {
		x, sc.parent[x] = sc.parent[x], top
	}
	return top
}

// reserve prepares the tree arrays for nodes nodes without children.
func (sc *Scratch) reserve(nodes int32) {
	if cap(sc.up) < int(nodes) {
		sc.up = append(make([]int32, 0, int(nodes)+int(nodes)/8), sc.up...)
	}
	sc.up = sc.up[:nodes]
	sc.first = filled(sc.first, int(nodes), -1)
	sc.next = filled(sc.next, int(nodes), -1)
	sc.last = sized(sc.last, int(nodes))
	sc.deg = sized(sc.deg, int(nodes))
	clear(sc.deg)
}

// prepend makes c the first child of p.
func (sc *Scratch) prepend(p, c int32) {
	f := sc.first[p]
	if f < 0 {
		sc.last[p] = c
	}
	sc.next[c] = f
	sc.first[p] = c
	sc.deg[p]++
}

// adoptLast makes c the last child of p.
func (sc *Scratch) adoptLast(p, c int32) {
	sc.up[c] = p
	sc.next[c] = -1
	if sc.first[p] < 0 {
		sc.first[p] = c
	} else {
		sc.next[sc.last[p]] = c
	}
	sc.last[p] = c
	sc.deg[p]++
}
