package peer

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestReversed(t *testing.T) {
	for keys, want := range map[string]string{
		"DATE": "REVERSE DATE", "REVERSE DATE": "DATE", "SUBJECT REVERSE DATE": "REVERSE SUBJECT DATE", "REVERSE": "REVERSE REVERSE",
	} {
		if got := reversed(keys); got != want {
			t.Errorf("reversed(%q) = %q, want %q", keys, got, want)
		}
	}
}

// TestSortedButTies shuffles the ties of random keys, and then breaks the order.
func TestSortedButTies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	broken := 0
	for range 500 {
		n := 1 + r.IntN(30)
		key := make(map[uint32]int, n)
		var forward []uint32
		for uid := uint32(1); uid <= uint32(n); uid++ {
			key[uid] = r.IntN(6)
			forward = append(forward, uid)
		}
		backward := slices.Clone(forward)
		slices.SortStableFunc(forward, func(a, b uint32) int { return key[a] - key[b] })
		slices.SortStableFunc(backward, func(a, b uint32) int { return key[b] - key[a] })
		theirs := slices.Clone(forward)
		r.Shuffle(n, func(i, j int) { theirs[i], theirs[j] = theirs[j], theirs[i] })
		slices.SortStableFunc(theirs, func(a, b uint32) int { return key[a] - key[b] })
		if !sortedButTies(theirs, forward, backward) {
			t.Fatalf("keys %v: %v is sorted (%v, %v)", key, theirs, forward, backward)
		}
		i, j := r.IntN(n), r.IntN(n)
		if key[theirs[i]] != key[theirs[j]] {
			theirs[i], theirs[j] = theirs[j], theirs[i]
			broken++
			if sortedButTies(theirs, forward, backward) {
				t.Fatalf("keys %v: %v is not sorted", key, theirs)
			}
		}
		theirs[0] = theirs[n-1]
		if n > 1 && sortedButTies(theirs, forward, backward) {
			t.Fatalf("%v has a message twice", theirs)
		}
	}
	if broken < 100 {
		t.Fatalf("only %d broken orders tried", broken)
	}
}
