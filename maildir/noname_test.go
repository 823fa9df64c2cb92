package maildir

import (
	"errors"
	"slices"
	"testing"
)

// A name with nothing before the separator is no message's: it is told, and
// neither listed nor moved.
func TestScan_noName(t *testing.T) {
	dir := mailbox(t, "cur/1.a:2,S", "cur/:2,S", "cur/::", "new/:", "new/2.b")
	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if got := listed(&s); !slices.Equal(got, []string{"cur/1.a:2,S", "new/2.b"}) || s.Digest.N != 2 {
		t.Errorf("%q, %d names", got, s.Digest.N)
	}
	if len(s.Skipped) != 3 {
		t.Errorf("skipped %v", s.Skipped)
	}
	for _, p := range s.Skipped {
		if !errors.Is(p, ErrNoName) {
			t.Errorf("%v", p)
		}
	}
	if err := s.Read(dir, Options{Separator: '!'}); err != nil || len(s.Entries) != 5 {
		t.Errorf("with another separator %d entries, %v", len(s.Entries), err)
	}
	if n, err := MoveNew(dir, Options{}); n != 1 || err != nil {
		t.Errorf("moved %d, %v", n, err)
	}
}
