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
