package maildir

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"mailbench/internal/fsys"
)

// Mail of another owner may be read, but not with O_NOATIME.
func TestForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can play somebody else")
	}
	dir := mailbox(t, "cur/1.a:2,S", "new/2.b")
	for _, path := range []string{filepath.Dir(dir), dir, dir + "/cur", dir + "/new", dir + "/tmp", dir + "/cur/1.a:2,S", dir + "/new/2.b"} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// The user for file access is a property of the thread, and leaving 0
	// takes the capability with it that O_NOATIME would be allowed by.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer unix.Setfsuid(0)
	if _, err := os.Stat(filepath.Join(dir, "cur", "1.a:2,S")); err != nil {
		t.Skipf("the scratch directory is closed to others: %v", err)
	}
	if fd, err := unix.Open(filepath.Join(dir, "cur"), unix.O_RDONLY|unix.O_NOATIME, 0); err == nil {
		unix.Close(fd)
		t.Skip("this file system lets everybody ask for O_NOATIME")
	}
	var s Scan
	if err := s.Read(dir, Options{}); err != nil || len(s.Entries) != 2 {
		t.Fatalf("%d entries, %v", len(s.Entries), err)
	}
	r := opened(t, dir)
	for i := range s.Entries {
		for range 2 {
			if h, err := r.ReadHeader(&s.Entries[i], nil); err != nil || len(h) == 0 {
				t.Errorf("%q, %v", h, err)
			}
		}
	}
	if !r.dirs.plain.Load() {
		t.Error("the refusal was not remembered")
	}
	if f, err := fsys.OS.Open(filepath.Join(dir, "new", "2.b")); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if _, err := fsys.OS.ReadDir(dir); err != nil {
		t.Error(err)
	}
}
