package tier

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
)

var lists = [][]string{{"Subject"}, {"subject", "From"}, {"From", "Subject", "Absent", "Empty"}, {"SUBJECT"}, {}}

func randomCalls(r *rand.Rand, n, uids int) []Call {
	calls := make([]Call, n)
	for i := range calls {
		c := Call{Fields: lists[r.IntN(len(lists))]}
		for range 1 + r.IntN(8) {
			c.UIDs = append(c.UIDs, 1+uint32(r.IntN(uids)))
		}
		calls[i] = c
	}
	return calls
}

// TestFetch_isThatBehind holds that a tier of each kind gives exactly what the
// mailbox behind it gives, in the order asked for, with messages asked for
// twice and messages that are not there, and never holds more than its bound.
func TestFetch_isThatBehind(t *testing.T) {
	r := seeded(t)
	for _, kind := range Kinds {
		for _, bound := range []int64{1, 300, 3000, 1 << 20} {
			b := newBox(40)
			for u := uint32(5); u <= 40; u += 5 {
				delete(b.there, u)
			}
			b.size = func(uid uint32) int { return int(uid) * 3 }
			plain := newBox(40)
			plain.there, plain.size = b.there, b.size
			tr, m := opened(t, kind, bound, b)
			calls := randomCalls(r, 400, 40)
			tr.Foresee(calls)
			asked := int64(0)
			for i, c := range calls {
				if kind == "clairvoyant" && i == 300 {
					c = Call{UIDs: []uint32{39}, Fields: []string{"Date"}} // not foretold
				}
				asked += int64(len(c.UIDs))
				want := fetched(t, plain, c.UIDs, c.Fields)
				if got := fetched(t, m, c.UIDs, c.Fields); got != want {
					t.Fatalf("%s of %d bytes: %v %v:\n%swant\n%s", kind, bound, c.UIDs, c.Fields, got, want)
				}
				tr.Wait()
				if tr.Bytes() > bound || tr.Bytes() < 0 {
					t.Fatalf("%s holds %d bytes, its bound is %d", kind, tr.Bytes(), bound)
				}
			}
			st := tr.Stats()
			if st.Hits+st.Misses != asked || st.Misses != int64(b.asked) {
				t.Errorf("%s: %+v of %d asked, %d behind", kind, st, asked, b.asked)
			}
			if helps := kind != "none" && bound > 300; (st.Hits > 0) != helps && bound != 300 {
				t.Errorf("%s of %d bytes: %d hits", kind, bound, st.Hits)
			}
		}
	}
}

// TestSync_forgets holds T2 for each kind, with a design that tells what
// vanished and with one that does not, and when that fails.
func TestSync_forgets(t *testing.T) {
	all := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	rebuild := func(b *box) index.Changes {
		b.status.UIDValidity++
		b.status.HighestModSeq = 1
		return index.Changes{Added: 10, Rebuilt: true}
	}
	quiet := func(b *box) index.Changes { // another process saw it
		expunge(3)(b)
		return index.Changes{}
	}
	lower := func(b *box) index.Changes {
		delete(b.there, 3)
		b.status.HighestModSeq = 0
		return index.Changes{}
	}
	flags := func(b *box) index.Changes { b.status.HighestModSeq++; return index.Changes{Flagged: 4} }
	for _, kind := range Kinds {
		for _, c := range []struct {
			name   string
			change func(*box) index.Changes
			mods   bool
			fail   error
			kept   int // at least so many are not asked for again
		}{
			{"expunge", expunge(3, 7), true, nil, 8},
			{"expunge", expunge(3, 7), true, errors.New("no history"), 0},
			{"expunge", expunge(3, 7), false, nil, 0},
			{"elsewhere", quiet, true, nil, 9},
			{"elsewhere", quiet, false, nil, 0},
			{"rebuilt", rebuild, true, nil, 0},
			{"rebuilt", rebuild, false, nil, 0},
			{"lower", lower, true, nil, 0},
			{"flags", flags, true, nil, 10},
			{"flags", flags, false, nil, 10},
			{"nothing", nil, false, nil, 10},
		} {
			b := newBox(10)
			var mb index.Mailbox = b
			if c.mods {
				mb = modBox{b, c.fail}
			}
			tr, m := opened(t, kind, 1<<20, mb)
			tr.Foresee([]Call{{all, lists[0]}, {all, lists[0]}})
			fetched(t, m, all, lists[0])
			if c.kept == len(all) {
				tr.Wait() // the others find records on their way into ristretto
			}
			b.pending = c.change
			if _, err := m.Sync(); err != nil {
				t.Fatal(err)
			}
			b.asked = 0
			got := fetched(t, m, all, lists[0])
			asked := b.asked
			if want := fetched(t, b, all, lists[0]); got != want {
				t.Errorf("%s %s mods=%v: after the sync\n%swant\n%s", kind, c.name, c.mods, got, want)
			}
			if kind != "none" && 10-asked < c.kept {
				t.Errorf("%s %s mods=%v: %d were asked for again, want at most %d", kind, c.name, c.mods, asked, 10-c.kept)
			}
			tr.Wait()
		}
	}
}

// TestFetch_error holds that an error of the caller ends a Fetch, in front of
// a hit as of a miss, and that one from behind comes through.
func TestFetch_error(t *testing.T) {
	stop := errors.New("stop")
	b := newBox(5)
	_, m := opened(t, "lru", 1<<20, b)
	fetched(t, m, []uint32{2}, lists[0])
	for _, uids := range [][]uint32{{2}, {1}, {2, 1}, {1, 2}, {4, 2, 3}} {
		n := 0
		if err := m.Fetch(uids, lists[0], func(uint32, [][]byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
			t.Errorf("%v: %v after %d", uids, err, n)
		}
	}
	liar := &liarBox{b}
	_, m = opened(t, "lru", 1<<20, liar)
	if err := m.Fetch([]uint32{1, 2}, lists[0], func(uint32, [][]byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "not asked for") {
		t.Errorf("a message that nobody asked for: %v", err)
	}
}

// liarBox gives another message.
type liarBox struct{ *box }

func (b *liarBox) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	return fn(99, make([][]byte, len(fields)))
}

func TestNew_refuses(t *testing.T) {
	for _, c := range []struct {
		kind  string
		bytes int64
	}{{"fifo", 10}, {"lru", 0}, {"ristretto", -1}} {
		if _, err := New(c.kind, c.bytes); err == nil {
			t.Errorf("%s of %d bytes is made", c.kind, c.bytes)
		}
	}
	tr, err := New("none", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Wrap(struct{ index.Mailbox }{}); err == nil {
		t.Error("a mailbox that does not fetch is wrapped")
	}
}

func TestRecord(t *testing.T) {
	for _, values := range [][][]byte{{}, {nil}, {{}}, {nil, {}, []byte("x"), nil, []byte(strings.Repeat("y", 5000))}} {
		r := record(values)
		if r == nil || int64(len(r)) != RecordBytes(values) {
			t.Errorf("record of %q: %v, %d bytes of %d", values, r == nil, len(r), RecordBytes(values))
		}
		got := parse(nil, r)
		if !slices.EqualFunc(got, values, func(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) }) {
			t.Errorf("%q is read as %q", values, got)
		}
	}
}
