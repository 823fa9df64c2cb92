package oracle

import (
	"strings"
	"testing"
)

// withoutMemory is steps (3) to (5) with a look for a leader in each round.
func withoutMemory(s string, leader, blob func(string) (string, bool)) (string, bool) {
	reply := false
	for {
		before := s
		s = strings.TrimPrefix(s, " ") // blanks are packed
		if rest, ok := leader(s); ok {
			s, reply = rest, true
		}
		if rest, ok := blob(s); ok && rest != "" {
			s = rest
		}
		if s == before {
			return s, reply
		}
	}
}

// TestBaseSubject_looksOnce holds that no leader is missed by not looking for
// one where a look has been that ended at the same place.
func TestBaseSubject_looksOnce(t *testing.T) {
	rng := random(t)
	parts := []string{"[A]", "[B] ", "[", "]", " ", "RE", "RE:", "FWD [C] :", "FW ", ":", "X", "[]"}
	found := 0
	for range 50_000 {
		var in strings.Builder
		for range rng.IntN(12) {
			in.WriteString(parts[rng.IntN(len(parts))])
		}
		s := strings.TrimRight(in.String(), " ")
		if !strings.HasPrefix(s, "[FWD:") {
			packed := packSpace(s)
			want, reply := withoutMemory(packed, cutLeader, cutBlob)
			if got, gotReply := baseSubject(s); got != want || gotReply != reply {
				t.Fatalf("%q: %q %v, want %q %v", s, got, gotReply, want, reply)
			}
			if reply {
				found++
			}
		}
		s = packDovecot(strings.TrimLeft(s, " "))
		want, reply := withoutMemory(s, cutLeaderDovecot, cutBlobDovecot)
		if got, gotReply := baseDovecot(s); got != want || gotReply != reply {
			t.Fatalf("compat, %q: %q %v, want %q %v", s, got, gotReply, want, reply)
		}
	}
	if found < 1000 {
		t.Errorf("%d leaders in all", found)
	}
}

// TestBaseSubject_manyBlobs ends within the test's time only if a subject of a
// million blobs takes a million steps and not the square of it.
func TestBaseSubject_manyBlobs(t *testing.T) {
	blobs := strings.Repeat("[a] ", 1_000_000)
	for _, c := range []struct {
		in, want string
		reply    bool
	}{
		{blobs + "x", "x", false},
		{blobs + "re [x", "re [x", false},
		{blobs + "re: " + blobs + "x", "x", true},
		{blobs, "[a]", false},
	} {
		if got, reply := baseSubject(c.in); got != c.want || reply != c.reply {
			t.Errorf("%d bytes: %d bytes left, %v; want %q, %v", len(c.in), len(got), reply, c.want, c.reply)
		}
		if got, reply := baseDovecot(c.in); !strings.EqualFold(got, c.want) || reply != c.reply {
			t.Errorf("compat, %d bytes: %d bytes left, %v; want %q, %v", len(c.in), len(got), reply, c.want, c.reply)
		}
	}
}
