package temp

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each runs fn on every path from a few goroutines and returns the first
// error. Preparation only: nothing here is ever timed.
func each(paths []string, fn func(path string, buf []byte) error) error {
	workers := min(4*runtime.GOMAXPROCS(0), max(1, len(paths)))
	var (
		next  atomic.Int64
		first error
		once  sync.Once
		wg    sync.WaitGroup
	)
	const batch = 64
	for range workers {
		wg.Go(func() {
			buf := make([]byte, 256<<10)
			for {
				lo := int(next.Add(batch)) - batch
				if lo >= len(paths) {
					return
				}
				for _, p := range paths[lo:min(lo+batch, len(paths))] {
					if err := fn(p, buf); err != nil {
						once.Do(func() { first = err })
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return first
}
