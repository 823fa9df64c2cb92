package thread

// Build threads the rows of in (all of them when rows is nil, else these, which
// must ascend) by alg and puts the trees into dst, reusing its memory. Rows in
// dst are rows of in. See the package comment for the algorithm, its cost and
// its invariants.
func Build(alg Alg, in *Input, rows []int32, dst *Forest, sc *Scratch) {
	dst.Row, dst.Kids = dst.Row[:0], dst.Kids[:0]
	sc.steps, sc.lct.steps = 0, 0
	sc.rows = rows
	if rows != nil {
		in = sc.subset(alg, in, rows)
	}
	if in.N == 0 {
		return
	}
	switch alg {
	case OrderedSubject:
		sc.orderedSubject(in)
	default:
		sc.link(in)
		sc.splice(in)
		if alg == Refs {
			sc.orderByRecent(in)
		} else {
			sc.orderRoots(in)
			if sc.mergeSubjects(in) {
				sc.orderRoots(in)
			}
		}
	}
	sc.emit(in, dst)
}

// subset makes an Input of the given rows alone, with dense ids of its own.
// Subjects keep their numbers: they are only looked up.
func (sc *Scratch) subset(alg Alg, in *Input, rows []int32) *Input {
	l := &sc.local
	n := len(rows)
	l.N = n
	l.Date = sized(l.Date, n)
	for i, r := range rows {
		l.Date[i] = in.Date[r]
	}
	if alg != Refs {
		l.Subject = sized(l.Subject, n)
		for i, r := range rows {
			l.Subject[i] = in.Subject[r]
		}
	}
	if alg == References {
		l.Reply = sized(l.Reply, n)
		for i, r := range rows {
			l.Reply[i] = in.Reply[r]
		}
	}
	if alg == OrderedSubject {
		return l
	}
	sc.stamp = stampedTo(sc.stamp, in.NumIDs)
	sc.nextEpoch()
	l.ID = sized(l.ID, n)
	l.RefOff = sized(l.RefOff, n+1)
	l.Ref = l.Ref[:0]
	l.NumIDs = 0
	intern := func(id int32) int32 {
		c := &sc.stamp[id]
		if c.epoch != sc.epoch {
			*c = stamped{sc.epoch, int32(l.NumIDs)}
			l.NumIDs++
		}
		return c.v
	}
	for i, r := range rows {
		l.ID[i] = -1
		if id := in.ID[r]; id >= 0 {
			l.ID[i] = intern(id)
		}
		l.RefOff[i] = uint32(len(l.Ref))
		for _, id := range in.Ref[in.RefOff[r]:in.RefOff[r+1]] {
			l.Ref = append(l.Ref, intern(id))
		}
	}
	l.RefOff[n] = uint32(len(l.Ref))
	return l
}
