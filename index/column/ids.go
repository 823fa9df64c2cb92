package column

import "github.com/dchest/siphash"

// An idHash stands for a message id. It is SipHash-2-4 with 128 bits under a
// key that is drawn at random for each cache file: whoever sends mail does not
// know it and cannot make two ids meet, and by chance two of n ids do with
// probability n*n/2^129, 10^-24 for ten million. That is why the strings are
// not kept: 17 bytes per message against the 19 of zstd over the strings, and
// one addition and one compare in place of a string compare.
type idHash [2]uint64

// A hashKey keys the hashes of one cache file.
type hashKey [2]uint64

func (k hashKey) hash(id []byte) idHash {
	a, b := siphash.Hash128(k[0], k[1], id)
	return idHash{a, b}
}

// An idTable gives each message id a dense number, in order of first
// appearance. Open addressing with linear probing at most half full; the hash
// is its own index because it is uniform whatever the mail says.
type idTable struct {
	hash []idHash // by number
	slot []int32  // number+1; 0 empty
}

// grow makes room for n more ids.
func (t *idTable) grow(n int) {
	size := 1024
	for size < 2*(len(t.hash)+n) {
		size *= 2
	}
	if size <= len(t.slot) {
		return
	}
	t.slot = make([]int32, size)
	for i, h := range t.hash {
		t.put(h, int32(i))
	}
}

func (t *idTable) put(h idHash, id int32) {
	mask := uint64(len(t.slot) - 1)
	p := h[0] & mask
	for t.slot[p] != 0 {
		p = (p + 1) & mask
	}
	t.slot[p] = id + 1
}

// intern returns the number of h, a new one when it was not seen before.
func (t *idTable) intern(h idHash) int32 {
	if 2*len(t.hash) >= len(t.slot) {
		t.grow(len(t.hash) + 1)
	}
	mask := uint64(len(t.slot) - 1)
	p := h[0] & mask
	for {
		s := t.slot[p]
		if s == 0 {
			break
		}
		if t.hash[s-1] == h {
			return s - 1
		}
		p = (p + 1) & mask
	}
	id := int32(len(t.hash))
	t.hash = append(t.hash, h)
	t.slot[p] = id + 1
	return id
}

// A needleTable finds the numbers of a few ids among the many that a cache
// holds without building a table of the many: the many stream by once (16
// bytes each, about a nanosecond), the few are the table.
type needleTable struct {
	idTable
	bits [1024]uint64 // 2^16 bits by the low half word: most of the many stop here
}

func (t *needleTable) add(h idHash) {
	if 2*len(t.hash) >= len(t.slot) {
		t.grow(len(t.hash) + 1)
	}
	t.intern(h)
	t.bits[h[1]>>6&1023] |= 1 << (h[1] & 63)
}

// match returns the needle that equals h, or -1.
func (t *needleTable) match(h idHash) int32 {
	if t.bits[h[1]>>6&1023]&(1<<(h[1]&63)) == 0 {
		return -1
	}
	mask := uint64(len(t.slot) - 1)
	for p := h[0] & mask; ; p = (p + 1) & mask {
		s := t.slot[p]
		if s == 0 {
			return -1
		}
		if t.hash[s-1] == h {
			return s - 1
		}
	}
}
