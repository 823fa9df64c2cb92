package maildir

// A Pair is one message in two scans, as positions in their Entries.
type Pair struct{ Old, New int32 }

// A Delta is what happened between two scans. Positions ascend. A message can
// be both in Flagged and in Moved.
type Delta struct {
	Added   []int32 // positions in the new scan
	Removed []int32 // positions in the old scan
	Flagged []Pair  // flags or keywords differ
	Moved   []Pair  // other directory: new to cur as a rule, or back
	Renamed []Pair  // neither, yet another file name, such as "x" and "x:2,"
}

// Empty reports whether nothing happened.
func (d *Delta) Empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Flagged)+len(d.Moved)+len(d.Renamed) == 0
}

// Diff compares two scans by base name; both should have passed Unique. If
// their digests are equal it need not look further. O(n), a few allocations.
func Diff(old, new *Scan) Delta {
	var d Delta
	if old.Digest == new.Digest && len(old.Entries) == len(new.Entries) {
		return d
	}
	t := newBaseTable(old.Entries, nil)
	for i := range old.Entries {
		if slot := t.slot(old.Entries[i].Base); *slot == 0 {
			*slot = int32(i + 1)
		}
	}
	met := make([]bool, len(old.Entries))
	for i := range new.Entries {
		n := &new.Entries[i]
		at := t.find(n.Base)
		if at < 0 {
			d.Added = append(d.Added, int32(i))
			continue
		}
		met[at] = true
		o, p := &old.Entries[at], Pair{int32(at), int32(i)}
		flagged, moved := o.Flags != n.Flags || o.Keywords != n.Keywords, o.Dir != n.Dir
		if flagged {
			d.Flagged = append(d.Flagged, p)
		}
		if moved {
			d.Moved = append(d.Moved, p)
		}
		if !flagged && !moved && o.File != n.File {
			d.Renamed = append(d.Renamed, p)
		}
	}
	for i, m := range met {
		if !m && t.find(old.Entries[i].Base) == i {
			d.Removed = append(d.Removed, int32(i))
		}
	}
	return d
}
