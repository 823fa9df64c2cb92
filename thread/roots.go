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
// thread, then those that had no real root, then by leading row. The latest
// date starts from 0, as Dovecot's does.
func (sc *Scratch) orderByRecent(in *Input) {
	n := int32(in.N)
	for d := n; d < int32(len(sc.up)); d++ {
		sc.sortChildren(in, d)
	}
	sc.gatherRoots(in)
	sc.pack = sc.pack[:0]
	for _, dummies := range []bool{true, false} {
		for _, x := range sc.roots {
			if dummies != (x >= n || sc.lone[x] != 0) {
				continue
			}
			latest := int64(0)
			for y := x; y >= 0; y = sc.after(y) {
				if y < n {
					latest = max(latest, in.Date[y])
				}
			}
			sc.pack = append(sc.pack, keyed{dateKey(latest), x})
		}
	}
	sc.sortStable()
	for i, p := range sc.pack {
		sc.roots[i] = p.node
	}
}
