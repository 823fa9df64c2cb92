package thread

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestInternerMatchesMap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, mask := range []uint64{^uint64(0), 1<<12 - 1, 7, 0} {
		n := rounds(20_000)
		if mask < 1<<12-1 {
			n = rounds(1500)
		}
		in := NewInterner(r.IntN(2)*n, 0)
		in.mask = mask // hashes of 12 bits and less: strings decide
		for round := range 2 {
			want := map[string]int32{}
			for range n {
				s := fmt.Sprintf("%d@quince.example", r.IntN(n))
				if r.IntN(3) == 0 {
					s = s[:r.IntN(len(s)+1)]
				}
				id, known := want[s]
				if got, ok := in.Lookup([]byte(s)); ok != known || (ok && got != id) {
					t.Fatalf("mask %x: Lookup(%q) = %d, %v; want %d, %v", mask, s, got, ok, id, known)
				}
				if !known {
					id = int32(len(want))
					want[s] = id
				}
				if got := in.Intern([]byte(s)); got != id {
					t.Fatalf("mask %x: Intern(%q) = %d, want %d", mask, s, got, id)
				}
			}
			if in.Len() != len(want) {
				t.Fatalf("mask %x, round %d: Len %d, want %d", mask, round, in.Len(), len(want))
			}
			for s, id := range want {
				if string(in.Bytes(id)) != s {
					t.Fatalf("mask %x: Bytes(%d) = %q, want %q", mask, id, in.Bytes(id), s)
				}
			}
			in.Reset()
		}
	}
}

func TestInternerEdges(t *testing.T) {
	in := NewInterner(0, 0)
	for i, s := range []string{"", "\x00", "\x00\x00", "a", "a\x00"} {
		if got := in.Intern([]byte(s)); got != int32(i) {
			t.Errorf("Intern(%q) = %d, want %d", s, got, i)
		}
	}
	// What was interned is copied.
	b := []byte("quince")
	id := in.Intern(b)
	b[0] = 'x'
	if got := string(in.Bytes(id)); got != "quince" {
		t.Errorf("Bytes(%d) = %q after the caller changed its own", id, got)
	}
}

func TestInternerAllocs(t *testing.T) {
	const n = 20_000
	ids := make([][]byte, n)
	total := 0
	for i := range ids {
		ids[i] = fmt.Appendf(nil, "20260401.%d.jam@quince.example", i*2654435761)
		total += len(ids[i])
	}
	in := NewInterner(n, total)
	if a := testing.AllocsPerRun(3, func() {
		in.Reset()
		for range 3 {
			for _, id := range ids {
				in.Intern(id)
			}
		}
	}); a != 0 {
		t.Errorf("%v allocations with room for all", a)
	}
	if a := testing.AllocsPerRun(3, func() {
		in := NewInterner(0, 0)
		for _, id := range ids {
			in.Intern(id)
		}
	}); a > 0.01*n {
		t.Errorf("%v allocations while growing to %d", a, n)
	}
}

func BenchmarkInterner(b *testing.B) {
	const n = 370_000
	ids := make([][]byte, n)
	for i := range ids {
		ids[i] = fmt.Appendf(nil, "20260401.%d.jam@quince.example", i*2654435761)
	}
	in := NewInterner(n, 40*n)
	b.ReportAllocs()
	for b.Loop() {
		in.Reset()
		// Four ids per message, as lists have, mostly of the messages just before.
		for i := range ids {
			for _, back := range [...]int{0, 1, 3, 20} {
				in.Intern(ids[max(0, i-back)])
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
}
