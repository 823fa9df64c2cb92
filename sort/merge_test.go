package sort

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMerge(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 3000 {
		n := 1 + r.IntN(60)
		crit := make([]Criterion, 1+r.IntN(3))
		col := make([][]uint64, len(crit))
		for k := range crit {
			crit[k] = Criterion{Key(k), r.IntN(2) == 0}
			col[k] = make([]uint64, n)
			for i := range col[k] {
				col[k][i] = uint64(r.IntN(1 + r.IntN(n)))
			}
		}
		of := func(k Key) []uint64 { return col[k] }
		var before, after, gone, fresh []int32
		for i := range int32(n) {
			switch x := r.IntN(10); {
			case x < 6:
				before, after = append(before, i), append(after, i)
			case x < 8:
				before, gone = append(before, i), append(gone, i)
			default:
				after, fresh = append(after, i), append(fresh, i)
			}
		}
		order := func(rows []int32) []int32 {
			if len(rows) == 0 {
				return nil
			}
			return Order(nil, n, rows, crit, of, new(Scratch))
		}
		r.Shuffle(len(gone), func(i, k int) { gone[i], gone[k] = gone[k], gone[i] })
		old, want := order(before), order(after)
		got, ok := Merge(nil, old, gone, fresh, crit, col)
		if !ok || !slices.Equal(got, want) {
			t.Fatalf("round %d: %v: got %v, want %v (%v)\nold %v gone %v fresh %v columns %v", round, crit, got, want, ok, old, gone, fresh, col)
		}
		if len(old) > 0 {
			if _, ok := Merge(nil, old, nil, []int32{old[0]}, crit, col); ok {
				t.Fatal("a row came that was there")
			}
		}
		if len(fresh) > 0 {
			if _, ok := Merge(nil, old, fresh[:1], nil, crit, col); ok {
				t.Fatal("a row went that was not there")
			}
		}
	}
}
