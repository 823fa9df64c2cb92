package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a tmpfs of some KiB, or skips.
func smallDisk(t *testing.T, options string) string {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a small disk needs mount(2): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "size=4m")
	_, err := WriteMaildir(t.Context(), filepath.Join(dir, "mail"), Spec{Messages: 3000}, nil)
	if !errors.Is(err, ErrNoSpace) || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "of 3000 messages") {
		t.Errorf("maildir: %v", err)
	}
	t.Log(err)
	if err := os.RemoveAll(filepath.Join(dir, "mail")); err != nil {
		t.Fatal(err)
	}
	_, err = WriteMbox(t.Context(), filepath.Join(dir, "mbox"), Spec{Messages: 3000}, nil)
	if !errors.Is(err, ErrNoSpace) {
		t.Errorf("mbox: %v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
	for _, format := range []string{"maildir", "mbox"} {
		_, err = Cached(t.Context(), dir, Spec{Messages: 3000}, format, nil)
		if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "are free") {
			t.Errorf("fixture %s: %v", format, err)
		}
		t.Log(err)
	}
}

func TestFullDisk_inodes(t *testing.T) {
	dir := smallDisk(t, "size=200m,nr_inodes=100")
	_, err := Cached(t.Context(), dir, Spec{Messages: 3000}, "maildir", nil)
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "inodes") {
		t.Errorf("fixture: %v", err)
	}
	_, err = WriteMaildir(t.Context(), filepath.Join(dir, "mail"), Spec{Messages: 3000}, nil)
	if !errors.Is(err, ErrNoSpace) {
		t.Errorf("maildir: %v", err)
	}
}
