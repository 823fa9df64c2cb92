package column

import (
	"bytes"
	"sort"

	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A textBuilder numbers the strings of new rows: those that the dictionary has
// keep their numbers, new ones get provisional numbers until finish sorts them.
type textBuilder struct {
	in     *thread.Interner
	few    bool // in has the strings of the new rows only: finish looks for them in the dictionary
	from   int
	added  int
	fresh  mailsort.Arena // the new strings in order, after finish
	places []byte         // and where they belong

	compares int64
}

func (t *textBuilder) start(d *dict, n int, few bool) {
	t.from = d.len()
	if few && t.from > 0 {
		t.few = true
		t.in = thread.NewInterner(n, 64*n)
		return
	}
	t.in = thread.NewInterner(t.from+n/4+16, len(d.text.Data)+16*n)
	for i := range t.from {
		t.in.Intern(d.text.At(i))
	}
	if t.from == 0 {
		t.in.Intern(nil) // number 0 is the empty string, always
	}
}

func (t *textBuilder) take(dst []int32, a *mailsort.Arena) []int32 {
	for i := range a.Len() {
		dst = append(dst, t.in.Intern(a.At(i)))
	}
	return dst
}

// finish enters the new strings in the dictionary, in order, and corrects vals.
func (t *textBuilder) finish(to *text, vals []int32) {
	if t.few {
		t.finishFew(to, vals)
		return
	}
	first := t.from // of the new ones in t.in
	t.added = t.in.Len() - first
	size := 0
	for i := first; i < t.in.Len(); i++ {
		size += len(t.in.Bytes(int32(i)))
	}
	// Room for all at once: these are the largest strings of a first fill.
	fresh := mailsort.Arena{Data: make([]byte, 0, size), Off: make([]uint32, 1, t.added+1)}
	for i := first; i < t.in.Len(); i++ {
		fresh.Append(t.in.Bytes(int32(i)))
	}
	t.in = nil
	rank, at := t.ranked(&fresh)
	t.fresh = mailsort.Arena{Data: make([]byte, 0, size), Off: make([]uint32, 1, t.added+1)}
	for _, i := range at {
		t.fresh.Append(fresh.At(int(i)))
	}
	for i, v := range vals {
		if k := int(v) - t.from; k >= 0 {
			vals[i] = int32(t.from) + int32(rank[k])
		}
	}
	t.places = to.dict.add(&t.fresh)
}

// ranked sorts distinct strings: the rank of each, and which has each rank.
func (t *textBuilder) ranked(a *mailsort.Arena) (rank []uint32, at []int32) {
	var sc mailsort.Scratch
	rank = mailsort.Ranks(nil, a, &sc)
	t.compares = sc.Compares()
	at = make([]int32, len(rank))
	for i, r := range rank {
		at[r] = int32(i)
	}
	return rank, at
}

// finishFew is finish where vals are numbers of t.in. Each string is looked for
// once, and all of them in order, so that one is not far from the one before.
func (t *textBuilder) finishFew(to *text, vals []int32) {
	d := &to.dict
	var all mailsort.Arena
	all.Data, all.Off = t.in.Arena()
	_, at := t.ranked(&all)
	number := make([]int32, len(at)) // of the dictionary, by that of t.in
	t.fresh.Off = append(t.fresh.Off, 0)
	var places []place
	var p place
	for _, i := range at {
		s := all.At(int(i))
		var ok bool
		if p.p, ok = findFrom(p.p, d.base, func(k int) []byte { return d.str(int32(k)) }, s); ok {
			number[i] = p.p
			continue
		}
		if p.q, ok = findFrom(p.q, len(d.later), func(k int) []byte { return d.str(d.later[k].id) }, s); ok {
			number[i] = d.later[p.q].id
			continue
		}
		number[i] = int32(t.from + len(places))
		places = append(places, p)
		t.fresh.Append(s)
	}
	t.in, t.added = nil, len(places)
	for i, v := range vals {
		if v >= 0 { // else there was no room for it
			vals[i] = number[v]
		} else {
			vals[i] = 0
		}
	}
	t.places = d.put(&t.fresh, places)
}

// findFrom is find among the strings from number from on; those before are
// smaller than s. O(log of the distance) comparisons.
func findFrom(from int32, n int, at func(int) []byte, s []byte) (int32, bool) {
	lo, step := int(from), 1
	for lo+step <= n && bytes.Compare(at(lo+step-1), s) < 0 {
		lo += step
		step *= 2
	}
	i := lo + sort.Search(min(step-1, n-lo), func(k int) bool { return bytes.Compare(at(lo+k), s) >= 0 })
	return int32(i), i < n && bytes.Equal(at(i), s)
}
