package column

import (
	"errors"
	"slices"
	"sync"

	mailsort "mailbench/sort"
)

// prune returns a store of the rows keep (ascending) of s, with ids and
// strings that nothing uses any more dropped and everything renumbered as if
// only these messages had ever been there, and the parts to write. s is fully
// loaded and stays as it was. O(rows + ids + text).
func (s *store) prune(keep []int32) (*store, []part, error) {
	if err := s.loadAll(); err != nil {
		return nil, nil, err
	}
	var hash []byte // all, by id
	err := s.hashes(func(_ int, b []byte) {
		if hash == nil {
			hash = b[:len(b):len(b)] // one segment: mapped, not copied
		} else {
			hash = append(hash, b...)
		}
	})
	if err == nil && len(hash) != 16*s.cols.numIDs {
		err = corrupt("hash")
	}
	if err != nil {
		return nil, nil, err
	}

	n := newStore(s.key)
	n.rows = len(keep)
	var wg sync.WaitGroup
	var work [2 + len(addressKeys)]piece
	wg.Go(func() { n.pruneLinks(s, keep, hash, &work[0]) })
	wg.Go(func() {
		for i := range s.address {
			if s.address[i].hasVal {
				n.address[i].val, n.address[i].dict = pruneText(&s.address[i], s.address[i].val, keep, &work[2+i])
				t := &n.address[i]
				t.hasVal, t.hasRanks, t.hasText = true, true, true
				work[2+i].parts = append(work[2+i].parts, part{name: t.name, rows: n.rows, b: appendUints(nil, t.val)})
			}
		}
		if s.arrival != nil {
			n.arrival = pick(s.arrival, keep)
			work[1].add("arrival", n.rows, appendDeltas(nil, n.arrival))
		}
		if s.size != nil {
			n.size = pick(s.size, keep)
			work[1].add("size", n.rows, appendDeltas(nil, n.size))
		}
	})
	wg.Wait()
	var parts []part
	for i := range work {
		err = errors.Join(err, work[i].err)
		parts = append(parts, work[i].parts...)
	}
	return n, parts, err
}

// A piece is what one goroutine of prune made.
type piece struct {
	parts []part
	err   error
}

func (p *piece) add(name string, rows int, b []byte) {
	p.parts = append(p.parts, part{name: name, rows: rows, b: b})
}

// loadAll decodes every column that the file has, envelopes excepted.
func (s *store) loadAll() error {
	err := s.loadThreads()
	for i := range s.address {
		if s.covers(s.address[i].name) {
			err = errors.Join(err, s.loadVal(&s.address[i]), s.loadText(&s.address[i]))
		}
	}
	if s.covers("arrival") {
		err = errors.Join(err, s.loadNumbers("arrival", &s.arrival))
	}
	if s.covers("size") {
		err = errors.Join(err, s.loadNumbers("size", &s.size))
	}
	return err
}

// loadThreads decodes what every row has, on two processors.
func (s *store) loadThreads() error {
	var textErr error
	var wg sync.WaitGroup
	wg.Go(func() { textErr = s.loadText(&s.subject) })
	err := errors.Join(s.loadLinks(), s.loadDates())
	wg.Wait()
	return errors.Join(err, textErr)
}

func (n *store) pruneLinks(s *store, keep []int32, hash []byte, p *piece) {
	c, from := &n.cols, &s.cols
	var text piece
	var wg sync.WaitGroup
	wg.Go(func() { // meanwhile
		c.subject, n.subject.dict = pruneText(&s.subject, from.subject, keep, &text)
		c.date = pick(from.date, keep)
	})
	c.uid, c.ctl = pick(from.uid, keep), pick(from.ctl, keep)
	c.id = make([]int32, len(keep))
	c.refOff = make([]uint32, 1, len(keep)+1)
	c.ref = make([]int32, 0, len(from.ref))
	number := make([]int32, from.numIDs) // new number+1 by old
	left := make([]byte, 0, len(hash))
	renumber := func(id int32) int32 {
		if number[id] == 0 {
			left = append(left, hash[16*id:16*id+16]...)
			number[id] = int32(len(left) / 16)
		}
		return number[id] - 1
	}
	for i, r := range keep {
		c.id[i] = -1
		if id := from.id[r]; id >= 0 {
			c.id[i] = renumber(id)
		}
		for _, id := range from.ref[from.refOff[r]:from.refOff[r+1]] {
			c.ref = append(c.ref, renumber(id))
		}
		c.refOff = append(c.refOff, uint32(len(c.ref)))
	}
	c.numIDs = len(left) / 16
	wg.Wait()
	var st streams
	c.encode(&st, 0, 0)
	p.add("uid", n.rows, st.uid)
	p.add("ctl", n.rows, st.ctl)
	p.add("id", n.rows, st.id)
	p.add("ref", n.rows, st.ref)
	p.parts = append(p.parts, text.parts...)
	p.add("subject", n.rows, st.subject)
	p.add("date", n.rows, st.date)
	p.add("hash", c.numIDs, left)
}

// pruneText drops the strings that no kept row uses and numbers the others by
// rank.
func pruneText(t *text, val, keep []int32, p *piece) ([]int32, dict) {
	used := make([]bool, t.dict.len())
	if len(used) > 0 {
		used[0] = true // "" is always there
	}
	for _, r := range keep {
		used[val[r]] = true
	}
	var order []int32 // by rank; nil: the numbers are the ranks
	if rank := t.dict.ranks(); rank != nil {
		order = make([]int32, len(rank))
		for id, r := range rank {
			order[r] = int32(id)
		}
	}
	number := make([]int32, t.dict.len())
	a := mailsort.Arena{Data: make([]byte, 0, len(t.dict.text.Data)), Off: make([]uint32, 1, t.dict.len()+1)}
	count := int32(0)
	for r := range number {
		id := int32(r)
		if order != nil {
			id = order[r]
		}
		if used[id] {
			number[id] = count
			count++
			a.Append(t.dict.str(id))
		}
	}
	out := make([]int32, len(keep))
	for i, r := range keep {
		out[i] = number[val[r]]
	}
	p.add(t.name+".str", int(count), appendStrings(make([]byte, 0, len(a.Data)+2*int(count)+8), &a))
	return out, dict{base: int(count), text: a}
}

// pick takes the elements at positions at.
func pick[T any](v []T, at []int32) []T {
	out := make([]T, len(at))
	for i, r := range at {
		out[i] = v[r]
	}
	return out
}

// all is 0, 1, ... n-1.
func all(n int) []int32 {
	return slices.Collect(func(yield func(int32) bool) {
		for i := range int32(n) {
			if !yield(i) {
				return
			}
		}
	})
}
