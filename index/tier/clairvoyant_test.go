package tier

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// hits plays calls on a tier and counts those of calls[from:].
func hits(t *testing.T, kind string, bytes int64, b *box, calls []Call, from int) int64 {
	t.Helper()
	tr, m := opened(t, kind, bytes, b)
	tr.Foresee(calls)
	for i, c := range calls {
		if i == from {
			tr.Wait()
			tr.ResetStats()
		}
		if err := m.Fetch(c.UIDs, c.Fields, func(uint32, [][]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if tr.Wait(); tr.Bytes() > bytes {
			t.Fatalf("%s holds %d bytes, its bound is %d", kind, tr.Bytes(), bytes)
		}
	}
	return tr.Stats().Hits
}

// singles is a sequence of single fetches.
func singles(r *rand.Rand, n, uids int, z *rand.Zipf) []Call {
	calls := make([]Call, n)
	for i := range calls {
		uid := uint32(r.IntN(uids))
		if z != nil {
			uid = uint32(z.Uint64())
		}
		calls[i] = Call{UIDs: []uint32{uid + 1}, Fields: []string{"f"}}
	}
	return calls
}

// TestClairvoyant_isOptimal compares the hits with the best of all ways to
// keep and drop, found by trying them, for records of one size.
func TestClairvoyant_isOptimal(t *testing.T) {
	r := seeded(t)
	for range 300 {
		uids, room := 2+r.IntN(4), 1+r.IntN(3)
		calls := singles(r, 1+r.IntN(14), uids, nil)
		b := newBox(uids)
		unit := cost(record([][]byte{b.value(1, "f")}))
		got := hits(t, "clairvoyant", unit*int64(room), b, calls, 0)
		if want := best(calls, room, 0); got != want {
			t.Fatalf("%v with room for %d: %d hits, the best is %d", calls, room, got, want)
		}
	}
}

// best is the highest number of hits of calls with a cache of room messages,
// of which kept (a set of bits) are there.
func best(calls []Call, room int, kept uint32) int64 {
	if len(calls) == 0 {
		return 0
	}
	u := uint32(1) << calls[0].UIDs[0]
	if kept&u != 0 {
		return 1 + best(calls[1:], room, kept)
	}
	most := best(calls[1:], room, kept) // not kept
	n := 0
	for v := kept; v != 0; v &= v - 1 {
		n++
	}
	if n < room {
		return max(most, best(calls[1:], room, kept|u))
	}
	for v := kept; v != 0; v &= v - 1 {
		most = max(most, best(calls[1:], room, kept&^(v&-v)|u))
	}
	return most
}

// TestClairvoyant_aboveOthers holds, on random sequences, that with records of
// one size no kind has more hits than clairvoyant, and that with any sizes
// none has more than Bound.
func TestClairvoyant_aboveOthers(t *testing.T) {
	r := seeded(t)
	for i := range 24 {
		uids := 20 + r.IntN(200)
		var z *rand.Zipf
		if i%2 == 0 {
			z = rand.NewZipf(r, 1.1, 1, uint64(uids-1))
		}
		calls := singles(r, 600, uids, z)
		b := newBox(uids)
		varied := i%4 >= 2
		b.size = func(uid uint32) int { return 0 }
		if varied {
			b.size = func(uid uint32) int { return int(uid*uid) % 977 }
		} else {
			b.size = func(uid uint32) int { return 20 - len(fmt.Sprint(uid)) }
		}
		if i%8 >= 4 { // windows
			for j := range calls {
				c := &calls[j]
				for k := uint32(1); k < 10; k++ {
					c.UIDs = append(c.UIDs, c.UIDs[0]+k)
				}
			}
		}
		from := []int{0, 300}[r.IntN(2)]
		bytes := int64(200 + r.IntN(400*uids/4))
		bound := Bound(calls, from, bytes, func(uid uint32, fields []string) int64 {
			if !b.there[uid] {
				return -1
			}
			return int64(len(record([][]byte{b.value(uid, "f")})))
		})
		most := hits(t, "clairvoyant", bytes, b, calls, from)
		for _, kind := range Kinds {
			n := hits(t, kind, bytes, b, calls, from)
			if n > bound {
				t.Errorf("sequence %d: %s has %d hits, no cache can have more than %d", i, kind, n, bound)
			}
			if !varied && from == 0 && n > most {
				t.Errorf("sequence %d: %s has %d hits, clairvoyant %d", i, kind, n, most)
			}
		}
		t.Logf("%d uids, %d bytes, windows %v, sizes vary %v, from %d: clairvoyant %d, bound %d", uids, bytes, len(calls[0].UIDs) > 1, varied, from, most, bound)
	}
}

// TestBound_isNoLie holds what Bound says where the truth is plain.
func TestBound_isNoLie(t *testing.T) {
	size := func(uint32, []string) int64 { return 72 } // 200 bytes with Overhead
	call := func(uids ...uint32) Call { return Call{UIDs: uids, Fields: []string{"f"}} }
	for _, c := range []struct {
		calls []Call
		from  int
		bytes int64
		want  int64
	}{
		{nil, 0, 1000, 0},
		{[]Call{call(1), call(1), call(1)}, 0, 200, 2},
		{[]Call{call(1), call(1), call(1)}, 0, 199, 0},
		{[]Call{call(1), call(1), call(1)}, 2, 200, 1},
		{[]Call{call(1), call(2), call(3)}, 0, 1000, 0},
		{[]Call{call(1, 2), call(1, 2)}, 1, 400, 2},
		{[]Call{call(1, 2), call(1, 2)}, 1, 200, 1},
		{[]Call{call(1), {UIDs: []uint32{1}, Fields: []string{"g"}}}, 0, 1000, 0},
	} {
		if got := Bound(c.calls, c.from, c.bytes, size); got != c.want {
			t.Errorf("%v from %d with %d bytes: %d, want %d", c.calls, c.from, c.bytes, got, c.want)
		}
	}
}
