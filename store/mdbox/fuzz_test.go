package mdbox

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// whole is a file of three messages.
func whole(t testing.TB) []byte {
	t.Helper()
	s := openIn(t, filepath.Join(t.TempDir(), "mail"), quick, nil)
	defer s.Close()
	fill(t, s, 0, 3)
	b, err := os.ReadFile(s.path(1))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// goesOn makes a mailbox of a file alone, whatever it holds: it can be read, and
// goes on.
func goesOn(t testing.TB, b []byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mail")
	if err := os.MkdirAll(filepath.Join(dir, "storage"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "storage", "m.1"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openIn(t, dir, quick, nil)
	defer s.Close()
	had := s.cat.Len()
	if _, err := s.Append(messages(1)); err != nil && had == 0 { // an id may be the last that there is
		t.Fatal(err)
	}
	if err := s.Expunge([]string{"1", "2"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows(s) {
		if _, err := s.ReadMessage(r, nil); err != nil {
			t.Fatal(err)
		}
	}
}

var seed = flag.Lookup("seed") // of the store kit

// TestRemake_anything: a file that was changed in a few places, cut, or has parts
// of itself in its middle.
func TestRemake_anything(t *testing.T) {
	n := rand.Uint64()
	if get, ok := seed.Value.(flag.Getter); ok && get.Get().(uint64) != 0 {
		n = get.Get().(uint64)
	}
	t.Logf("replay with -seed=%d", n)
	r := rand.New(rand.NewPCG(n, 0))
	good := whole(t)
	for range 200 {
		b := slices.Clone(good)
		for range 1 + r.IntN(3) {
			switch at := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[at] ^= byte(1 << r.IntN(8))
			case 1:
				b = b[:at+1]
			case 2:
				b = slices.Insert(b, at, slices.Clone(b[r.IntN(len(b)):])...)
			}
		}
		goesOn(t, b)
	}
}

func FuzzRemake(f *testing.F) {
	b := whole(f)
	f.Add(b)
	f.Add(b[:len(b)-20])
	f.Add(append(b[:100:100], b...))
	f.Fuzz(func(t *testing.T, b []byte) { goesOn(t, b) })
}
