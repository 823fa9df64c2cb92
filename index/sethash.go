package index

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
)

// SetHash names a set of (UID, key) by the sums of two 64-bit hashes of each,
// under a seed that is drawn at random for each index: an accident hides a
// change with probability 2^-128, and whoever sends mail does not know the
// seed and cannot aim.
type SetHash [2]uint64

// Plus is the hash of the union with a set that shares nothing with s.
func (s SetHash) Plus(o SetHash) SetHash { return SetHash{s[0] + o[0], s[1] + o[1]} }

// Minus is the hash of what is left of s without its part o.
func (s SetHash) Minus(o SetHash) SetHash { return SetHash{s[0] - o[0], s[1] - o[1]} }

// setSeed keys the hashes of one index.
type setSeed [2]uint64

// seedOf derives the seed from an index's identity, which is random.
func seedOf(id uint64) setSeed {
	return setSeed{mix64(id + 0x9e3779b97f4a7c15), mix64(id + 0x3c6ef372fe94f82a)}
}

// mix64 is the finalizer of splitmix64.
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash is one row's share: two lanes, each of which multiplies eight bytes at
// a time to 128 bits and folds them. It is part of the format. About 12 ns for
// a name of 60 bytes.
func (s setSeed) hash(uid uint32, key []byte) SetHash {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	n := uint64(uid)<<32 ^ uint64(len(key))
	a, b := s[1]^n, s[0]^bits.RotateLeft64(n, 32)
	step := func(w uint64) {
		hi, lo := bits.Mul64(a^k0, w^s[0])
		a = hi ^ lo
		hi, lo = bits.Mul64(b^k1, w^s[1])
		b = hi ^ lo
	}
	for len(key) >= 8 {
		step(le.Uint64(key))
		key = key[8:]
	}
	var tail uint64
	for i, c := range key {
		tail |= uint64(c) << (8 * i)
	}
	step(tail)
	step(n)
	return SetHash{mix64(a), mix64(b)}
}

// A lostHash is lane 0 of a vanished message's hash.
type lostHash struct {
	uid  uint32
	hash uint64
}

// lineage is what a table knows of the messages that it has and had.
//
// set is the hash of those that are there. added is the sum of lane 0 over all
// that ever were: it never gets smaller, so two indexes that agree on it (and
// on UIDNEXT) gave the same UIDs to the same messages. To tell what it was when
// UIDNEXT was lower, what came later is subtracted; for what came and went, lost
// has the hashes: those of all vanished messages with UIDs from lostFrom on.
type lineage struct {
	seed     setSeed
	kept     bool // add and remove keep the rest up to date
	set      SetHash
	added    uint64
	lost     []lostHash
	lostFrom uint32
}

// maxLost bounds lost, 12 bytes each on disk. When it is exceeded the half with
// the lower UIDs is forgotten; a cache that had not been filled since then is
// made again.
const maxLost = 4 << 10

// seal starts the lineage of a table that has no history. O(n), on all
// processors.
func (t *Table) seal(id uint64) {
	t.lineage = lineage{seed: seedOf(id), kept: true}
	t.set = t.sumFrom(0)
	t.added = t.set[0]
}

// sumFrom hashes the rows from row from on.
func (t *Table) sumFrom(from int) SetHash {
	const few = 16 << 10
	sum := func(from, to int) (s SetHash) {
		for i := from; i < to; i++ {
			s = s.Plus(t.seed.hash(t.uid[i], t.Key(i)))
		}
		return s
	}
	n := t.Len()
	if n-from < few {
		return sum(from, n)
	}
	var half [2]SetHash
	var wg sync.WaitGroup
	mid := (from + n) / 2
	wg.Go(func() { half[0] = sum(from, mid) })
	half[1] = sum(mid, n)
	wg.Wait()
	return half[0].Plus(half[1])
}

func (t *Table) lineageAdd(uid uint32, key string) {
	h := t.seed.hash(uid, []byte(key))
	t.set = t.set.Plus(h)
	t.added += h[0]
}

func (t *Table) lineageRemove(row int) {
	h := t.seed.hash(t.uid[row], t.Key(row))
	t.set[0] -= h[0]
	t.set[1] -= h[1]
	if t.uid[row] >= t.lostFrom {
		t.lost = append(t.lost, lostHash{t.uid[row], h[0]})
	}
}

// trimLost keeps lost within bounds.
func (t *Table) trimLost() {
	if len(t.lost) <= maxLost {
		return
	}
	slices.SortFunc(t.lost, func(a, b lostHash) int { return cmp.Compare(b.uid, a.uid) })
	t.lost = t.lost[:maxLost/2]
	t.lostFrom = t.lost[len(t.lost)-1].uid
}

// SetFrom is the SetHash of the rows with UIDs from uid on. O(those).
func (t *Table) SetFrom(uid uint32) SetHash {
	row, _ := t.Row(uid)
	return t.sumFrom(row)
}

// AddedBelow sums lane 0 of all messages with UIDs below uid that the index has
// or ever had: what BaseHeader.Added was when UIDNEXT was uid. ok is false when
// that cannot be told any more. O(messages from uid on).
func (t *Table) AddedBelow(uid uint32) (sum uint64, ok bool) {
	if uid < t.lostFrom {
		return 0, false
	}
	sum = t.added - t.SetFrom(uid)[0]
	for _, l := range t.lost {
		if l.uid >= uid {
			sum -= l.hash
		}
	}
	return sum, true
}

// appendLost writes section "lost": lostFrom, then UID (zigzag difference) and
// hash of each.
func (t *Table) appendLost(b []byte) []byte {
	b = appendUvarint(b, uint64(t.lostFrom))
	var prev uint32
	for _, l := range t.lost {
		b = appendUvarint(b, zigzag(int64(l.uid)-int64(prev)))
		b = le.AppendUint64(b, l.hash)
		prev = l.uid
	}
	return b
}

func (t *Table) decodeLost(b []byte) bool {
	c := cursor{b: b}
	t.lostFrom = uint32(c.uvarint())
	var uid uint32
	for c.off < len(c.b) && !c.bad {
		uid += uint32(unzigzag(c.uvarint()))
		t.lost = append(t.lost, lostHash{uid, c.uint64()})
	}
	return !c.bad
}

// checkLineage compares the lineage with the rows.
func (t *Table) checkLineage(yield func(what string) bool) bool {
	sum := t.sumFrom(0)
	if sum != t.set && !yield("hash of the set of messages differs from the rows") {
		return false
	}
	if t.lostFrom == 0 { // everything that went is known
		all := sum[0]
		for _, l := range t.lost {
			all += l.hash
		}
		if all != t.added && !yield("hash of all messages differs from those that are there and those that went") {
			return false
		}
	}
	for _, l := range t.lost {
		if _, there := t.Row(l.uid); (there || l.uid < t.lostFrom || l.uid >= t.UIDNext) && !yield("hash of a vanished message that is still there") {
			return false
		}
	}
	return true
}
