//go:build linux

package suite

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpus_linkToReadOnly holds that rows that change the mailbox run on a
// maildir that is given as a link to it and that nobody may write to, and that
// their clone goes again.
func TestCorpus_linkToReadOnly(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	mail, link := userMaildir(t, dir), filepath.Join(dir, "link")
	if err := os.Symlink("Mail", link); err != nil {
		t.Fatal(err)
	}
	modes := func(mode fs.FileMode) {
		filepath.WalkDir(mail, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		})
	}
	modes(0o555)
	defer modes(0o755)
	got := benchmark(t, dir, "Resync/design=column/delta=deliver|ThreadFirst/design=column/", "-corpus="+link, "-designs=column")
	if n := len(lines(got.out, "BenchmarkResync/design=column/delta=deliver")); got.code != 0 || n != 1 || strings.Contains(got.out, "FAIL") {
		t.Errorf("exit code %d, %d rows:\n%s%s", got.code, n, got.out, got.errs)
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
