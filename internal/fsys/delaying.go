package fsys

import (
	"sync"
	"time"
)

// Delaying makes under as slow as a device that answers each call after
// latency and moves bytesPerSecond (0 = no limit), one transfer at a time; the
// latencies of concurrent calls overlap. Close costs nothing. A Map is charged
// as a transfer of the whole file: its page faults cannot be slowed one by one.
func Delaying(under FS, latency time.Duration, bytesPerSecond float64) FS {
	d := &device{latency: latency, rate: bytesPerSecond}
	return &hooked{under: under, before: d.wait}
}

type device struct {
	latency time.Duration
	rate    float64

	mu   sync.Mutex
	free time.Time // when the transfers accepted so far are done
}

func (d *device) wait(op Op, _ string, _ int64, n int) error {
	ready := time.Now()
	if d.rate > 0 && n > 0 {
		d.mu.Lock()
		if d.free.Before(ready) {
			d.free = ready
		}
		d.free = d.free.Add(time.Duration(float64(n) / d.rate * float64(time.Second)))
		ready = d.free
		d.mu.Unlock()
	}
	time.Sleep(time.Until(ready.Add(d.latency)))
	return nil
}
