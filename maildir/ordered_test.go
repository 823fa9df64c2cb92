package maildir

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Ordered gives what Read, Unique and SortBase give.
func TestOrdered(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 30 {
		dir := t.TempDir()
		for _, d := range []string{"cur", "new"} {
			os.Mkdir(filepath.Join(dir, d), 0o700)
		}
		n := []int{0, 1, 5, 300, 3000}[round%5]
		for range n {
			base := fmt.Sprintf("%d.M%dP%d.h", 1000+r.IntN(n), r.IntN(3), r.IntN(3))
			switch r.IntN(6) {
			case 0:
				base = fmt.Sprintf("x%d", r.IntN(n))
			case 1:
				base += ",S=5" + strings.Repeat("z", r.IntN(180))
			}
			name := base + []string{"", ":2,", ":2,FS", ":2,SFab", ":2,SX", ":1,S", ":2,S:2,R"}[r.IntN(7)]
			if err := os.WriteFile(filepath.Join(dir, Dir(r.IntN(2)).String(), name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var s Scan
		if err := s.List(dir, Options{}); err != nil {
			t.Fatal(err)
		}
		o, ok := s.Ordered()
		if !ok {
			t.Fatal("not ok")
		}
		s.Parse()
		want := map[string][]Entry{}
		for _, e := range s.Entries {
			want[e.Base] = append(want[e.Base], e)
		}
		if o.Len() != len(want) {
			t.Fatalf("seed %d: %d messages, want %d", seed, o.Len(), len(want))
		}
		prev := ""
		for i := range o.Len() {
			base, d, f, k := o.At(i)
			if i > 0 && Compare(prev, base) >= 0 {
				t.Fatalf("seed %d: %q before %q", seed, prev, base)
			}
			prev = base
			es := want[base]
			if slices.ContainsFunc(es, func(e Entry) bool { return e.Dir == Cur }) {
				es = slices.DeleteFunc(es, func(e Entry) bool { return e.Dir == New })
			}
			if len(es) == 0 || es[0].Dir != d || es[0].Flags != f || es[0].Keywords != k || o.BaseLen(i) != len(base) {
				t.Fatalf("seed %d: %q %v %v %x, want %+v", seed, base, d, f, k, es)
			}
		}
	}
}

// AppendFile gives back every name that is written as the standard says.
func TestAppendFile(t *testing.T) {
	for _, c := range []struct {
		file string
		dir  Dir
	}{
		{"1.M2P3.h", New}, {"1.M2P3.h:2,", Cur}, {"1.M2P3.h,S=5,W=7:2,FS", Cur}, {"1:2,DFPRSTabz", Cur}, {"1:2,S", New},
	} {
		n := Parse(c.file, Options{})
		if got := string(AppendFile(nil, n.Base, c.dir, n.Flags, n.Keywords, Options{})); got != c.file {
			t.Errorf("%q, want %q", got, c.file)
		}
	}
	if got := string(AppendFile(nil, "1", Cur, FlagSeen, 1, Options{Separator: ';'})); got != "1;2,Sa" {
		t.Error(got)
	}
	if s, w := Sizes("1,S=5,W=7"); s != 5 || w != 7 {
		t.Error(s, w)
	}
}
