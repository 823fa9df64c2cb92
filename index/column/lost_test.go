package column

import (
	"strings"
	"syscall"
	"testing"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// A cache that could not be written is told of by Check until one is: not only
// until the next query, which has other files to answer from.
func TestCheck_cacheNotWritten(t *testing.T) {
	for _, file := range []string{CacheFile, AnswersFile} {
		r, _ := seeded(t)
		f := newFake()
		for range 20 {
			f.add(randomMail(r))
		}
		full := true
		fsy := fsys.Failing(fast, func(op fsys.Op, name string, off int64, n int) error {
			if full && op == fsys.OpWrite && strings.Contains(name, file) {
				return syscall.ENOSPC
			}
			return nil
		})
		mb := openBox(t, t.TempDir(), fsy, f, index.Options{})
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := verify(mb, f, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := check(mb); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s could not be written, check says %v", file, err)
		}
		full = false
		if err := mb.Compact(); err != nil && !strings.Contains(err.Error(), "no index") {
			t.Fatal(err)
		}
		f.add(randomMail(r))
		if _, err := mb.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := verify(mb, f, r); err != nil {
			t.Fatal(err)
		}
		if err := check(mb); err != nil {
			t.Errorf("%s is written now, check says %v", file, err)
		}
		mb.Close()
	}
}
