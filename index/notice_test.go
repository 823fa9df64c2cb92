package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// What is noticed of changes is what a look at all rows finds, for every MODSEQ
// for which it is told, and the last ones always are.
func TestTable_noticed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	tab := NewTable(1, 1, 1, 0)
	var k Tracker
	k.Load(tab)
	told := 0
	for step := range 300 {
		n := &News{UIDNext: tab.UIDNext, HighestModSeq: tab.HighestModSeq + 1}
		k.rows = k.rows[:0]
		dead := map[uint32]bool{}
		for row, u := range tab.uid {
			switch {
			case tab.flags[row] == flagDead:
			case r.IntN(40) == 0:
				n.Removed = append(n.Removed, u)
				k.rows = append(k.rows, int32(row))
				dead[u] = true
			case r.IntN(20) == 0:
				n.Flagged = append(n.Flagged, Row{UID: u, Flags: Flags(r.IntN(64))})
			}
		}
		for range r.IntN(4) {
			n.Added = append(n.Added, Row{UID: n.UIDNext, Key: fmt.Sprint("k", n.UIDNext)})
			n.UIDNext++
		}
		if !n.seen() {
			continue
		}
		k.take(tab, n)
		if r.IntN(30) == 0 { // a change that nobody notices
			tab.HighestModSeq++
		}
		since := tab.HighestModSeq - min(tab.HighestModSeq, r.Uint64N(12))
		changed, gone, ok := tab.Noticed(since)
		if !ok {
			continue
		}
		told++
		var want []Message
		var wantGone []uint32
		full := *tab
		full.uid, full.flags, full.dir, full.modseq = slices.Clone(tab.uid), slices.Clone(tab.flags), slices.Clone(tab.dir), slices.Clone(tab.modseq)
		full.keys, full.off, full.dead = slices.Clone(tab.keys), slices.Clone(tab.off), slices.Clone(tab.dead)
		full.ChangedSince(since, func(row int) { want = append(want, full.Message(row)) }, func(u uint32) { wantGone = append(wantGone, u) })
		if !slices.Equal(changed, want) || !slices.Equal(gone, wantGone) {
			t.Fatalf("step %d, since %d of %d:\n%v %v, want\n%v %v", step, since, tab.HighestModSeq, changed, gone, want, wantGone)
		}
		if r.IntN(5) == 0 {
			tab.settle()
		}
	}
	if told < 100 {
		t.Errorf("told %d times", told)
	}
}
