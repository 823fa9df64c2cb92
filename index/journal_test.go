package index_test

import (
	"fmt"
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/fsys"
)

// happen makes one of three things happen to a shelf.
func happen(s *indextest.Shelf, keys []string, i int, what string) {
	switch what {
	case "deliver":
		s.Deliver("Subject: x\n\n", int64(i), 0, 0)
	case "flag":
		s.SetFlags(keys[i*7919%len(keys)], index.FlagSeen<<(i%2), uint32(i%3))
	case "expunge":
		s.Expunge(keys[len(keys)-1-i])
	}
}

func journaled(t testing.TB, n int) (*indextest.Shelf, *index.Base, *fsys.Counter) {
	s := indextest.NewShelf()
	for i := range n {
		s.Deliver("Subject: x\n\n", int64(i), 0, 0)
	}
	c := fsys.Counting(fsys.Unsynced(fsys.OS))
	b, err := index.OpenBase(c, t.TempDir(), index.BaseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sync(s); err != nil {
		t.Fatal(err)
	}
	return s, b, c
}

// What a Sync from a Journal writes and lists does not depend on the size of the
// mailbox.
func TestBase_journalCosts(t *testing.T) {
	for _, what := range []string{"deliver", "flag", "expunge"} {
		var wrote [2]int64
		for k, n := range []int{300, 30000} {
			s, b, c := journaled(t, n)
			keys := s.Keys()
			lists, before := s.Lists, c.Counts()
			for i := range 50 {
				happen(s, keys, i, what)
				ch, err := b.Sync(s)
				if err != nil {
					t.Fatal(err)
				}
				if ch.Added+ch.Removed+ch.Flagged+ch.Moved != 1 {
					t.Fatalf("%s: %+v", what, ch)
				}
			}
			if s.Lists != lists {
				t.Errorf("%s of %d: all messages were listed %d times", what, n, s.Lists-lists)
			}
			wrote[k] = c.Counts().Sub(before).BytesWritten
			tab, err := b.Table()
			if err != nil {
				t.Fatal(err)
			}
			for i, key := range s.Keys() {
				if string(tab.Key(i)) != key {
					t.Fatalf("%s: row %d is %q, want %q", what, i, tab.Key(i), key)
				}
			}
			if tab.Len() != len(s.Keys()) {
				t.Fatalf("%s: %d rows, want %d", what, tab.Len(), len(s.Keys()))
			}
			for err := range b.Check() {
				t.Error(err)
			}
		}
		if wrote[1] > wrote[0]+50*3 { // UIDs are varints
			t.Errorf("%s: %d bytes of 300 messages, %d of 30,000", what, wrote[0], wrote[1])
		}
	}
}

func BenchmarkBase_journal(b *testing.B) {
	for _, n := range []int{1000, 100000, 367918} {
		for _, what := range []string{"deliver", "flag", "expunge"} {
			b.Run(fmt.Sprintf("op=%s/msgs=%d_msgs", what, n), func(b *testing.B) {
				s, base, c := journaled(b, n)
				happen(s, s.Keys(), 0, "flag")
				if _, err := base.Sync(s); err != nil { // loads the table
					b.Fatal(err)
				}
				keys, before, i := s.Keys(), c.Counts(), 0
				for b.Loop() {
					if happen(s, keys, i%len(keys), what); what == "expunge" && i == len(keys)-1 {
						b.Fatal("nothing is left")
					}
					if _, err := base.Sync(s); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(float64(c.Counts().Sub(before).BytesWritten)/float64(i), "written-B/op")
			})
		}
	}
}
