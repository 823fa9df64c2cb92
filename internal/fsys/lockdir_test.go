//go:build linux

package fsys

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	var inside atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				unlock, err := LockDir(dir)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				inside.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if _, err := LockDir(dir + "/missing"); err == nil {
		t.Error("locked what is not there")
	}
}
