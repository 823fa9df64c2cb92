package thread

// lead returns the row that speaks for a root: itself, or the first child of a
// dummy (RFC 5256 section 3, steps (4), (5)(B)(i) and (6)).
func (sc *Scratch) lead(in *Input, x int32) int32 {
	if x < int32(in.N) {
		return x
	}
	return sc.first[x]
}

// gatherRoots lists the roots in the order of their leading rows. Children of
// dummies must be sorted.
func (sc *Scratch) gatherRoots(in *Input) {
	sc.roots = sc.roots[:0]
	n := int32(in.N)
	for row := range n {
		if p := sc.up[row]; p < 0 {
			sc.roots = append(sc.roots, row)
		} else if p >= n && sc.first[p] == row {
			sc.roots = append(sc.roots, p)
		}
	}
}

// orderRoots is step (4), and (6) for the roots: by sent date, a dummy by its
// oldest child; ties by row.
func (sc *Scratch) orderRoots(in *Input) {
	for d := int32(in.N); d < int32(len(sc.up)); d++ {
		sc.sortChildren(in, d)
	}
	sc.gatherRoots(in)
	sc.pack = sized(sc.pack, len(sc.roots))
	for i, x := range sc.roots {
		sc.pack[i] = keyed{dateKey(in.Date[sc.lead(in, x)]), x}
	}
	sc.sortStable()
	for i, p := range sc.pack {
		sc.roots[i] = p.node
	}
}

// orderByRecent is the order of Dovecot's REFS: by the latest date in the
// thread; ties: threads without a real root first, in the order in which the
// mailbox first names their topmost dummy, then the others by root row. A lone
// child that took its dummy's place still counts as without a real root. The
// latest date starts from 0, as Dovecot's does.
func (sc *Scratch) orderByRecent(in *Input) {
	n := int32(in.N)
	sc.pack = sc.pack[:0]
	for _, id := range in.Ref[in.RefOff[0]:in.RefOff[n]] {
		d := sc.dummy[id]
		if d < 0 {
			continue
		}
		sc.dummy[id] = -1
		if sc.deg[d] == 0 {
			d = sc.last[d] // the lone child
		}
		sc.addRecent(in, d)
	}
	for row := range n {
		if sc.up[row] < 0 && sc.lone[row] == 0 {
			sc.addRecent(in, row)
		}
	}
	sc.sortStable()
	sc.roots = sc.roots[:0]
	for _, p := range sc.pack {
		sc.roots = append(sc.roots, p.node)
	}
	for d := n; d < int32(len(sc.up)); d++ {
		sc.sortChildren(in, d)
	}
}

func (sc *Scratch) addRecent(in *Input, root int32) {
	latest := int64(0)
	for x := root; x >= 0; x = sc.after(x) {
		if x < int32(in.N) {
			latest = max(latest, in.Date[x])
		}
	}
	sc.pack = append(sc.pack, keyed{dateKey(latest), root})
}
