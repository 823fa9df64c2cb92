package thread

import (
	"hash/maphash"
	"math/bits"
)

// An Interner gives equal byte strings equal dense numbers 0, 1, 2, ... in the
// order of their first appearance. It is an open-addressing table of (32 bits of
// hash, number) over one arena of bytes; strings with equal hashes are compared,
// so no two strings ever share a number.
//
// The hash is the runtime's (hash/maphash), keyed at random for each Interner.
// xxhash with a random seed would not do: flipping the top bit of one of its
// 64-bit inputs and undoing that in the next block collides for half of all
// seeds, so whoever writes message ids could make every probe long. Numbers do
// not depend on the key.
//
// Numbers are valid until Reset. Not for concurrent use.
type Interner struct {
	cells []cell
	off   []uint32 // off[i]:off[i+1] is string i
	data  []byte
	seed  maphash.Seed
	mask  uint64 // of the hash, for tests: all ones
}

type cell struct {
	hash uint32
	id1  int32 // number + 1, 0 empty
}

// NewInterner returns an Interner with room for n strings of bytes bytes
// together. Both may be 0; it grows.
func NewInterner(n, bytes int) *Interner {
	t := &Interner{seed: maphash.MakeSeed(), mask: ^uint64(0)}
	t.off = make([]uint32, 1, n+1)
	t.data = make([]byte, 0, bytes)
	t.cells = make([]cell, tableSize(n))
	return t
}

// tableSize returns the table size for n strings: at most 2/3 full.
func tableSize(n int) int {
	return 1 << bits.Len(uint(max(n+n/2, 15)))
}

// Len returns how many numbers there are.
func (t *Interner) Len() int { return len(t.off) - 1 }

// Bytes returns string id, which must not be written to and is valid until the
// next Intern.
func (t *Interner) Bytes(id int32) []byte {
	return t.data[t.off[id]:t.off[id+1]:t.off[id+1]]
}

// Arena returns all strings: string i is data[off[i]:off[i+1]]. Read only.
func (t *Interner) Arena() (data []byte, off []uint32) { return t.data, t.off }

// Reset forgets all strings and keeps the memory and the key.
func (t *Interner) Reset() {
	clear(t.cells)
	t.off = t.off[:1]
	t.data = t.data[:0]
}

// Lookup returns the number of b, if it has one.
func (t *Interner) Lookup(b []byte) (int32, bool) {
	h := t.sum(b)
	id := t.cells[t.find(h, b)].id1 - 1
	return id, id >= 0
}

// Intern returns the number of b, a new one if it has none, or -1 when b is new
// and the arena's 4 GiB or the 2^31-1 numbers are used up. b is copied. O(len(b))
// expected, no allocation but to grow.
func (t *Interner) Intern(b []byte) int32 {
	h := t.sum(b)
	i := t.find(h, b)
	if id1 := t.cells[i].id1; id1 != 0 {
		return id1 - 1
	}
	n := t.Len()
	if uint64(len(t.data))+uint64(len(b)) >= 1<<32 || n >= 1<<31-2 {
		return -1
	}
	t.data = append(t.data, b...)
	t.off = append(t.off, uint32(len(t.data)))
	t.cells[i] = cell{uint32(h), int32(n + 1)}
	if n+1+(n+1)/2 > len(t.cells) {
		t.rehash()
	}
	return int32(n)
}

// find returns the cell of b, or the empty cell where it belongs.
func (t *Interner) find(h uint64, b []byte) int {
	m := len(t.cells) - 1
	for i := t.home(h); ; i = (i + 1) & m {
		c := t.cells[i]
		if c.id1 == 0 || (c.hash == uint32(h) && string(t.Bytes(c.id1-1)) == string(b)) {
			return i
		}
	}
}

// home is the first cell to probe: the low bits of the stored hash, so that a
// larger table can be filled without hashing again; beyond 2^32 cells there is
// nothing, because there are fewer numbers.
func (t *Interner) home(h uint64) int { return int(uint32(h)) & (len(t.cells) - 1) }

func (t *Interner) sum(b []byte) uint64 {
	return maphash.Bytes(t.seed, b) & t.mask
}

// rehash doubles the table.
func (t *Interner) rehash() {
	old := t.cells
	t.cells = make([]cell, 2*len(old))
	m := len(t.cells) - 1
	for _, c := range old {
		if c.id1 == 0 {
			continue
		}
		i := t.home(uint64(c.hash))
		for t.cells[i].id1 != 0 {
			i = (i + 1) & m
		}
		t.cells[i] = c
	}
}
