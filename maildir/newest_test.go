package maildir

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Newest names what came, or nothing: whatever else happened to the mailbox.
func TestScan_Newest(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	found := 0
	for round := range 36 {
		md := mailbox(t)
		span := 1 + r.IntN(40)
		file := func(from int) string {
			first := []int{1700000000, 1000000000, 999999990, 9999999990, 7, 17000000000}[round%6]
			base := fmt.Sprintf("%d.M%dP%d.h", first+from+r.IntN(span), r.IntN(3), r.IntN(1000000))
			switch r.IntN(20) {
			case 0:
				base = "0" + base
			case 1:
				base = base[:r.IntN(4)] + "x" + base
			case 2:
				base = fmt.Sprintf("%d", first+from+r.IntN(span))
			}
			if r.IntN(2) == 0 {
				return "new/" + base
			}
			return "cur/" + base + ":2," + []string{"", "S", "FS"}[r.IntN(3)]
		}
		var old []string
		for range 1 + r.IntN(200) {
			old = append(old, file(0))
			put(t, filepath.Join(md, old[len(old)-1]), "")
		}
		var s Scan
		if err := s.List(md, Options{}); err != nil {
			t.Fatal(err)
		}
		known := s.Digest
		var fresh []string
		from := []int{0, span - 1, span}[round%3]
		for range r.IntN(30) {
			f := file(from)
			if slices.Contains(old, f) || slices.Contains(fresh, f) {
				continue
			}
			fresh = append(fresh, f)
			put(t, filepath.Join(md, f), "")
		}
		pure := true
		switch r.IntN(6) {
		case 0:
			os.Remove(filepath.Join(md, old[r.IntN(len(old))]))
			pure = false
		case 1: // a name of a known message, in another place
			i := r.IntN(len(old))
			base, _ := cut(filepath.Base(old[i]), ':')
			if err := os.WriteFile(filepath.Join(md, "cur", base+":2,T"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			pure = false
		}
		if err := s.List(md, Options{}); err != nil {
			t.Fatal(err)
		}
		at, ok := s.Newest(known, 100)
		if !ok {
			continue
		}
		found++
		if !pure {
			t.Fatalf("round %d: found %d new names where names went or changed", round, len(at))
		}
		var got []string
		for _, p := range at {
			e := s.EntryAt(p.At, p.Dir)
			got = append(got, e.Dir.String()+"/"+e.File)
		}
		slices.Sort(got)
		slices.Sort(fresh)
		if !slices.Equal(got, fresh) {
			t.Fatalf("round %d: got %v, want %v", round, got, fresh)
		}
	}
	if found == 0 {
		t.Error("never found what came")
	}
}

// Many names of one second, and more than the limit, are not told apart.
func TestScan_Newest_limits(t *testing.T) {
	md := mailbox(t)
	for i := range 300 {
		put(t, filepath.Join(md, fmt.Sprintf("cur/1700000000.P%d.h:2,", i)), "")
	}
	var s Scan
	if err := s.List(md, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Newest(s.Digest, 10); ok {
		t.Error("nothing came")
	}
	if _, ok := s.Newest(Digest{}, 10); ok {
		t.Error("more than the limit")
	}
	if at, ok := s.Newest(Digest{}, 300); !ok || len(at) != 300 {
		t.Errorf("%d of 300, %v", len(at), ok)
	}
	known := s.Digest
	put(t, filepath.Join(md, "new/1700000000.P5000.h"), "")
	if err := s.List(md, Options{}); err != nil {
		t.Fatal(err)
	}
	s.Newest(known, 10) // may find it or not
}
