package column

import (
	"bytes"
	"slices"

	mailsort "mailbench/sort"
)

// A dict numbers the distinct strings of a sort key. Number 0 is always "".
//
// The strings of the first segment are numbered in byte order, so their
// numbers are their ranks and nothing needs to be stored or computed to sort
// by them. Strings that came later have the numbers after that, and for each
// the two places where it belongs: p strings of the first segment and q of the
// later ones that were there before are smaller. Ranks come from these alone;
// the strings are read only when new mail brings words to compare.
type dict struct {
	base  int     // strings of the first segment
	later []later // strings of later segments, in byte order
	text  mailsort.Arena
}

// later is a string of a later segment: its number, and how many strings of
// the first segment are smaller.
type later struct {
	id, p int32
}

func (d *dict) len() int { return d.base + len(d.later) }

// ranks gives the rank of each number; equal strings have equal numbers, so
// ranks are a permutation. nil means that numbers are ranks.
func (d *dict) ranks() []uint32 {
	if len(d.later) == 0 {
		return nil
	}
	rank := make([]uint32, d.len())
	r, k := uint32(0), 0
	for id := range d.base {
		for k < len(d.later) && int(d.later[k].p) <= id {
			rank[d.later[k].id] = r
			r++
			k++
		}
		rank[id] = r
		r++
	}
	for ; k < len(d.later); k++ {
		rank[d.later[k].id] = r
		r++
	}
	return rank
}

func (d *dict) str(id int32) []byte { return d.text.Data[d.text.Off[id]:d.text.Off[id+1]] }

// A section of a dictionary holds
//
//	count   varint
//	places  count times p, q: varints, differences to the string before
//	        (absent in the first segment)
//	strings count times: bytes shared with the string before, further bytes
//	        (varints), the further bytes; in byte order
//
// split in two streams, places and strings, so that ranks need only the first.

// appendStrings writes the strings of a, which are in byte order.
func appendStrings(b []byte, a *mailsort.Arena) []byte {
	n := len(a.Off) - 1
	b = appendUint(b, uint64(n))
	var prev []byte
	for i := range n {
		s := a.Data[a.Off[i]:a.Off[i+1]]
		k := 0
		for k < len(s) && k < len(prev) && s[k] == prev[k] {
			k++
		}
		b = appendUint(b, uint64(k))
		b = appendUint(b, uint64(len(s)-k))
		b = append(b, s[k:]...)
		prev = s
	}
	return b
}

// decodeStrings appends the strings written by appendStrings to a. They must
// ascend.
func decodeStrings(a *mailsort.Arena, b []byte) (n int, ok bool) {
	c := cursor{b: b}
	count := c.uint()
	if count > uint64(c.left()) {
		return 0, false
	}
	if len(a.Off) == 0 {
		a.Off = append(a.Off, 0)
	}
	a.Off = slices.Grow(a.Off, int(count))
	if len(a.Data) == 0 {
		a.Data = slices.Grow(a.Data, c.left()+c.left()/2)
	}
	var prev []byte
	for i := range count {
		k := c.uint()
		rest := c.bytes(c.uint())
		if c.bad || k > uint64(len(prev)) || uint64(len(a.Data))+k+uint64(len(rest)) > 1<<32-1 {
			return 0, false
		}
		start := len(a.Data)
		a.Data = append(a.Data, prev[:k]...)
		a.Data = append(a.Data, rest...)
		s := a.Data[start:]
		if i > 0 && bytes.Compare(prev, s) >= 0 {
			return 0, false
		}
		prev = s
		a.Off = append(a.Off, uint32(len(a.Data)))
	}
	return int(count), c.done()
}

// add gives numbers to the strings of a, which ascend and are not in d yet,
// and returns their places as written. The first strings of a dictionary have
// no places, and d keeps a.
func (d *dict) add(a *mailsort.Arena) (places []byte) {
	n := len(a.Off) - 1
	if d.len() == 0 {
		d.base, d.text = n, *a
		return nil
	}
	fresh := make([]place, n)
	for i := range fresh {
		s := a.At(i)
		p, _ := find(d.base, func(k int) []byte { return d.str(int32(k)) }, s)
		q, _ := find(len(d.later), func(k int) []byte { return d.str(d.later[k].id) }, s)
		fresh[i] = place{int32(p), int32(q)}
	}
	return d.put(a, fresh)
}

// put is add of strings whose places are known.
func (d *dict) put(a *mailsort.Arena, fresh []place) (places []byte) {
	first := int32(d.len())
	start := uint32(len(d.text.Data))
	d.text.Data = append(d.text.Data, a.Data...)
	for _, off := range a.Off[1:] {
		d.text.Off = append(d.text.Off, start+off-a.Off[0])
	}
	places = appendUint(nil, uint64(len(fresh)))
	var prev place
	for _, f := range fresh {
		places = appendUint(places, uint64(f.p-prev.p))
		places = appendUint(places, uint64(f.q-prev.q))
		prev = f
	}
	d.insert(first, fresh)
	return places
}

// A place is where a string belongs among those that were there: so many of the
// first segment, and of the later ones, are smaller.
type place struct{ p, q int32 }

// insert puts strings first, first+1, ... at their places, which ascend: the
// last one first, so that each of the others moves once, in a block.
func (d *dict) insert(first int32, fresh []place) {
	end := len(d.later) // of those that have not moved
	d.later = slices.Grow(d.later, len(fresh))[:end+len(fresh)]
	for i := len(fresh) - 1; i >= 0; i-- {
		q := int(fresh[i].q)
		copy(d.later[q+i+1:], d.later[q:end])
		d.later[q+i] = later{first + int32(i), fresh[i].p}
		end = q
	}
}

// decodePlaces reads what add wrote for a later segment.
func (d *dict) decodePlaces(b []byte) bool {
	c := cursor{b: b}
	n := c.uint()
	if n > uint64(c.left()) {
		return false
	}
	fresh := make([]place, n)
	var p, q uint64
	for i := range fresh {
		p += c.uint()
		q += c.uint()
		if p > uint64(d.base) || q > uint64(len(d.later)) {
			return false
		}
		fresh[i] = place{int32(p), int32(q)}
	}
	if !c.done() {
		return false
	}
	d.insert(int32(d.len()), fresh)
	return true
}

// find looks for s among n ascending strings: the number of smaller ones, and
// whether the next equals s.
func find(n int, at func(int) []byte, s []byte) (int, bool) {
	lo, hi := 0, n
	for lo < hi {
		m := int(uint(lo+hi) / 2)
		if bytes.Compare(at(m), s) < 0 {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, lo < n && bytes.Equal(at(lo), s)
}
