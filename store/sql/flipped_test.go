package sqlstore

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// TestFlipped: of an SQLite file with a changed byte no message is read that was
// not appended, and nothing panics. SQLite has no checksums: flags may change,
// and rows may be missed, without a word. How often is logged.
func TestFlipped(t *testing.T) {
	cfg := store.Config{Dir: t.TempDir(), NoSync: true}
	s := mustOpen(t, cfg)
	want := map[string]string{}
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	for range 4 {
		group := letters(r, 5)
		keys, err := s.Append(group)
		if err != nil {
			t.Fatal(err)
		}
		for i, key := range keys {
			want[key] = string(group[i].Body)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(cfg.Dir); err != nil || len(names) != 2 { // and madeFile
		t.Fatalf("a closed store leaves %v, %v", names, err)
	}
	good, err := os.ReadFile(filepath.Join(cfg.Dir, database))
	if err != nil {
		t.Fatal(err)
	}
	right, told, quiet := 0, 0, 0
	for range 150 {
		at := r.IntN(len(good))
		bad := append([]byte(nil), good...)
		bad[at] ^= 1 << r.IntN(8)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, database), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(Format, store.Config{Dir: dir, NoSync: true})
		if err != nil {
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("byte %d: the error does not say of what: %v", at, err)
			}
			told++
			continue
		}
		var l index.Listing
		src := s.Source()
		if err := src.List(&l); err != nil {
			t.Fatal(err)
		}
		failed := false
		for i := range l.Entries {
			b, err := src.ReadMessage(&l.Entries[i], nil)
			if failed = failed || err != nil; err == nil && want[l.Entries[i].Key] != string(b) && len(b) > 0 {
				if _, known := want[l.Entries[i].Key]; known {
					t.Fatalf("byte %d: message %s is another one", at, l.Entries[i].Key)
				}
			}
		}
		switch {
		case failed:
			told++
		case len(l.Entries) == len(want):
			right++
		default:
			quiet++
		}
		s.Close()
	}
	t.Logf("%d right, %d told, %d with messages missed quietly", right, told, quiet)
}
