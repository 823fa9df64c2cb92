package index

// A record's payload is the summary after it and then what changed:
//
//	'R' n, n * uid            expunged
//	'F' n, n * (uid row)      flags changed (MODSEQ is the summary's)
//	'M' n, n * (uid row)      folder changed
//	'A' n, n * (uid, key, row) new
//
// where row is flags, dir, keywords; numbers are uvarints, UIDs are the
// difference to the one before in the same list.

func appendOps(b []byte, t *Table, d *Delta) []byte {
	rows := func(of []int32, key bool) (rows []Row) {
		for _, r := range of {
			row := Row{UID: t.uid[r], Flags: t.flags[r], Dir: t.dir[r], Keywords: t.Keywords(int(r))}
			if key {
				row.Key = string(t.Key(int(r)))
			}
			rows = append(rows, row)
		}
		return rows
	}
	n := News{Removed: d.Removed, Flagged: rows(d.Flagged, false), Moved: rows(d.Moved, false), Added: rows(d.Added, true)}
	return n.appendOps(b)
}

// appendOps appends the operations.
func (n *News) appendOps(b []byte) []byte {
	if len(n.Removed) > 0 {
		b = append(b, 'R')
		b = appendUvarint(b, uint64(len(n.Removed)))
		prev := uint32(0)
		for _, u := range n.Removed {
			b = appendUvarint(b, uint64(u-prev))
			prev = u
		}
	}
	b = appendRows(b, 'F', n.Flagged)
	b = appendRows(b, 'M', n.Moved)
	return appendRows(b, 'A', n.Added)
}

func appendRows(b []byte, op byte, rows []Row) []byte {
	if len(rows) == 0 {
		return b
	}
	b = append(b, op)
	b = appendUvarint(b, uint64(len(rows)))
	var prev uint32
	for i := range rows {
		r := &rows[i]
		b = appendUvarint(b, uint64(r.UID-prev))
		prev = r.UID
		if op == 'A' {
			b = appendUvarint(b, uint64(len(r.Key)))
			b = append(b, r.Key...)
		}
		b = appendUvarint(b, uint64(r.Flags))
		b = append(b, r.Dir)
		b = appendUvarint(b, uint64(r.Keywords))
	}
	return b
}

// eachOp calls fn with each operation of a payload whose summary s has been
// read: of an expunged message the UID only. what says which rule was broken, by
// the payload or as fn says.
func eachOp(c *cursor, s *summary, fn func(op byte, r *row) string) (what string) {
	for c.off < len(c.b) && !c.bad {
		op, n := c.byte(), c.uvarint()
		r := row{modseq: s.highestModSeq}
		for range n {
			r.uid += uint32(c.uvarint())
			switch op {
			case 'R':
			case 'A', 'F', 'M':
				if op == 'A' {
					r.key = string(c.bytes())
				}
				r.flags, r.dir, r.keywords = Flags(c.uvarint()), c.byte(), uint32(c.uvarint())
			default:
				return "unknown operation"
			}
			if c.bad {
				break
			}
			if what := fn(op, &r); what != "" {
				return what
			}
		}
	}
	if c.bad {
		return "operations end too early"
	}
	return ""
}

// applyOps replays a payload on t; what says which rule it broke.
func applyOps(t *Table, payload []byte) (what string) {
	c := cursor{b: payload}
	var s summary
	s.decode(&c)
	var gone []int32
	expunge := func() {
		if len(gone) > 0 {
			t.remove(gone, s.highestModSeq)
			gone = gone[:0]
		}
	}
	what = eachOp(&c, &s, func(op byte, r *row) string {
		i, there := t.Row(r.uid)
		switch op {
		case 'R':
			if !there {
				return "expunges a uid that is not there"
			}
			gone = append(gone, int32(i))
			return ""
		case 'A':
			expunge()
			if n := t.Len(); n > 0 && t.uid[n-1] >= r.uid || r.uid >= s.uidNext {
				return "adds a uid out of order"
			}
			t.add(r)
			return ""
		}
		if len(gone) > 0 {
			expunge()
			i, there = t.Row(r.uid)
		}
		if !there {
			return "changes a uid that is not there"
		}
		t.flags[i], t.dir[i] = r.flags, r.dir
		t.setKeywords(i, r.keywords)
		if op == 'F' {
			t.modseq[i] = r.modseq
		}
		return ""
	})
	if what != "" {
		return what
	}
	expunge()
	t.UIDValidity, t.UIDNext, t.HighestModSeq = s.uidValidity, s.uidNext, s.highestModSeq
	t.slots = nil
	if t.Len() != int(s.messages) {
		return "counts other messages than there are"
	}
	if t.set != s.set || t.added != s.added {
		return "names other messages than there are"
	}
	return ""
}
