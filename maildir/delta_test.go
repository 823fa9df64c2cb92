package maildir

import (
	"fmt"
	"slices"
	"testing"
)

func scanOf(names ...string) *Scan {
	s := &Scan{}
	for _, n := range names {
		dir := Cur
		if n[:3] == "new" {
			dir = New
		}
		s.Entries = append(s.Entries, parseEntry(n[4:], dir, ':'))
		s.Digest.add(dir, []byte(n[4:]))
	}
	return s
}

func TestDiff(t *testing.T) {
	old := scanOf("cur/a:2,", "cur/b:2,S", "new/c", "new/d", "cur/e", "cur/f:2,", "cur/g:2,a")
	new := scanOf("cur/g:2,b", "cur/x:2,", "cur/a:2,", "cur/b:2,FS", "cur/c:2,", "cur/d:2,S", "cur/e:2,", "new/y")
	d := Diff(old, new)
	name := func(s *Scan, at int32) string { return s.Entries[at].Base }
	var got []string
	for _, i := range d.Added {
		got = append(got, "+"+name(new, i))
	}
	for _, i := range d.Removed {
		got = append(got, "-"+name(old, i))
	}
	for what, pairs := range map[string][]Pair{"flag": d.Flagged, "move": d.Moved, "name": d.Renamed} {
		for _, p := range pairs {
			if name(old, p.Old) != name(new, p.New) {
				t.Errorf("%s pairs %s with %s", what, name(old, p.Old), name(new, p.New))
			}
			got = append(got, what+" "+name(new, p.New))
		}
	}
	slices.Sort(got)
	want := []string{"+x", "+y", "-f", "flag b", "flag d", "flag g", "move c", "move d", "name e"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if same := Diff(old, old); !same.Empty() || d.Empty() {
		t.Error("Empty")
	}
	if d := Diff(&Scan{}, new); len(d.Added) != len(new.Entries) {
		t.Errorf("from nothing: %+v", d)
	}
	if d := Diff(old, &Scan{}); len(d.Removed) != len(old.Entries) {
		t.Errorf("to nothing: %+v", d)
	}
}

// The delta applied to the old listing gives the new one.
func TestDiff_random(t *testing.T) {
	r := source(t)
	draw := func() *Scan {
		var names []string
		for i := range 60 {
			if r.IntN(3) > 0 {
				dir := []string{"cur", "new"}[r.IntN(2)]
				names = append(names, fmt.Sprintf("%s/%d.h%s", dir, i, []string{"", ":2,", ":2,S", ":2,a"}[r.IntN(4)]))
			}
		}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		return scanOf(names...)
	}
	for range 500 {
		old, new := draw(), draw()
		d := Diff(old, new)
		set := map[string]Entry{}
		for _, e := range old.Entries {
			set[e.Base] = e
		}
		for _, i := range d.Removed {
			delete(set, old.Entries[i].Base)
		}
		for _, i := range d.Added {
			set[new.Entries[i].Base] = new.Entries[i]
		}
		for _, p := range slices.Concat(d.Flagged, d.Moved, d.Renamed) {
			set[old.Entries[p.Old].Base] = new.Entries[p.New]
		}
		if len(set) != len(new.Entries) {
			t.Fatalf("%d entries, want %d", len(set), len(new.Entries))
		}
		for _, e := range new.Entries {
			if set[e.Base] != e {
				t.Fatalf("%s: %+v, want %+v", e.Base, set[e.Base], e)
			}
		}
	}
}
