package thread

// mergeSubjects is step (5) of REFERENCES: roots of the same base subject become
// one thread. It reports whether it changed anything.
func (sc *Scratch) mergeSubjects(in *Input) (changed bool) {
	n := int32(in.N)
	top := int32(0)
	for _, x := range sc.roots {
		top = max(top, in.Subject[sc.lead(in, x)])
	}
	// (5)(A) The subject table.
	sc.table = stampedTo(sc.table, int(top)+1)
	sc.nextEpoch()
	table := sc.table

	// (5)(B) Who stands for each subject: a dummy before a message, an
	// original before a reply or forward, else the first.
	for _, x := range sc.roots {
		s := in.Subject[sc.lead(in, x)]
		if s == 0 {
			continue // (ii)
		}
		c := &table[s]
		if c.epoch != sc.epoch {
			*c = stamped{sc.epoch, x} // (iv)
			continue
		}
		if t := c.v; t < n && (x >= n || (in.Reply[t] != 0 && in.Reply[x] == 0)) {
			c.v = x
		}
	}

	// (5)(C) Merge each root into the one that stands for its subject.
	for _, x := range sc.roots {
		// A dummy's children may have grown by merging, its first has not
		// changed: it speaks for the dummy as in (B).
		s := in.Subject[sc.lead(in, x)]
		if s == 0 {
			continue
		}
		c := &table[s]
		t := c.v
		if t == x {
			continue
		}
		changed = true
		switch {
		case t >= n && x >= n:
			// Two dummies: the children become siblings. Spliced as a list,
			// and given their new parent one by one: each child can move once
			// only, since its old dummy is gone and its new one stands.
			for k := sc.first[x]; k >= 0; k = sc.next[k] {
				sc.up[k] = t
			}
			sc.next[sc.last[t]] = sc.first[x]
			sc.last[t] = sc.last[x]
			sc.deg[t] += sc.deg[x]
			sc.first[x], sc.deg[x] = -1, 0
		case t >= n, in.Reply[x] != 0 && in.Reply[t] == 0:
			sc.adoptLast(t, x)
		default:
			d := sc.newDummy()
			sc.adoptLast(d, t)
			sc.adoptLast(d, x)
			c.v = d
		}
	}
	return changed
}

// newDummy adds a dummy root.
func (sc *Scratch) newDummy() int32 {
	d := int32(len(sc.up))
	sc.up = append(sc.up, -1)
	sc.first = append(sc.first, -1)
	sc.next = append(sc.next, -1)
	sc.last = append(sc.last, -1)
	sc.deg = append(sc.deg, 0)
	return d
}
