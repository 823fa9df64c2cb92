//go:build linux

package fsys

import (
	"errors"
	"testing"
)

// Two may share a directory; one that wants it alone is told, and gets it when
// they have left.
func TestTryLockDir(t *testing.T) {
	dir := t.TempDir()
	lock := func(shared bool) func() {
		t.Helper()
		unlock, err := TryLockDir(dir, shared)
		if err != nil {
			t.Fatal(err)
		}
		return unlock
	}
	a, b := lock(true), lock(true)
	if _, err := TryLockDir(dir, false); !errors.Is(err, ErrLocked) {
		t.Fatalf("error %v, want ErrLocked", err)
	}
	a()
	b()
	c := lock(false)
	if _, err := TryLockDir(dir, true); !errors.Is(err, ErrLocked) {
		t.Fatalf("error %v, want ErrLocked", err)
	}
	c()
	lock(true)()
}
