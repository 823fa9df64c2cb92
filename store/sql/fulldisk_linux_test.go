package sqlstore

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// TestFullDisk: on a disk without space a mailbox is opened and read; what is
// written is an error, and it goes on when there is space.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH)
	dir := filepath.Join(disk, "mail")
	keys := appended(t, dir)
	if err := os.Remove(filepath.Join(dir, madeFile)); err != nil { // as one of before
		t.Fatal(err)
	}
	fill := filepath.Join(disk, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	n, full := int64(0), error(nil)
	for block := bytes.Repeat([]byte{1}, 4096); full == nil; {
		var m int
		m, full = f.Write(block)
		n += int64(m)
	}
	for left := int64(0); left <= 40<<10; left += 4096 { // with and without space for shared memory
		if err := f.Truncate(n - left); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(Format, store.Config{Dir: dir, NoSync: true})
		if err != nil {
			t.Errorf("%d bytes free: %v", left, err)
			continue
		}
		var l index.Listing
		if err := s.Source().List(&l); err != nil || len(l.Entries) != len(keys) {
			t.Errorf("%d messages, %v", len(l.Entries), err)
		}
		if b, err := s.Source().ReadMessage(&l.Entries[0], nil); err != nil || len(b) == 0 {
			t.Errorf("read: %d bytes, %v", len(b), err)
		}
		if _, err := s.Append([]store.Message{{Body: bytes.Repeat([]byte("mail\n"), 1<<20)}}); err == nil {
			t.Error("appended 5 MB to a full disk")
		}
		s.Close()
	}
	f.Close()
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	appended(t, dir)
}
