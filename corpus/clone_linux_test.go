package corpus

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestClone_passesOverOddThings holds that what is no mail does not stop a
// clone, and that a link to a mail is cloned as that mail.
func TestClone_passesOverOddThings(t *testing.T) {
	dir := t.TempDir()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(src, "cur"), 0o755),
		os.WriteFile(filepath.Join(src, "cur", "mail"), []byte("Subject: x\n\n"), 0o644),
		unix.Mkfifo(filepath.Join(src, "cur", "pipe"), 0o644),
		os.Symlink("/nonexistent", filepath.Join(src, "cur", "dangling")),
		os.Symlink("mail", filepath.Join(src, "cur", "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := Clone(t.Context(), src, dst, CloneAuto); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(filepath.Join(dst, "cur"))
	if err != nil || len(names) != 2 {
		t.Fatalf("%v, %v: want link and mail", names, err)
	}
	if b, err := os.ReadFile(filepath.Join(dst, "cur", "link")); err != nil || string(b) != "Subject: x\n\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestClone_readOnly holds that a clone of mail that may not be written to,
// given as a link to it, can be written to and removed.
func TestClone_readOnly(t *testing.T) {
	dir := t.TempDir()
	src, link, dst := filepath.Join(dir, "src"), filepath.Join(dir, "link"), filepath.Join(dir, "dst")
	cur := filepath.Join(src, "cur")
	t.Cleanup(func() { os.Chmod(src, 0o755); os.Chmod(cur, 0o755) })
	for _, err := range []error{
		os.MkdirAll(cur, 0o755),
		os.WriteFile(filepath.Join(cur, "mail"), []byte("Subject: x\n\n"), 0o444),
		os.Chmod(cur, 0o555),
		os.Chmod(src, 0o555),
		os.Symlink("src", link),
		Clone(t.Context(), link, dst, CloneAuto),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path string
		want os.FileMode
	}{{dst, 0o755}, {filepath.Join(dst, "cur"), 0o755}, {filepath.Join(dst, "cur", "mail"), 0o444}} {
		if info, err := os.Stat(c.path); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("%s: %v, %v, want %v", c.path, info, err, c.want)
		}
	}
	if err := os.RemoveAll(dst); err != nil {
		t.Error(err)
	}
}
