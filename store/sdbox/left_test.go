package sdbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/internal/fsys"
	"mailbench/store"
)

func mustOpen(t *testing.T, dir string) store.Store {
	t.Helper()
	s, err := store.Open(Format, store.Config{Dir: dir, FS: fsys.Unsynced(fsys.OS)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t *testing.T, s store.Store, from, to int) (keys []string) {
	t.Helper()
	for i := from; i <= to; i++ {
		k, err := s.Append([]store.Message{{Body: fmt.Appendf(nil, "Subject: %d\n\nbody\n", i)}})
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k...)
	}
	return keys
}

// TestLeft: what is not in the list after a crash, or beside a list that is gone:
// torn files are removed, damaged ones set aside, foreign ones stay, and Check tells.
func TestLeft(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	add(t, s, 1, 5)
	whole, err := os.ReadFile(filepath.Join(dir, "u.5"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		gone        bool // the list
		names, told []string
		next        string
	}{
		{false, []string{"sdbox.list", "u.1", "u.10.left", "u.11", "u.12", "u.2", "u.3", "u.4", "u.5"}, []string{"u.11", "u.12"}, "13"},
		{true, []string{"sdbox.list", "u.1", "u.10.damaged", "u.11", "u.12", "u.2", "u.3", "u.4", "u.5", "u.6.damaged", "u.7.damaged", "u.8.damaged", "u.9.damaged"},
			[]string{"u.10.damaged", "u.11", "u.12", "u.6.damaged", "u.7.damaged", "u.8.damaged", "u.9.damaged"}, "13"},
	} {
		killed := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		damaged := slices.Clone(whole)
		damaged[len(damaged)/2] ^= 1
		for name, b := range map[string][]byte{"u.6": {}, "u.7": whole[:len(whole)-1], "u.8": make([]byte, 4096), "u.9": whole[:3],
			"u.10": damaged, "u.11": []byte("a diary\n")} {
			if err := os.WriteFile(filepath.Join(killed, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(killed, "u.12", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if c.gone {
			if err := os.Remove(filepath.Join(killed, "sdbox.list")); err != nil {
				t.Fatal(err)
			}
		}
		s := mustOpen(t, killed)
		es, err := os.ReadDir(killed)
		if err != nil {
			t.Fatal(err)
		}
		var names, told []string
		for _, e := range es {
			names = append(names, e.Name())
		}
		for err := range s.Check() {
			told = append(told, err.Error())
		}
		if !slices.Equal(names, c.names) {
			t.Errorf("list gone %v: there are %q, want %q", c.gone, names, c.names)
		}
		if !slices.EqualFunc(told, c.told, func(got, want string) bool { return strings.Contains(got, want+" ") }) {
			t.Errorf("list gone %v: Check tells %q, want %q", c.gone, told, c.told)
		}
		if err := s.Purge(); err != nil {
			t.Error(err)
		}
		if keys := add(t, s, 6, 6); keys[0] != c.next {
			t.Errorf("list gone %v: key %v, want %s", c.gone, keys, c.next)
		}
		if b, err := os.ReadFile(filepath.Join(killed, "u.11")); string(b) != "a diary\n" {
			t.Errorf("list gone %v: u.11 is %q, %v", c.gone, b, err)
		}
	}
}
