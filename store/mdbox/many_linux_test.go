package mdbox

import (
	"path/filepath"
	"syscall"
	"testing"

	"mailbench/internal/fsys"
)

// TestAppend_manyFiles: one append fills more files than may be open.
func TestAppend_manyFiles(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	few := limit
	few.Cur = 200
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	dir := filepath.Join(t.TempDir(), "mail")
	s := openIn(t, dir, quick, map[string]string{"rotate": "500"})
	fill(t, s, 0, 1)
	if _, err := s.Append(messages(400)); err != nil {
		t.Fatal(err)
	}
	if _, files := size(t, s); files < 300 {
		t.Errorf("%d files: this test cannot fail", files)
	}
	if got := checks(s); len(got) > 0 {
		t.Errorf("Check: %q", got)
	}
	s.Close()
	// Nor does one that fails at its end leave any of them.
	_, had := size(t, s)
	fails := false
	failing := fsys.Failing(quick, func(op fsys.Op, name string, _ int64, _ int) error {
		if fails && op == fsys.OpSyncDir {
			return syscall.EIO
		}
		return nil
	})
	s = openIn(t, dir, failing, map[string]string{"rotate": "500"})
	fails = true
	if _, err := s.Append(messages(400)); err == nil {
		t.Error("the directory was not synced, and it is no error")
	}
	fails = false
	if _, files := size(t, s); files != had {
		t.Errorf("%d files, before %d", files, had)
	}
	if s.cat.Len() != 401 {
		t.Errorf("%d messages", s.cat.Len())
	}
	s.Close()
}
