package index

import (
	"fmt"
	"testing"
)

// The lineage of a table survives logs, snapshots and the forgetting of old
// hashes.
func TestLineage(t *testing.T) {
	r := testRand(t)
	dir := t.TempDir()
	src := newMemSource()
	added := map[uint32]uint64{} // Added by UIDNEXT, as the index said then
	for round := range 60 {
		for range r.IntN(4) {
			src.deliver(fmt.Sprintf("%d.M%d.x", 1000+round, r.Uint32()))
		}
		for k := range src.msgs {
			if r.IntN(8) == 0 {
				delete(src.msgs, k)
				src.tick++
			}
		}
		b := openTestBase(t, quick, dir)
		mustSync(t, b, src)
		if r.IntN(6) == 0 {
			if err := b.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		for err := range b.Check() {
			t.Fatal(err)
		}
		h := b.Header()
		tab, err := b.Table()
		if err != nil {
			t.Fatal(err)
		}
		if round == 40 { // as if there had been too many
			tab.lostFrom = h.UIDNext / 2
			var few []lostHash
			for _, l := range tab.lost {
				if l.uid >= tab.lostFrom {
					few = append(few, l)
				}
			}
			tab.lost = few
			if err := b.save(tab); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.Set.Minus(tab.SetFrom(5)).Plus(tab.SetFrom(5)); got != tab.sumFrom(0) {
			t.Fatalf("set hash %x, want %x", got, tab.sumFrom(0))
		}
		if old, ok := added[h.UIDNext]; ok && old != h.Added {
			t.Fatal("added changed although nothing came")
		}
		added[h.UIDNext] = h.Added
		for uid, want := range added {
			got, ok := tab.AddedBelow(uid)
			if uid < tab.lostFrom == ok {
				t.Fatalf("round %d: added below %d: ok %v, hashes are known from %d on", round, uid, ok, tab.lostFrom)
			}
			if ok && got != want {
				t.Fatalf("round %d: added below %d is %x, want %x", round, uid, got, want)
			}
		}
		b.Close()
	}
}

func TestLineage_bound(t *testing.T) {
	tab := &Table{UIDNext: 1, HighestModSeq: 1, UIDValidity: 1}
	tab.seal(7)
	const n = 6*maxLost + 100
	for i := range n {
		tab.add(&row{uid: uint32(i + 1), key: fmt.Sprint(i), modseq: 1})
	}
	tab.UIDNext = n + 1
	for tab.Len() > 100 {
		tab.remove([]int32{0, 2, 4, 6, 8, 9, 10, 20}, 1)
	}
	if len(tab.lost) > maxLost || tab.lostFrom == 0 {
		t.Fatalf("%d hashes kept, from uid %d", len(tab.lost), tab.lostFrom)
	}
	tab.check(func(what string) bool { t.Error(what); return true })
	whole := &Table{}
	whole.seal(7)
	for i := range int(tab.lostFrom) - 1 {
		whole.add(&row{uid: uint32(i + 1), key: fmt.Sprint(i)})
	}
	if got, ok := tab.AddedBelow(tab.lostFrom); !ok || got != whole.added {
		t.Errorf("added below %d is %x %v, want %x", tab.lostFrom, got, ok, whole.added)
	}
}

func TestSetHash_tells(t *testing.T) {
	s := seedOf(1)
	seen := map[uint64]string{}
	for _, uid := range []uint32{1, 2, 8, 1 << 31} {
		for _, key := range []string{"", "a", "\x00", "a\x00", "12345678", "12345678\x00", "123456781", "1234567812345678"} {
			h := s.hash(uid, []byte(key))
			for _, lane := range h {
				if old, ok := seen[lane]; ok {
					t.Errorf("%d %q hashes like %s", uid, key, old)
				}
				seen[lane] = fmt.Sprintf("%d %q", uid, key)
			}
		}
	}
	if s.hash(1, []byte("x")) == seedOf(2).hash(1, []byte("x")) {
		t.Error("the seed makes no difference")
	}
}

func BenchmarkSetHash(b *testing.B) {
	key := []byte("1063209600.M123456P1234.host.example,S=4321,W=4400")
	s := seedOf(1)
	for i := uint32(0); b.Loop(); i++ {
		s.hash(i, key)
	}
}
