package tier

import (
	"container/heap"
	"math"
)

// never is the next use of what is not used again.
const never = math.MaxInt

// clairvoyant keeps what is used soonest. It follows the calls that were
// foretold; what comes otherwise is not kept from there on.
type clairvoyant struct {
	bound, used int64
	future      []uint64 // keys of every access, in order
	next        []int    // access -> the next one of the same key
	at          int      // accesses so far
	seen        map[uint64]int
	kept        map[uint64]*future
	farthest    byNext
	spared      []*future
}

// A future is a kept record and when it is used next.
type future struct {
	key    uint64
	record []byte
	next   int
	place  int // in the heap
}

func newClairvoyant(bound int64) *clairvoyant {
	return &clairvoyant{bound: bound, seen: map[uint64]int{}, kept: map[uint64]*future{}}
}

func (c *clairvoyant) foresee(keys []uint64) {
	c.clear()
	clear(c.seen)
	c.future, c.at = keys, 0
	c.next = make([]int, len(keys))
	last := make(map[uint64]int, len(keys))
	for i := len(keys) - 1; i >= 0; i-- {
		c.next[i] = never
		if n, ok := last[keys[i]]; ok {
			c.next[i] = n
		}
		last[keys[i]] = i
	}
}

func (c *clairvoyant) get(key uint64) []byte {
	if c.at >= len(c.future) || c.future[c.at] != key {
		c.future = nil
		c.clear()
		return nil
	}
	next := c.next[c.at]
	c.seen[key] = next
	c.at++
	f := c.kept[key]
	if f == nil {
		return nil
	}
	f.next = next
	heap.Fix(&c.farthest, f.place)
	return f.record
}

// add keeps the record if there is room once everything is dropped that is
// used later than it.
func (c *clairvoyant) add(key uint64, record []byte) {
	next, foretold := c.seen[key]
	delete(c.seen, key)
	if c.future == nil || !foretold || next == never || c.kept[key] != nil {
		return
	}
	need := cost(record)
	free := c.bound - c.used
	for free < need && len(c.farthest) > 0 && c.farthest[0].next > next {
		f := heap.Pop(&c.farthest).(*future)
		c.spared = append(c.spared, f)
		free += cost(f.record)
	}
	fits := free >= need
	for _, f := range c.spared {
		if fits {
			c.used -= cost(f.record)
			delete(c.kept, f.key)
		} else {
			heap.Push(&c.farthest, f)
		}
	}
	c.spared = c.spared[:0]
	if !fits {
		return
	}
	f := &future{key: key, record: record, next: next}
	c.kept[key] = f
	c.used += need
	heap.Push(&c.farthest, f)
}

func (c *clairvoyant) remove(key uint64) {
	if f := c.kept[key]; f != nil {
		heap.Remove(&c.farthest, f.place)
		delete(c.kept, key)
		c.used -= cost(f.record)
	}
}

// clear drops the records; what was foretold still comes.
func (c *clairvoyant) clear() {
	clear(c.kept)
	c.farthest, c.used = c.farthest[:0], 0
}

func (c *clairvoyant) bytes() int64 { return c.used }
func (c *clairvoyant) wait()        {}
func (c *clairvoyant) close()       { c.clear() }

// byNext is a heap with the record on top that is used last.
type byNext []*future

func (h byNext) Len() int           { return len(h) }
func (h byNext) Less(i, j int) bool { return h[i].next > h[j].next }
func (h byNext) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h *byNext) Push(x any) {
	f := x.(*future)
	f.place = len(*h)
	*h = append(*h, f)
}

func (h *byNext) Pop() any {
	old := *h
	f := old[len(old)-1]
	*h = old[:len(old)-1]
	return f
}
