package thread

// orderedSubject is ORDEREDSUBJECT of RFC 5256 section 3: messages of one base
// subject are one thread, the oldest the parent of all others; threads by the
// date of their first message. Empty subjects are a subject like any other.
func (sc *Scratch) orderedSubject(in *Input) {
	sc.up = filled(sc.up, in.N, -1)
	sc.reserve(int32(in.N))
	sc.pack = sized(sc.pack, in.N)
	top := int32(0)
	for row, d := range in.Date[:in.N] {
		sc.pack[row] = keyed{dateKey(d), int32(row)}
		top = max(top, in.Subject[row])
	}
	sc.sortStable()
	sc.table = stampedTo(sc.table, int(top)+1)
	sc.nextEpoch()
	sc.roots = sc.roots[:0]
	for _, p := range sc.pack {
		c := &sc.table[in.Subject[p.node]]
		if c.epoch != sc.epoch {
			*c = stamped{sc.epoch, p.node}
			sc.roots = append(sc.roots, p.node)
			continue
		}
		sc.adoptLast(c.v, p.node)
	}
}
