package index

import "slices"

// Delta is what a reconciliation changed, in the table's new row numbers.
type Delta struct {
	Added   []int32  // new rows; always the last ones
	Removed []uint32 // UIDs, ascending
	Flagged []int32  // rows whose flags or keywords changed
	Moved   []int32  // rows whose folder alone changed
}

func (d *Delta) reset() {
	d.Added, d.Removed, d.Flagged, d.Moved = d.Added[:0], d.Removed[:0], d.Flagged[:0], d.Moved[:0]
}

func (d *Delta) empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Flagged)+len(d.Moved) == 0
}

// reconciler brings a table and a listing together.
type reconciler struct {
	t       *Table
	entryOf []int32 // row -> entry of the listing, -1: not seen
	gone    []int32 // rows that were not seen, ascending
	perm    []int32 // new entries in their order
	walked  bool    // entryOf is of new rows only, and changed says what became of the others
	changed []row   // uid: the row
	delta   Delta
}

// match finds the row of each entry. Known entries come to the front of the
// listing (in the order they had), unknown ones behind them from position
// known, duplicates of either are dropped. O(n), no allocation per message.
func (r *reconciler) match(l *Listing) (known int) {
	t := r.t
	r.walked = false
	r.entryOf = append(r.entryOf[:0], make([]int32, t.Len())...)
	for i := range r.entryOf {
		r.entryOf[i] = -1
	}
	es := l.Entries
	if t.Len() > 0 {
		if t.slots == nil {
			t.index(len(es) / 8)
		}
		n := 0 // entries kept
		for i := range es {
			row := t.find(es[i].Key)
			if row < 0 {
				if n != i {
					es[n] = es[i]
				}
				n++
				continue
			}
			if at := r.entryOf[row]; at >= 0 {
				// A name counts once. It is seen twice when it moved from new/
				// to cur/ or changed its flags during the listing: cur/ is
				// where it has gone.
				if es[i].Dir < es[at].Dir {
					es[at] = es[i]
				}
				continue
			}
			if n != i {
				es[n] = es[i]
			}
			// Swap it to the end of the known ones.
			if n != known {
				es[n], es[known] = es[known], es[n]
			}
			r.entryOf[row] = int32(known)
			known++
			n++
		}
		es = es[:n]
		l.Entries = es
	}
	r.gone = r.gone[:0]
	for row, e := range r.entryOf {
		if e < 0 {
			r.gone = append(r.gone, int32(row))
		}
	}
	return known
}

// order fills r.perm with the positions of fresh in the source's order, a key
// that is there twice counted once: from cur/ if it is there too.
func (r *reconciler) order(fresh []Entry, src Source) {
	if o, ok := src.(IndexOrderer); ok {
		r.perm = o.OrderIndex(slices.Grow(r.perm[:0], len(fresh)), fresh)
	} else {
		src.Order(fresh)
		r.perm = slices.Grow(r.perm[:0], len(fresh))
		for i := range fresh {
			r.perm = append(r.perm, int32(i))
		}
	}
	n := 0
	for _, p := range r.perm {
		if n > 0 && fresh[p].Key == fresh[r.perm[n-1]].Key {
			if fresh[p].Dir < fresh[r.perm[n-1]].Dir {
				r.perm[n-1] = p
			}
			continue
		}
		r.perm[n] = p
		n++
	}
	r.perm = r.perm[:n]
}

// apply changes the table to what match found. gone (a subset of r.gone) is
// expunged; rows of r.gone that are not in it stay as they are.
func (r *reconciler) apply(l *Listing, known int, gone []int32, src Source) *Delta {
	t, d := r.t, &r.delta
	d.reset()
	fresh := l.Entries[known:]
	r.order(fresh, src)

	modseq := t.HighestModSeq + 1
	see := func(row int, flags Flags, dir uint8, keywords uint32) {
		if flags&allFlags != t.flags[row] || keywords != t.Keywords(row) {
			t.flags[row], t.dir[row], t.modseq[row] = flags&allFlags, dir, modseq
			t.setKeywords(row, keywords)
			d.Flagged = append(d.Flagged, int32(row))
		} else if dir != t.dir[row] {
			t.dir[row] = dir
			d.Moved = append(d.Moved, int32(row))
		}
	}
	if r.walked {
		for i := range r.changed {
			c := &r.changed[i]
			see(int(c.uid), c.flags, c.dir, c.keywords)
		}
	} else {
		for row, e := range r.entryOf {
			if e >= 0 {
				en := &l.Entries[e]
				see(row, en.Flags, en.Dir, en.Keywords)
			}
		}
	}
	if len(gone) > 0 {
		for _, row := range gone {
			d.Removed = append(d.Removed, t.uid[row])
		}
		t.remove(gone, modseq)
		shift(r.entryOf, gone, &r.entryOf)
		renumber(d.Flagged, gone)
		renumber(d.Moved, gone)
	}
	if len(fresh) > 0 {
		bytes := 0
		for i := range fresh {
			bytes += len(fresh[i].Key)
		}
		t.grow(len(r.perm), bytes)
		d.Added, r.entryOf = slices.Grow(d.Added, len(r.perm)), slices.Grow(r.entryOf, len(r.perm))
		for _, p := range r.perm {
			e := &fresh[p]
			d.Added = append(d.Added, int32(t.Len()))
			t.add(&row{uid: t.UIDNext, key: e.Key, flags: e.Flags & allFlags, dir: e.Dir, keywords: e.Keywords, modseq: modseq})
			t.UIDNext++
			r.entryOf = append(r.entryOf, int32(known)+p)
		}
		t.slots = nil
	}
	if len(d.Added)+len(d.Removed)+len(d.Flagged) > 0 {
		t.HighestModSeq = modseq
	}
	return d
}

// shift removes the elements at positions gone (ascending) from v.
func shift(v, gone []int32, out *[]int32) {
	n, next := 0, 0
	for i, x := range v {
		if next < len(gone) && int(gone[next]) == i {
			next++
			continue
		}
		v[n] = x
		n++
	}
	*out = v[:n]
}

// renumber turns old row numbers (ascending) into those after gone were removed.
func renumber(rows, gone []int32) {
	next := 0
	for i, r := range rows {
		for next < len(gone) && gone[next] < r {
			next++
		}
		rows[i] = r - int32(next)
	}
}
