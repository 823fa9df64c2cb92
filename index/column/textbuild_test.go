package column

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	mailsort "mailbench/sort"
)

// New strings get the same numbers and places whether they are looked for one by
// one in the order of a builder of few rows, or the dictionary is interned.
func TestTextBuilder_few(t *testing.T) {
	r, _ := seeded(t)
	for round := range 60 {
		var few, full text
		for step := range 1 + r.IntN(6) {
			var a mailsort.Arena
			for range r.IntN(60) {
				a.Append([]byte(fmt.Sprintf("%s%d", randomWord(r), r.IntN(4))))
			}
			a.Append(nil)
			var got [2][]int32
			var places [2][]byte
			for i, to := range []*text{&few, &full} {
				var b textBuilder
				b.start(&to.dict, a.Len(), i == 0)
				if want := i == 0 && step > 0; b.few != want {
					t.Fatalf("few is %t in step %d", b.few, step)
				}
				got[i] = b.take(nil, &a)
				b.finish(to, got[i])
				places[i] = b.places
				if b.added != b.fresh.Len() || step > 0 && b.places == nil {
					t.Fatalf("%d strings added, %d told, places %v", b.added, b.fresh.Len(), b.places)
				}
			}
			if !slices.Equal(got[0], got[1]) || !bytes.Equal(places[0], places[1]) || !slices.Equal(few.dict.later, full.dict.later) {
				t.Fatalf("round %d step %d: few rows are numbered\n%v\n%v\nall\n%v\n%v", round, step, got[0], few.dict.later, got[1], full.dict.later)
			}
			for i, v := range got[0] {
				if !bytes.Equal(few.dict.str(v), a.At(i)) {
					t.Fatalf("round %d: %q became %q", round, a.At(i), few.dict.str(v))
				}
			}
		}
	}
}

// The tail of a large mailbox may have more records than that of a small one,
// but no more than are looked for in a pass.
func TestTailBounds(t *testing.T) {
	m := &mailbox{tailRows: tailRows}
	for _, c := range []struct{ rows, records int }{{0, 2048}, {98_303, 2048}, {98_304, 4096}, {147_456, 6144}, {10_000_000, 6144}} {
		records, size := m.tailBounds(&store{rows: c.rows})
		if records != c.records || size < tailBytes || size > tailMost || records >= manyRows {
			t.Errorf("%d rows: %d records or %d bytes, want %d", c.rows, records, size, c.records)
		}
	}
}
