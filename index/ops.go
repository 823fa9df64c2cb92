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
	rowBytes := func(r int32) {
		b = appendUvarint(b, uint64(t.flags[r]))
		b = append(b, t.dir[r])
		b = appendUvarint(b, uint64(t.Keywords(int(r))))
	}
	var prev uint32
	list := func(op byte, rows []int32, key bool) {
		if len(rows) == 0 {
			return
		}
		b = append(b, op)
		b = appendUvarint(b, uint64(len(rows)))
		prev = 0
		for _, r := range rows {
			b = appendUvarint(b, uint64(t.uid[r]-prev))
			prev = t.uid[r]
			if key {
				k := t.Key(int(r))
				b = appendUvarint(b, uint64(len(k)))
				b = append(b, k...)
			}
			rowBytes(r)
		}
	}
	if len(d.Removed) > 0 {
		b = append(b, 'R')
		b = appendUvarint(b, uint64(len(d.Removed)))
		for _, u := range d.Removed {
			b = appendUvarint(b, uint64(u-prev))
			prev = u
		}
	}
	list('F', d.Flagged, false)
	list('M', d.Moved, false)
	list('A', d.Added, true)
	return b
}

// applyOps replays a payload on t; what says which rule it broke.
func applyOps(t *Table, payload []byte) (what string) {
	c := cursor{b: payload}
	var s summary
	s.decode(&c)
	var gone []int32
	for c.off < len(c.b) && !c.bad {
		op, n := c.byte(), c.uvarint()
		var uid uint32
		for range n {
			if c.bad {
				break
			}
			uid += uint32(c.uvarint())
			var key []byte
			if op == 'A' {
				key = c.bytes()
			}
			if op == 'R' {
				i, ok := t.Row(uid)
				if !ok {
					return "expunges a uid that is not there"
				}
				gone = append(gone, int32(i))
				continue
			}
			r := row{uid: uid, key: string(key), flags: Flags(c.uvarint()), dir: c.byte(), keywords: uint32(c.uvarint()), modseq: s.highestModSeq}
			if c.bad {
				break
			}
			switch op {
			case 'A':
				if n := t.Len(); n > 0 && t.uid[n-1] >= uid || uid >= s.uidNext {
					return "adds a uid out of order"
				}
				t.add(&r)
			case 'F', 'M':
				i, ok := t.Row(uid)
				if !ok {
					return "changes a uid that is not there"
				}
				t.flags[i], t.dir[i] = r.flags, r.dir
				t.setKeywords(i, r.keywords)
				if op == 'F' {
					t.modseq[i] = r.modseq
				}
			default:
				return "unknown operation"
			}
		}
		if len(gone) > 0 {
			t.remove(gone, s.highestModSeq)
			gone = gone[:0]
		}
	}
	if c.bad {
		return "operations end too early"
	}
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
