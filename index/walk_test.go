package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// walker is a memSource that can do all that a Source may.
type walker struct {
	*memSource
	r    *rand.Rand
	full Listing      // what a listing would be
	seen atomic.Int64 // how often each way was taken
	fill int
}

// Glance lists, with a name in two places now and then.
func (w *walker) Glance(l *Listing) error {
	if err := w.memSource.List(&w.full); err != nil {
		return err
	}
	if n := len(w.full.Entries); n > 0 && w.r.IntN(5) == 0 {
		twin := w.full.Entries[w.r.IntN(n)]
		if twin.Dir == DirCur {
			twin.Dir, twin.Folder = DirNew, "new"
			w.full.Entries = slices.Insert(w.full.Entries, 0, twin)
		}
	}
	l.Entries, l.Digest = l.Entries[:0], w.full.Digest
	return nil
}

func (w *walker) Fill(l *Listing) { w.fill++; l.Entries = append(l.Entries[:0], w.full.Entries...) }

func (w *walker) List(l *Listing) error {
	err := w.Glance(l)
	w.Fill(l)
	return err
}

func (w *walker) Walk(l *Listing, part, parts int, fn func(at uint32, key string, flags Flags, dir uint8, keywords uint32)) bool {
	w.seen.Add(1)
	for i, e := range w.full.Entries {
		if i%parts == part {
			fn(uint32(i), e.Key, e.Flags, e.Dir, e.Keywords)
		}
	}
	return true
}

func (w *walker) FillAt(l *Listing, at []Place) {
	l.Entries = l.Entries[:0]
	for _, p := range at {
		l.Entries = append(l.Entries, w.full.Entries[p.At])
	}
}

func (w *walker) NameEntry(e *Entry, key []byte, flags Flags, dir uint8, keywords uint32, buf []byte) []byte {
	*e = Entry{Key: string(key), Dir: dir, Folder: Folder(dir), Flags: flags, Keywords: keywords, Size: -1, VSize: -1, Off: -1}
	return buf
}

// memSeed is a memSource's messages in order, each once.
type memSeed []Entry

func (w *walker) Seed(*Listing) (Seed, bool) {
	if w.r.IntN(4) == 0 {
		return nil, false
	}
	s := slices.Clone(w.full.Entries)
	slices.SortStableFunc(s, func(a, b Entry) int {
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return int(a.Dir) - int(b.Dir)
	})
	return memSeed(slices.CompactFunc(s, func(a, b Entry) bool { return a.Key == b.Key })), true
}

func (s memSeed) Len() int         { return len(s) }
func (s memSeed) KeyLen(i int) int { return len(s[i].Key) }
func (s memSeed) Row(i int) (string, Flags, uint8, uint32) {
	return s[i].Key, s[i].Flags, s[i].Dir, s[i].Keywords
}

// Enough messages for several goroutines.
func TestWalk_large(t *testing.T) {
	r := testRand(t)
	src := newMemSource()
	w := &walker{memSource: src, r: r}
	mo := &model{uids: map[string]uint32{}}
	dir := t.TempDir()
	for i := range 40_000 {
		src.deliver(fmt.Sprintf("%d.M%dP1.h", 1_000_000_000+i/3, i))
	}
	for range 4 {
		b := openTestBase(t, quick, dir)
		mustSync(t, b, w)
		mo.sync(src)
		if err := mo.compare(b); err != nil {
			t.Fatal(err)
		}
		for err := range b.Check() {
			t.Fatal(err)
		}
		b.Close()
		for k, m := range src.msgs {
			switch r.IntN(300) {
			case 0:
				delete(src.msgs, k)
			case 1:
				m.flags ^= FlagSeen
			case 2:
				m.dir = DirCur
			case 3:
				m.keywords = r.Uint32N(8)
			}
		}
		for i := range 50 {
			src.deliver(fmt.Sprintf("%d.M%dP2.h", 1_000_000_000+r.IntN(20_000), i))
		}
		src.tick++
	}
}
