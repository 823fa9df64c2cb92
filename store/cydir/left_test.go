package cydir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/store"
)

func open(t *testing.T, dir string) (store.Store, error) {
	t.Helper()
	return store.Open(Format, store.Config{Dir: dir, FS: fsys.Unsynced(fsys.OS)})
}

func mustOpen(t *testing.T, dir string) store.Store {
	t.Helper()
	s, err := open(t, dir)
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

func checks(s store.Store) (out []string) {
	for err := range s.Check() {
		out = append(out, err.Error())
	}
	return out
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

// copyOf is a mailbox as a killed process left it.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestLeft_clean: a list cut to where it was once closed in order looks like one
// that was: no file is written over, and none removed.
func TestLeft_clean(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	add(t, s, 1, 2)
	s.Close()
	closed, err := os.ReadFile(filepath.Join(dir, "cydir.list"))
	if err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir)
	add(t, s, 3, 5)
	s.Close()
	if err := os.WriteFile(filepath.Join(dir, "cydir.list"), closed, 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir)
	if got := checks(s); len(got) != 3 || !strings.Contains(got[0], "3.") {
		t.Errorf("Check tells %q, want three files", got)
	}
	if err := s.Purge(); err != nil {
		t.Fatal(err)
	}
	if keys := add(t, s, 6, 7); !slices.Equal(keys, []string{"6", "7"}) {
		t.Errorf("keys %v", keys)
	}
	for i := 1; i <= 7; i++ {
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i, "."))); err != nil || !strings.HasPrefix(string(b), fmt.Sprintf("Subject: %d\n", i)) {
			t.Errorf("file %d: %q, %v", i, b, err)
		}
	}
}

// TestLeft_crash: after a crash a file that the list does not know is set aside,
// one that it took out is removed, and what is no file stays; keys are above all.
func TestLeft_crash(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	add(t, s, 1, 3)
	if err := s.Expunge([]string{"2"}); err != nil {
		t.Fatal(err)
	}
	dir = copyOf(t, dir)
	for _, name := range []string{"2.", "7.", "9..left", "9."} { // 2 as if its removal had not lasted
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "12.", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "14.")); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir)
	if keys := add(t, s, 10, 12); !slices.Equal(keys, []string{"10", "11", "15"}) {
		t.Errorf("keys %v", keys)
	}
	if got := checks(s); len(got) != 2 || !strings.Contains(got[0], "12.") || !strings.Contains(got[1], "14.") {
		t.Errorf("Check tells %q, want 12. and 14.", got)
	}
	want := []string{"1.", "10.", "11.", "12.", "14.", "15.", "3.", "7..left", "9..left", "9..left2", "cydir.list"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "9..left")); string(b) != "9..left" {
		t.Errorf("it was written over: %q, %v", b, err)
	}
}

// TestLeft_ghost: a row without a file is left by no crash.
func TestLeft_ghost(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir)
	add(t, s, 1, 3)
	dir = copyOf(t, dir)
	if err := os.Remove(filepath.Join(dir, "2.")); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	_, err := open(t, dir)
	var where *index.CorruptError
	if !errors.As(err, &where) || filepath.Base(where.File) != "cydir.list" || where.Off == 0 || !strings.Contains(where.What, "2.") {
		t.Errorf("opened: %v", err)
	}
	if got := names(t, dir); !slices.Equal(got, before) {
		t.Errorf("refused, and changed: %q, before %q", got, before)
	}
}
