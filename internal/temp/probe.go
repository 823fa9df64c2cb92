package temp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// DeviceLatency writes a file below dir, evicts it and reads single pages of
// it at random: the median says how fast the device answers when the kernel
// has nothing. A few microseconds mean that something below the kernel, a
// hypervisor or a controller, has the data in its memory. Cost: probeSize
// written, 64 pages read; nothing is left behind.
func DeviceLatency(dir string) (time.Duration, error) {
	if why := Missing(dir); why != "" {
		return 0, fmt.Errorf("temp: %s", why)
	}
	const (
		probeSize = 32 << 20
		page      = 4096
		reads     = 64
	)
	f, err := os.CreateTemp(dir, "probe-")
	if err != nil {
		return 0, fmt.Errorf("temp: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range block { // compressible data might not reach the device
		block[i] = byte(r.Uint32())
	}
	for range probeSize / len(block) {
		if _, err := f.Write(block); err != nil {
			return 0, fmt.Errorf("temp: %w", err)
		}
	}
	if err := f.Sync(); err != nil {
		return 0, fmt.Errorf("temp: %w", err)
	}
	if err := evict(f); err != nil {
		return 0, err
	}
	took := make([]time.Duration, 0, reads)
	for _, p := range r.Perm(probeSize / page)[:reads] {
		if err := noReadAhead(f); err != nil {
			return 0, err
		}
		begin := time.Now()
		if _, err := f.ReadAt(block[:page], int64(p)*page); err != nil {
			return 0, fmt.Errorf("temp: %w", err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took[reads/2], nil
}
