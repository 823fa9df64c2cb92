package maildir

import "github.com/cespare/xxhash/v2"

// A baseTable finds entries by base name: open addressing over positions, one
// allocation, no strings copied.
type baseTable struct {
	slots   []int32 // position+1, 0 = empty
	entries []Entry
}

// newBaseTable makes an empty table for entries; slots is reused if it is
// large enough.
func newBaseTable(entries []Entry, slots []int32) baseTable {
	size := 16
	for size < 2*len(entries) {
		size *= 2
	}
	if cap(slots) < size {
		slots = make([]int32, size)
	} else {
		slots = slots[:size]
		clear(slots)
	}
	return baseTable{slots, entries}
}

// slot returns where base is, or the empty slot where it belongs.
func (t *baseTable) slot(base string) *int32 {
	mask := len(t.slots) - 1
	for i := int(xxhash.Sum64String(base)) & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if *s == 0 || t.entries[*s-1].Base == base {
			return s
		}
	}
}

// find returns the position of base, or -1.
func (t *baseTable) find(base string) int { return int(*t.slot(base)) - 1 }

// Unique leaves one entry for each base name and returns how many it dropped.
// Two come from a rename during the scan, or from a program that made a copy.
// The one read later wins: it is the newer name, and what moved from new/ to
// cur/ is in cur/. The order of the first appearances stays. O(n), one
// allocation, none when the Scan is reused.
func (s *Scan) Unique() (dropped int) {
	t := newBaseTable(s.Entries, s.table)
	s.table = t.slots
	kept := 0
	for i := range s.Entries {
		slot := t.slot(s.Entries[i].Base)
		if *slot != 0 {
			s.Entries[*slot-1] = s.Entries[i]
			continue
		}
		s.Entries[kept] = s.Entries[i]
		kept++
		*slot = int32(kept)
	}
	dropped = len(s.Entries) - kept
	s.Entries = s.Entries[:kept]
	return dropped
}
