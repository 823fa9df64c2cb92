package thread

// link is step (1) of REFERENCES: parent links between ids.
func (sc *Scratch) link(in *Input) {
	// (1)(A), first rule: a message without a valid id, or with one that a
	// lower message has, gets an id of its own.
	sc.owner = filled(sc.owner, in.NumIDs, -1)
	own := 0
	for row, id := range in.ID[:in.N] {
		if id >= 0 && sc.owner[id] < 0 {
			sc.owner[id] = int32(row)
		} else {
			own++
		}
	}
	n := in.NumIDs + own
	if cap(sc.owner) < n {
		sc.owner = append(make([]int32, 0, n+n/8), sc.owner...)
	}
	sc.owner = sc.owner[:n]
	sc.parent = filled(sc.parent, n, -1)
	sc.kids = sized(sc.kids, n)
	clear(sc.kids)
	sc.nodeOf = sized(sc.nodeOf, in.N)
	sc.lct.on = false
	sc.budget = walkBudget(in)
	if sc.testBudget > 0 {
		sc.budget = sc.testBudget
	}
	nodes := int32(in.NumIDs)
	parent := sc.parent
	for row := range int32(in.N) {
		self := in.ID[row]
		if self < 0 || sc.owner[self] != row {
			self = nodes
			sc.owner[self] = row
			nodes++
		}
		sc.nodeOf[row] = self

		// (1)(A): each reference is the parent of the next, unless that one
		// has a parent already or a loop would close.
		refs := in.Ref[in.RefOff[row]:in.RefOff[row+1]]
		last := int32(-1)
		for _, id := range refs {
			if last >= 0 && parent[id] < 0 {
				sc.adopt(last, id)
			}
			last = id
		}

		// (1)(B): the last reference is the parent of the message, in place
		// of a parent that somebody else's references gave it.
		if p := parent[self]; p != last {
			if p >= 0 {
				parent[self] = -1
				if sc.lct.on {
					sc.lct.cut(self)
				}
			}
			if last >= 0 {
				sc.adopt(last, self)
			}
		}
	}
}

// walkBudget is how many steps upwards Build takes before it changes to
// link-cut trees. Real mail needs 0.01 per reference.
func walkBudget(in *Input) int64 { return 16*int64(len(in.Ref)+in.N) + 4096 }

// adopt makes p the parent of c, which has none, unless c is the root of p's
// tree: then the link would close a loop.
func (sc *Scratch) adopt(p, c int32) {
	if p == c || (sc.kids[c] != 0 && sc.root(p) == c) {
		return
	}
	sc.parent[c] = p
	sc.kids[p] = 1
	if sc.lct.on {
		sc.lct.link(c, p)
	}
}

// root returns the root of x's tree, by walking as long as that is cheap.
func (sc *Scratch) root(x int32) int32 {
	if sc.lct.on {
		return sc.lct.root(x)
	}
	n := int64(0)
	for sc.parent[x] >= 0 {
		x = sc.parent[x]
		n++
	}
	if sc.steps += n; sc.steps > sc.budget {
		sc.lct.start(sc.parent)
	}
	return x
}
