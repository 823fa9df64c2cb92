package maildir

import (
	"encoding/binary"
	"slices"
	"strconv"
	"unsafe"
)

// A Place is where a listing has a name: EntryAt takes it.
type Place struct {
	At  uint32
	Dir Dir
}

// Newest tells what has arrived since a listing with Digest known, if nothing
// else has happened: then the names that come last in the order of Compare are
// the new ones, and the digest of the others is known, which proves it. ok is
// false when it is not so (names went or changed, or new mail is not the last)
// or when there are more than limit; then only a comparison with the known
// names tells. A base name that is there twice gives false, too.
// O(names), a look at the seconds of each; memory for limit names.
func (s *Scan) Newest(known Digest, limit int) (at []Place, ok bool) {
	k := s.Digest.N - known.N
	if k < 1 || k > limit || len(s.arena) > 1<<(32-arenaShift) {
		return nil, false
	}
	sep := s.opt.separator()
	var last []sortItem // at least the k last; n: directory
	least := uint64(0)  // keys below cannot be among them
	front := uint64(0)  // of ten digits those whose first eight are less are not among them
	room := 2*k + 64
	for _, c := range s.names {
		a := s.arena[c.arena]
		for at := c.from; at < c.to; {
			n := int(a[at]) | int(a[at+1])<<8
			name := unsafe.String(&a[at+2], n)
			here := uint32(c.arena)<<arenaShift | uint32(at)
			at += 2 + n
			if n > 10 && name[10]-'0' > 9 && binary.BigEndian.Uint64(a[at-n:]) < front {
				continue // at most ten digits: fewer, or less in the first eight
			}
			if secs, _ := number(name, 0); min(secs, maxSecs) < least>>(64-secBits) {
				continue
			}
			base, _ := cut(name, sep)
			key := keyOf(base).pack()
			if key < least {
				continue
			}
			if last = append(last, sortItem{key, here, uint32(c.dir)}); len(last) < room {
				continue
			}
			least = kthLast(last, k)
			if secs := least >> (64 - secBits); secs >= 1e9 && secs < 1e10 {
				front = binary.BigEndian.Uint64(strconv.AppendUint(nil, secs, 10))
			}
			last = slices.DeleteFunc(last, func(it sortItem) bool { return it.key < least })
			if len(last) > room/2+limit { // many of one time
				return nil, false
			}
			room = max(room, 2*len(last))
		}
	}
	o := Ordered{s: s, sep: sep}
	base := func(it sortItem) string {
		b, _ := cut(o.file(it.at), sep)
		return b
	}
	slices.SortFunc(last, func(a, b sortItem) int { return Compare(base(a), base(b)) })
	var rest Digest
	for i, it := range last {
		if i > 0 && base(it) == base(last[i-1]) {
			return nil, false
		}
		if i >= len(last)-k {
			rest.add(Dir(it.n), []byte(o.file(it.at)))
			at = append(at, Place{it.at, Dir(it.n)})
		}
	}
	if s.Digest.Sum[0]-rest.Sum[0] != known.Sum[0] || s.Digest.Sum[1]-rest.Sum[1] != known.Sum[1] || rest.N != k {
		return nil, false
	}
	return at, true
}

// kthLast is the k-th largest key.
func kthLast(items []sortItem, k int) uint64 {
	keys := make([]uint64, len(items))
	for i, it := range items {
		keys[i] = it.key
	}
	slices.Sort(keys)
	return keys[len(keys)-k]
}
