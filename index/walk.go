package index

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// A walkShare is what one goroutine of a walk found.
type walkShare struct {
	seen    []uint64 // bitmap by row
	changed []row
	fresh   []Place
	twice   bool
	ok      bool
}

// walk is match without an Entry for each known message: those are compared
// with the table where the listing has their names, and only unknown names
// become entries. false: a name is there twice, or w cannot; match does it then.
func (r *reconciler) walk(w Walker, l *Listing) bool {
	t := r.t
	if t.Len() == 0 {
		return false
	}
	if t.slots == nil {
		t.index(0)
	}
	parts := runtime.GOMAXPROCS(0)
	if t.Len() < 16<<10 {
		parts = 1
	}
	shares := make([]walkShare, parts)
	var wg sync.WaitGroup
	for i := range shares {
		wg.Go(func() { shares[i].walk(w, l, t, i, parts) })
	}
	wg.Wait()
	all := &shares[0]
	for i := range shares {
		s := &shares[i]
		if !s.ok || s.twice {
			return false
		}
		if i == 0 {
			continue
		}
		for k, bits := range s.seen {
			if all.seen[k]&bits != 0 {
				return false
			}
			all.seen[k] |= bits
		}
		all.changed = append(all.changed, s.changed...)
		all.fresh = append(all.fresh, s.fresh...)
	}
	slices.SortFunc(all.changed, func(a, b row) int { return cmp.Compare(a.uid, b.uid) })
	slices.SortFunc(all.fresh, func(a, b Place) int { return cmp.Compare(a.At, b.At) })
	w.FillAt(l, all.fresh)
	r.walked, r.changed = true, all.changed
	r.entryOf = slices.Grow(r.entryOf[:0], t.Len())[:t.Len()]
	r.gone = r.gone[:0]
	for i := range r.entryOf {
		r.entryOf[i] = -1
		if all.seen[i>>6]&(1<<(i&63)) == 0 {
			r.gone = append(r.gone, int32(i))
		}
	}
	return true
}

func (s *walkShare) walk(w Walker, l *Listing, t *Table, part, parts int) {
	s.seen = make([]uint64, t.Len()/64+1)
	s.ok = w.Walk(l, part, parts, func(at uint32, key string, flags Flags, dir uint8, keywords uint32) {
		i := t.find(key)
		if i < 0 {
			s.fresh = append(s.fresh, Place{at, dir})
			return
		}
		bit := uint64(1) << (i & 63)
		if s.seen[i>>6]&bit != 0 {
			s.twice = true
		}
		s.seen[i>>6] |= bit
		if flags&allFlags != t.flags[i] || dir != t.dir[i] || keywords != t.Keywords(i) {
			s.changed = append(s.changed, row{uid: uint32(i), flags: flags, dir: dir, keywords: keywords})
		}
	})
}
