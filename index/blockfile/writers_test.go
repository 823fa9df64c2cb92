package blockfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mailbench/internal/fsys"
)

// Several writers make the same file at once: each time it is read it is one
// writer's, whole, and nobody fails because another one was there.
func TestCreateByManyWriters(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	const writers, rounds = 8, 20
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 100+i*300_000) }
	done := make(chan error, writers)
	for i := range writers {
		go func() {
			var err error
			for range rounds {
				if err == nil {
					err = Create(fsys.OS, name, Header{Kind: "test"}, func(w *Writer) error { return w.Raw("a", 1, content(i)) })
				}
			}
			done <- err
		}()
	}
	reads := 0
	for left := writers; left > 0; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			left--
		default:
			r, err := Open(fsys.OS, name)
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := r.Segment(0).Section("a").ReadAll(nil)
			if err != nil || len(b) == 0 || !bytes.Equal(b, content(int(b[0]))) {
				t.Fatalf("%d bytes of no writer, %v", len(b), err)
			}
			r.Close()
			reads++
		}
	}
	t.Logf("%d reads", reads)
	if names, err := fsys.OS.ReadDir(filepath.Dir(name)); err != nil || len(names) != 1 {
		t.Errorf("left: %q %v", names, err)
	}
}

// What a killed writer left goes with a later write, what may be in use stays.
func TestCreateRemovesOldTemporaries(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	old, young := fsys.TempName(name), fsys.TempName(name)
	for _, n := range []string{old, young} {
		if err := os.WriteFile(n, []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(old, at, at); err != nil {
		t.Fatal(err)
	}
	if err := Create(fsys.OS, name, Header{Kind: "test"}, func(w *Writer) error { return w.Raw("a", 1, []byte("x")) }); err != nil {
		t.Fatal(err)
	}
	names, err := fsys.OS.ReadDir(dir)
	if err != nil || len(names) != 2 || names[1] != filepath.Base(young) {
		t.Errorf("left: %q %v", names, err)
	}
}
