//go:build unix

package meter

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mailbench/internal/temp"
)

// TestCalibration computes, allocates, writes and reads known amounts and
// holds the meters to 5%. Times are held one-sided: a shared machine can only
// make them longer on the wall, never the CPU time longer than the wall of one
// busy goroutine.
func TestCalibration(t *testing.T) {
	var m Meter
	m.Start()
	spin(50 * time.Millisecond)
	s := m.Stop()
	if s.Wall < 50*time.Millisecond {
		t.Errorf("50 ms of work took %v on the wall", s.Wall)
	}
	if s.CPU() <= 0 {
		t.Errorf("50 ms of work used %v of CPU", s.CPU())
	}

	const n, size = 10_000, 64
	keep := make([][]byte, n)
	m.Start()
	for i := range keep {
		keep[i] = make([]byte, size)
	}
	s = m.Stop()
	within(t, "allocations", int64(s.Allocs), n)
	within(t, "allocated bytes", int64(s.Bytes), n*size)

	if !s.IOKnown {
		t.Skip("no device counters in /proc/self/io")
	}
	dir := "testdata"
	if why := temp.Missing("."); why != "" {
		t.Skip("device counters need a device: ", why)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	name := filepath.Join(dir, "known")
	data := make([]byte, 32<<20)
	m.Start()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	s = m.Stop()
	within(t, "dirtied bytes", s.Dirtied, int64(len(data)))

	set, err := temp.Files(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Evict(); err != nil {
		t.Fatal(err)
	}
	m.Start()
	if _, err := os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	s = m.Stop()
	within(t, "device reads", s.Read, int64(len(data)))
	m.Start()
	if _, err := os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	if s = m.Stop(); s.Read > int64(len(data))/20 {
		t.Errorf("reading a warm file fetched %d bytes from the device", s.Read)
	}
}

func TestReadMemory(t *testing.T) {
	before := ReadMemory()
	if before.Peak == 0 {
		t.Skip("no /proc/self/status")
	}
	// Not on the heap, whose pages may be there already, or twice under the
	// race detector.
	block, err := unix.Mmap(-1, 0, 64<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(block)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	after := ReadMemory()
	within(t, "anonymous growth", after.Anonymous-before.Anonymous, int64(len(block)))
}

// TestWatch holds that a peak is seen which is gone when the watch ends, and
// that a map counts as file-backed.
func TestWatch(t *testing.T) {
	before := ReadMemory()
	if before.Peak == 0 {
		t.Skip("no /proc/self/status")
	}
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	info, err := exe.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stop := Watch(time.Millisecond)
	const size = 64 << 20
	hold := func(fd, prot, flags, size int) {
		m, err := unix.Mmap(fd, 0, size, prot, flags)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for i := 0; i < len(m); i += 4096 {
			if prot&unix.PROT_WRITE != 0 {
				m[i] = 1
			}
			sum += int(m[i])
		}
		time.Sleep(100 * time.Millisecond)
		if err := unix.Munmap(m); err != nil || sum < 0 {
			t.Fatal(err)
		}
	}
	hold(-1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, size)
	hold(int(exe.Fd()), unix.PROT_READ, unix.MAP_SHARED, int(info.Size()))
	peak := stop()
	within(t, "anonymous peak", peak.Anonymous-before.Anonymous, size)
	if got := peak.File - before.File; got < info.Size()*95/100 {
		t.Errorf("a map of %d bytes shows as %d", info.Size(), got)
	}
	if now := ReadMemory(); now.Anonymous > peak.Anonymous-size/2 {
		t.Errorf("%d bytes are still there", now.Anonymous)
	}
}

func within(t *testing.T, what string, got, want int64) {
	t.Helper()
	if d := got - want; d > want/20 || d < -want/20 {
		t.Errorf("%s: measured %d, did %d: more than 5%% off", what, got, want)
	}
}

func spin(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}
