package thread

// link is step (1) of REFERENCES: parent links between ids.
func (sc *Scratch) link(in *Input) {
	// At most one node per id and one per row.
	sc.parent = filled(sc.parent, in.NumIDs+in.N, -1)
	sc.owner = filled(sc.owner, in.NumIDs+in.N, -1)
	sc.kids = sized(sc.kids, in.NumIDs+in.N)
	clear(sc.kids)
	sc.nodeOf = sized(sc.nodeOf, in.N)
	sc.lct.on = false
	budget := walkBudget(in)
	nodes := int32(in.NumIDs)
	parent := sc.parent
	for row := range int32(in.N) {
		// (1)(A), first rule: a message without a valid id, or with one that
		// a lower message has, gets an id of its own.
		self := in.ID[row]
		if self < 0 || sc.owner[self] >= 0 {
			self = nodes
			nodes++
		}
		sc.owner[self] = row
		sc.nodeOf[row] = self

		// (1)(A): each reference is the parent of the next, unless that one
		// has a parent already or a loop would close.
		refs := in.Ref[in.RefOff[row]:in.RefOff[row+1]]
		last := int32(-1)
		for _, id := range refs {
			if last >= 0 && parent[id] < 0 {
				sc.adopt(last, id, budget)
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
				sc.adopt(last, self, budget)
			}
		}
	}
	sc.parent = parent[:nodes]
	sc.owner = sc.owner[:nodes]
}

// walkBudget is how many steps upwards Build takes before it changes to
// link-cut trees. Real mail needs about 0.1 per reference.
func walkBudget(in *Input) int64 { return 16*int64(len(in.Ref)+in.N) + 4096 }

// adopt makes p the parent of c, which has none, unless c is the root of p's
// tree: then the link would close a loop.
func (sc *Scratch) adopt(p, c int32, budget int64) {
	if p == c {
		return
	}
	if sc.kids[c] != 0 {
		if sc.lct.on {
			if sc.lct.root(p) == c {
				return
			}
		} else {
			x := p
			n := int64(0)
			for x >= 0 && x != c {
				x = sc.parent[x]
				n++
			}
			sc.steps += n
			if x == c {
				// Sets lct.on for the rest of this Build if it gets too much.
				sc.checkBudget(budget)
				return
			}
			sc.checkBudget(budget)
		}
	}
	sc.parent[c] = p
	sc.kids[p] = 1
	if sc.lct.on {
		sc.lct.link(c, p)
	}
}

func (sc *Scratch) checkBudget(budget int64) {
	if sc.steps > budget {
		sc.lct.start(sc.parent)
	}
}
