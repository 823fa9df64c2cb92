package floor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func maildir(t *testing.T, n int, header int) string {
	t.Helper()
	root := t.TempDir()
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mail := "Subject: " + strings.Repeat("x", header-11) + "\n\nbody\n"
	for i := range n {
		dir := [...]string{"cur", "cur", "new"}[i%3]
		if err := os.WriteFile(filepath.Join(root, dir, fmt.Sprintf("%d.M1P1.h", 1000+i)), []byte(mail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestDir_doesTheWork holds that a floor does what it is the floor of: every
// name seen, every header read to its end.
func TestDir_doesTheWork(t *testing.T) {
	for _, c := range []struct{ n, header int }{{0, 100}, {7, 100}, {300, 4000}, {300, 8192}, {50, 20_000}} {
		d := Maildir(maildir(t, c.n, c.header))
		for range 2 { // buffers are used again
			if _, err := d.ReadDir(); err != nil {
				t.Fatal(err)
			}
			if d.Len() != c.n {
				t.Fatalf("%d names, want %d", d.Len(), c.n)
			}
			if _, err := d.Names(); err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(d.keys) || len(d.keys) != c.n {
				t.Fatal("names are not sorted")
			}
			list, err := d.ReadDir()
			if err != nil {
				t.Fatal(err)
			}
			if bare, err := d.List(); err != nil || bare != list || d.Len() != c.n {
				t.Fatalf("List did %+v, ReadDir %+v: %v", bare, list, err)
			}
			w, err := d.Headers(2)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := w.Bytes-list.Bytes, int64(c.n*c.header); got < want {
				t.Fatalf("%d files with headers of %d bytes: read %d bytes, want at least %d", c.n, c.header, got, want)
			}
		}
	}
}

// TestDir_passesOverOddThings holds that what is no mail neither counts nor
// stops a floor: a pipe without a writer would hold it for ever.
func TestDir_passesOverOddThings(t *testing.T) {
	root := maildir(t, 6, 500)
	cur := filepath.Join(root, "cur")
	for _, err := range []error{
		os.Mkdir(filepath.Join(cur, "1.dir"), 0o755),
		unix.Mkfifo(filepath.Join(cur, "2.pipe"), 0o644),
		os.Symlink("/nonexistent", filepath.Join(cur, "3.dangling")),
		os.Symlink("4.loop", filepath.Join(cur, "4.loop")),
		os.Symlink("2.pipe", filepath.Join(cur, "5.linkedpipe")),
		os.Symlink("1.dir", filepath.Join(cur, "6.linkeddir")),
		os.WriteFile(filepath.Join(cur, ":2,S"), nil, 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d := Maildir(root)
	if _, err := d.Headers(2); err != nil {
		t.Fatal(err)
	}
	if d.Len() != 6+4 { // links are only told apart by opening them
		t.Errorf("%d names, want 6 and 4 links", d.Len())
	}
}
