package linked

import (
	"fmt"
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	"mailbench/internal/fsys"
)

func journaled(t testing.TB, n int) (*indextest.Shelf, index.Mailbox, *fsys.Counter) {
	s := indextest.NewShelf()
	for i := range n {
		s.Deliver("Subject: x\n\n", int64(i), 0, 0)
	}
	c := fsys.Counting(fsys.Unsynced(fsys.OS))
	box, err := Design.Open(index.Config{Dir: t.TempDir(), FS: c, Source: s})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Sync(); err != nil {
		t.Fatal(err)
	}
	return s, box, c
}

func happen(s *indextest.Shelf, keys []string, i int, what string) {
	switch what {
	case "deliver":
		s.Deliver("Subject: x\n\n", int64(i), 0, 0)
	case "flag":
		s.SetFlags(keys[i*7919%len(keys)], index.FlagSeen<<(i%2), 0)
	case "expunge":
		s.Expunge(keys[len(keys)-1-i])
	}
}

// What an open handle writes and lists for one change does not depend on the
// size of the mailbox.
func TestSync_journalCosts(t *testing.T) {
	for _, what := range []string{"deliver", "flag", "expunge"} {
		var wrote [2]int64
		for k, n := range []int{300, 20000} {
			s, box, c := journaled(t, n)
			keys := s.Keys()
			lists, before := s.Lists, c.Counts()
			for i := range 50 {
				happen(s, keys, i, what)
				ch, err := box.Sync()
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
			i, want := 0, s.Keys()
			err := box.Messages(func(m index.Message) bool {
				if i < len(want) && m.Key != want[i] {
					t.Fatalf("%s: message %d is %q, want %q", what, i, m.Key, want[i])
				}
				i++
				return true
			})
			if st := box.Status(); err != nil || i != len(want) || st.Messages != i {
				t.Fatalf("%s: %d messages, want %d, status %+v, %v", what, i, len(want), st, err)
			}
			for err := range box.Check() {
				t.Error(err)
			}
		}
		if wrote[1] > wrote[0]+50*8 { // numbers in the uidlist
			t.Errorf("%s: %d bytes of 300 messages, %d of 20,000", what, wrote[0], wrote[1])
		}
	}
}

func BenchmarkSync_journal(b *testing.B) {
	for _, n := range []int{1000, 100000, 367918} {
		for _, what := range []string{"deliver", "flag", "expunge"} {
			b.Run(fmt.Sprintf("op=%s/msgs=%d_msgs", what, n), func(b *testing.B) {
				s, box, c := journaled(b, n)
				keys := s.Keys()
				happen(s, keys, 0, "flag")
				if _, err := box.Sync(); err != nil { // loads the table
					b.Fatal(err)
				}
				before, i := c.Counts(), 0
				for b.Loop() {
					happen(s, keys, i, what)
					if _, err := box.Sync(); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(float64(c.Counts().Sub(before).BytesWritten)/float64(i), "written-B/op")
			})
		}
	}
}

// Of 500 messages that get the same flag those without a gap between their UIDs
// are one range, as in the logs of the original: 1,120 bytes there when every
// seventh message had been expunged.
func TestSync_flagRanges(t *testing.T) {
	s, box, c := journaled(t, 1000)
	for i, k := range s.Keys() {
		if i%7 == 3 {
			s.Expunge(k)
		}
	}
	if _, err := box.Sync(); err != nil {
		t.Fatal(err)
	}
	before := c.Counts()
	for _, k := range s.Keys()[200:700] {
		s.SetFlags(k, index.FlagFlagged, 0)
	}
	if ch, err := box.Sync(); err != nil || ch.Flagged != 500 {
		t.Fatal(ch, err)
	}
	const original = 1120
	n := c.Counts().Sub(before).BytesWritten
	if t.Logf("%d bytes", n); n < original*3/4 || n > original*5/4 {
		t.Errorf("%d bytes written, the original wrote %d", n, original)
	}
}
