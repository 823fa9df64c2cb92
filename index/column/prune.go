package column

import (
	"errors"
	"slices"
	"sync"

	"mailbench/index/blockfile"
	mailsort "mailbench/sort"
)

// A pruner writes the parts of a cache that has the rows keep of s alone, as if
// only these messages had ever been there: ids and strings that nothing uses
// any more are dropped, the others numbered anew. What can be is passed from the
// old stream to the new one without being decoded into columns.
type pruner struct {
	s    *store
	keep []int32 // ascending
	hash []byte  // all, by id
	mu   sync.Mutex
	made map[string]part
}

// prune returns the parts to write, envelopes and state excepted. O(rows + ids +
// text), on two processors.
func (s *store) prune(keep []int32) ([]part, error) {
	p := &pruner{s: s, keep: keep, made: map[string]part{}}
	var hashErr, textErr error
	var old textStream
	var wg sync.WaitGroup
	wg.Go(func() {
		hashErr = p.hashes()
		old, textErr = s.textStream(&s.subject)
	})
	err := s.loadLinks()
	wg.Wait()
	if err = errors.Join(err, hashErr, textErr); err != nil {
		return nil, err
	}
	if len(p.hash) != 16*s.cols.numIDs {
		return nil, corrupt("hash")
	}
	number, count := renumber(&s.subject.dict, s.cols.subject, keep)
	var linksErr, restErr error
	wg.Go(func() { linksErr = p.links(number) })
	wg.Go(func() {
		restErr = errors.Join(p.text("subject", &old, &s.subject.dict, number, count), p.deltas("date"))
		for i := range s.address {
			if t := &s.address[i]; restErr == nil && s.covers(t.name) {
				restErr = p.address(t)
			}
		}
		for _, name := range [...]string{"arrival", "size"} {
			if restErr == nil && s.covers(name) {
				restErr = p.deltas(name)
			}
		}
	})
	wg.Wait()
	if err := errors.Join(linksErr, restErr); err != nil {
		return nil, err
	}
	var parts []part
	for _, name := range partOrder {
		if x, ok := p.made[name]; ok {
			parts = append(parts, x)
		}
	}
	return parts, nil
}

// partOrder is the order in which a segment has its parts.
var partOrder = [...]string{
	"uid", "ctl", "id", "ref", "subject.str", "subject", "date", "hash",
	"from.str", "from", "to.str", "to", "cc.str", "cc", "dispfrom.str", "dispfrom", "dispto.str", "dispto",
	"arrival", "size",
}

// add takes a part, and compresses it if that is to be done: the writer would
// have to wait for it.
func (p *pruner) add(name string, rows int, b []byte) {
	x := part{name: name, rows: rows, b: b}
	if n := zstdBlock(&x); n > 0 {
		x.packed = blockfile.Pack(b, n)
	}
	p.mu.Lock()
	p.made[name] = x
	p.mu.Unlock()
}

func (p *pruner) hashes() error {
	return p.s.hashes(func(_ int, b []byte) {
		if p.hash == nil {
			p.hash = b[:len(b):len(b)] // one segment: mapped, not copied
		} else {
			p.hash = append(p.hash, b...)
		}
	})
}

// links is columns.encode of the kept rows, with ids numbered as they come.
// Whether references are those of another row does not depend on numbers.
func (p *pruner) links(subject []int32) error {
	c := &p.s.cols
	n := len(p.keep)
	owner := make([]int32, c.numIDs)  // by old id: 1 + first new row that has it as its own
	number := make([]int32, c.numIDs) // by old id: 1 + new id
	for i, r := range p.keep {
		if id := c.id[r]; id >= 0 && owner[id] == 0 {
			owner[id] = int32(i) + 1
		}
	}
	refs := 0
	for _, r := range p.keep {
		refs += int(c.refOff[r+1] - c.refOff[r])
	}
	s := streams{ctl: make([]byte, 0, n), ref: make([]byte, 0, n+refs+10), subject: make([]byte, 0, 2*n)}
	s.ref = appendUint(s.ref, uint64(refs))
	hash := make([]byte, 0, len(p.hash))
	next := int32(0)
	fresh := func(id int32) {
		hash = append(hash, p.hash[16*id:16*id+16]...)
		next++
		number[id] = next
	}
	for i, row := range p.keep {
		ctl := c.ctl[row] & ctlKeep
		if id := c.id[row]; id >= 0 {
			if number[id] == 0 {
				ctl |= ctlIDNew
				fresh(id)
			} else {
				ctl |= ctlIDOld
				s.id = appendUint(s.id, uint64(next-number[id]))
			}
		}
		r := c.ref[c.refOff[row]:c.refOff[row+1]]
		up := -1
		if len(r) > 0 {
			if k := int(owner[r[len(r)-1]]) - 1; k >= 0 && k < i {
				old := p.keep[k]
				if slices.Equal(r[:len(r)-1], c.ref[c.refOff[old]:c.refOff[old+1]]) {
					up = k
				}
			}
		}
		switch {
		case len(r) == 0:
		case up >= 0:
			ctl |= ctlRefChain
			s.ref = appendUint(s.ref, uint64(i-up-1))
		default:
			ctl |= ctlRefList
			s.ref = appendUint(s.ref, uint64(len(r)-1))
			for _, id := range r {
				if number[id] == 0 {
					s.ref = append(s.ref, 0)
					fresh(id)
				} else {
					s.ref = appendUint(s.ref, uint64(next-number[id]+1))
				}
			}
		}
		if up >= 0 && c.subject[row] == c.subject[p.keep[up]] {
			ctl |= ctlSubjectUp
		} else {
			s.subject = appendUint(s.subject, uint64(subject[c.subject[row]]))
		}
		s.ctl = append(s.ctl, ctl)
	}
	p.add("uid", n, appendRuns(nil, pick(c.uid, p.keep)))
	p.add("ctl", n, s.ctl)
	p.add("id", n, s.id)
	p.add("ref", n, s.ref)
	p.add("subject", n, s.subject)
	p.add("hash", int(next), hash)
	return nil
}

// deltas passes on a part of differences.
func (p *pruner) deltas(name string) error {
	out := make([]byte, 0, 3*len(p.keep)+16)
	row, next := 0, 0
	var last int64
	err := p.s.each(name, func(b []byte, rows int) bool {
		c := cursor{b: b}
		var v int64
		for end := row + rows; row < end; row++ {
			v += c.int()
			if next < len(p.keep) && int(p.keep[next]) == row {
				out = appendInt(out, v-last)
				last = v
				next++
			}
		}
		return c.done()
	})
	if err == nil && (row != p.s.rows || next != len(p.keep)) {
		err = corrupt(name)
	}
	p.add(name, len(p.keep), out)
	return err
}

func (p *pruner) address(t *text) error {
	old, err := p.s.textStream(t)
	if err == nil {
		err = p.s.loadVal(t)
	}
	if err != nil {
		return err
	}
	number, count := renumber(&t.dict, t.val, p.keep)
	out := make([]byte, 0, 2*len(p.keep))
	for _, r := range p.keep {
		out = appendUint(out, uint64(number[t.val[r]]))
	}
	p.add(t.name, len(p.keep), out)
	return p.text(t.name, &old, &t.dict, number, count)
}

// renumber numbers the strings that kept rows use, and "", by rank; others get -1.
func renumber(d *dict, val, keep []int32) (number []int32, count int) {
	number = make([]int32, d.len())
	for i := range number {
		number[i] = -1
	}
	if len(number) > 0 {
		number[0] = 0
	}
	for _, r := range keep {
		number[val[r]] = 0
	}
	name := func(id int32) {
		if number[id] == 0 {
			number[id] = int32(count)
			count++
		}
	}
	if rank := d.ranks(); rank != nil {
		at := make([]int32, len(rank))
		for id, r := range rank {
			at[r] = int32(id)
		}
		for _, id := range at {
			name(id)
		}
	} else {
		for id := range number {
			name(int32(id))
		}
	}
	return number, count
}

// A textStream is the strings of a dictionary as they are stored, when that is
// in their order; else they are decoded.
type textStream struct{ b []byte }

func (s *store) textStream(t *text) (x textStream, err error) {
	if err := s.loadRanks(t); err != nil {
		return x, err
	}
	if len(t.dict.later) > 0 || t.hasText {
		return x, s.loadText(t)
	}
	err = s.each(t.name+".str", func(b []byte, rows int) bool {
		if x.b != nil {
			return rows == 0 // a segment without a new string
		}
		x.b = b
		return rows == t.dict.base
	})
	return x, err
}

// text writes the strings that have a number.
func (p *pruner) text(name string, old *textStream, d *dict, number []int32, count int) error {
	if old.b == nil {
		p.add(name+".str", count, d.encode(number, count))
		return nil
	}
	c := cursor{b: old.b}
	out := appendUint(make([]byte, 0, len(old.b)), uint64(count))
	if c.uint() != uint64(len(number)) {
		return corrupt(name + ".str")
	}
	// What a string shares with the last one written is the least that any two
	// neighbours up to it share.
	var str []byte
	shared := uint64(0)
	for _, num := range number {
		k := c.uint()
		rest := c.bytes(c.uint())
		if c.bad || k > uint64(len(str)) {
			return corrupt(name + ".str")
		}
		str = append(str[:k], rest...)
		shared = min(shared, k)
		if num < 0 {
			continue
		}
		out = appendUint(out, shared)
		out = appendUint(out, uint64(len(str))-shared)
		out = append(out, str[shared:]...)
		shared = uint64(len(str))
	}
	if !c.done() {
		return corrupt(name + ".str")
	}
	p.add(name+".str", count, out)
	return nil
}

// encode writes the strings that have a number in the order of these.
func (d *dict) encode(number []int32, count int) []byte {
	at := make([]int32, count)
	for id, n := range number {
		if n >= 0 {
			at[n] = int32(id)
		}
	}
	a := mailsort.Arena{Data: make([]byte, 0, len(d.text.Data)), Off: make([]uint32, 1, count+1)}
	for _, id := range at {
		a.Append(d.str(id))
	}
	return appendStrings(make([]byte, 0, len(a.Data)+2*count+8), &a)
}

// loadAll decodes every column that the file has, envelopes excepted.
func (s *store) loadAll() error {
	return s.load(wants{thread: true, address: s.covers(addressKeys[0].name), arrival: s.covers("arrival"), size: s.covers("size")}, false)
}

// load decodes columns of w that the file has, on two processors: the strings
// of the subjects take as long as all the rest. With lazy those that new rows
// are made with: links and strings.
func (s *store) load(w wants, lazy bool) error {
	var textErr error
	var wg sync.WaitGroup
	if w.thread {
		wg.Go(func() { textErr = s.loadText(&s.subject) })
	}
	err := s.loadRest(w, lazy)
	wg.Wait()
	return errors.Join(err, textErr)
}

func (s *store) loadRest(w wants, lazy bool) (err error) {
	if w.thread {
		err = s.loadLinks()
	}
	if w.address {
		for i := range s.address {
			err = errors.Join(err, s.loadText(&s.address[i]))
		}
	}
	if lazy {
		return err
	}
	if w.thread {
		err = errors.Join(err, s.loadDates())
	}
	if w.address {
		for i := range s.address {
			err = errors.Join(err, s.loadVal(&s.address[i]))
		}
	}
	if w.arrival {
		err = errors.Join(err, s.loadNumbers("arrival", &s.arrival))
	}
	if w.size {
		err = errors.Join(err, s.loadNumbers("size", &s.size))
	}
	return err
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
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}
