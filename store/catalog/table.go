package catalog

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// hashKey places a key in the table and goes into the digest.
func hashKey(key string) uint64 { return xxhash.Sum64String(key) }

// find returns the position of the live row of a key, or -1 and the free slot
// where its position would go. slots is never full.
func (c *Catalog) find(h uint64, key string) (at, slot int) {
	if len(c.slots) == 0 {
		return -1, 0
	}
	mask := len(c.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		p := c.slots[i]
		if p == 0 {
			return -1, i
		}
		if r := &c.rows[p-1]; !r.dead && r.key == key {
			return int(p - 1), i
		}
	}
}

// grow makes room for n more rows in the table: at most three of four slots
// are taken, by dead rows too.
func (c *Catalog) grow(n int) {
	if need := len(c.rows) + n; need > len(c.slots)/4*3 {
		c.index(need)
	}
}

// Reserve makes room for n messages in all, so that loading them moves none.
func (c *Catalog) Reserve(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > len(c.rows) {
		c.rows = slices.Grow(c.rows, n-len(c.rows))
		c.grow(n - len(c.rows))
	}
}

// index makes the table anew, for n rows at least.
func (c *Catalog) index(n int) {
	size := max(16, 1<<bits.Len(uint(n+n/2)))
	c.slots = make([]uint32, size)
	mask := size - 1
	for at := range c.rows {
		if c.rows[at].dead {
			continue
		}
		i := int(hashKey(c.rows[at].key)) & mask
		for c.slots[i] != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = uint32(at + 1)
	}
}

// compact drops dead rows and their keys: when they are the half, so that a
// removal costs O(1) in the long run.
func (c *Catalog) compact() {
	live := make([]row, 0, len(c.rows)-c.dead)
	c.keys = arena{}
	for i := range c.rows {
		if r := &c.rows[i]; !r.dead {
			live = append(live, *r)
			live[len(live)-1].key = c.keys.add(r.key)
		}
	}
	c.rows, c.dead = live, 0
	c.index(len(live))
}

// An arena holds keys in pieces of up to 64 KiB. Strings of it stay valid as
// long as somebody has them.
type arena struct{ piece []byte }

const maxPiece = 64 << 10

func (a *arena) add(key string) string {
	if len(key) > cap(a.piece)-len(a.piece) {
		a.piece = make([]byte, 0, max(len(key), min(maxPiece, 2*cap(a.piece)), 256))
	}
	n := len(a.piece)
	a.piece = append(a.piece, key...)
	b := a.piece[n:]
	return unsafe.String(unsafe.SliceData(b), len(b))
}
