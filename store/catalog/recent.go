package catalog

import (
	"math/bits"

	"mailbench/index"
)

// MaxRecent is how many changes are remembered: after more of them an index
// has to look at the whole list.
const MaxRecent = 1 << 15

// A mark is what an index sees of a row.
type mark struct {
	there    bool
	dir      uint8
	flags    index.Flags
	keywords uint32
}

// A change is one thing that happened to one message.
type change struct {
	digest   index.Digest // after it
	key      string
	serial   uint32
	old, now mark
}

// A ring remembers the last changes. Change number n, from 0, is at n%len(at).
type ring struct {
	at  []change
	n   uint64 // changes so far
	was index.Digest
}

func (r *ring) first() uint64 {
	if n := uint64(len(r.at)); r.n > n {
		return r.n - n
	}
	return 0
}

func (r *ring) add(c change) {
	if len(r.at) < MaxRecent {
		r.at = append(r.at, c) // n == len(at) so far
		r.n++
		return
	}
	to := &r.at[r.n%MaxRecent]
	r.was = to.digest // before the oldest that stays
	*to = c
	r.n++
}

// find returns the number of the change before which, and not after which, the
// digest was known: the latest such moment up to change number end.
func (r *ring) find(known index.Digest, end uint64) (from uint64, ok bool) {
	first := r.first()
	if end < first {
		return 0, false
	}
	for n := end; n > first; n-- {
		if r.at[(n-1)%uint64(len(r.at))].digest == known {
			return n, true
		}
	}
	return first, r.was == known
}

// changed keeps the books of a change of row r, whose key has hash h.
func (c *Catalog) changed(r *row, h uint64, old, now mark) {
	if old.there {
		s := old.hash(h)
		c.digest.Sum[0] -= s[0]
		c.digest.Sum[1] -= s[1]
		c.digest.N--
	}
	if now.there {
		s := now.hash(h)
		c.digest.Sum[0] += s[0]
		c.digest.Sum[1] += s[1]
		c.digest.N++
	}
	if !c.loading {
		c.recent.add(change{digest: c.digest, key: r.key, serial: r.serial, old: old, now: now})
	}
}

// hash is what a row with a key of hash h adds to the digest.
func (m mark) hash(h uint64) [2]uint64 {
	what := uint64(m.keywords)<<32 | uint64(m.dir)<<16 | uint64(m.flags)
	return [2]uint64{mix(h + mix(what)), mix(bits.RotateLeft64(h, 32) ^ mix(what+0x632be59bd9b4e019))}
}

// mix spreads every bit of x over all of the result (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
