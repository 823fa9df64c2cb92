package temp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// diskDir makes a directory on a file system with a device below it: the
// test's own folder, because the temporary directory is often tmpfs.
func diskDir(t *testing.T) string {
	t.Helper()
	for _, base := range []string{"testdata", os.TempDir()} {
		if Missing(base) != "" {
			continue
		}
		if err := os.MkdirAll(base, 0o755); err != nil {
			continue
		}
		dir, err := os.MkdirTemp(base, "tmp-")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			os.RemoveAll(dir)
			os.Remove("testdata")
		})
		return dir
	}
	t.Skip("no directory on a file system whose residency the kernel tells")
	return ""
}

func writeFiles(t *testing.T, dir string, n, size int) *Set {
	t.Helper()
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("%04d", i))
		if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != n || s.Bytes() != int64(n*size) {
		t.Fatalf("set of %d files, %d bytes; want %d, %d", s.Len(), s.Bytes(), n, n*size)
	}
	return s
}

func TestMake_statesAreWhatTheySay(t *testing.T) {
	s := writeFiles(t, diskDir(t), 40, 20_000)
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		if _, err := s.Make(NoData, r); err != nil {
			t.Fatal(err)
		}
		res, err := s.Residency(0, r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Files != 40 || res.Pages != 40*5 || res.Resident != 0 {
			t.Fatalf("after NoData: %+v, want 40 files, 200 pages, none resident", res)
		}
		before, err := ProcessIO()
		if err != nil {
			t.Skip("no device counters: ", err)
		}
		if err := s.Warm(); err != nil {
			t.Fatal(err)
		}
		now, _ := ProcessIO()
		if got := now.Sub(before).Read; got < 40*20_000 {
			t.Fatalf("reading evicted files fetched %d bytes from the device, want at least %d", got, 40*20_000)
		}
		if share, err := s.Make(Warm, r); err != nil || share != 1 {
			t.Fatal(share, err)
		}
		if res, _ = s.Residency(0, r); res.Share() != 1 {
			t.Fatalf("after Warm: share %v", res.Share())
		}
	}
}

func TestAfter_missesAreFound(t *testing.T) {
	s := writeFiles(t, diskDir(t), 10, 4096)
	r := rand.New(rand.NewPCG(3, 4))
	var miss *Miss
	if _, err := s.Make(NoData, r); err != nil {
		t.Fatal(err)
	}
	if err := s.After(NoData, 0, 40960, r); !errors.As(err, &miss) {
		t.Errorf("an operation that must read 40960 bytes and read none: %v, want a miss", err)
	}
	if err := s.After(NoData, 0, 0, r); err != nil {
		t.Errorf("an operation that reads no mail: %v", err)
	}
	if err := s.After(Warm, 0, 0, r); !errors.As(err, &miss) {
		t.Errorf("evicted files passed as warm: %v", err)
	}
	if err := s.Warm(); err != nil {
		t.Fatal(err)
	}
	if err := s.After(Warm, 0, 0, r); err != nil {
		t.Errorf("warm files: %v", err)
	}
	if err := s.After(Warm, 10<<20, 0, r); !errors.As(err, &miss) {
		t.Errorf("10 MiB from the device in a warm sample: %v, want a miss", err)
	}
	if err := s.After(NoData, 0, 0, r); !errors.As(err, &miss) {
		t.Errorf("canaries are resident after a sample without data: %v, want a miss", err)
	}
}

func TestUnfit_saysWhy(t *testing.T) {
	dir := diskDir(t)
	s := writeFiles(t, dir, 1, 10)
	if why := s.Unfit(NoData, TotalMemory(), false); why != "" {
		t.Errorf("nodata on %s: %s", dir, why)
	}
	if why := s.Unfit(Cold, TotalMemory(), false); !strings.Contains(why, "-drop-caches") {
		t.Errorf("cold without permission: %q", why)
	}
	if why := s.Unfit(Warm, 100, false); why != "" {
		t.Errorf("10 bytes in a memory of 100: %s", why)
	}
	if why := s.Unfit(Warm, 10, false); !strings.Contains(why, "memory") {
		t.Errorf("a corpus larger than memory: %q", why)
	}
	if m, err := Mount("/dev/shm"); err == nil && m.Memory() {
		shm, err := os.MkdirTemp("/dev/shm", "mailbench-")
		if err != nil {
			t.Skip("no writable tmpfs: ", err)
		}
		defer os.RemoveAll(shm)
		s := writeFiles(t, shm, 2, 5000)
		for _, st := range []State{NoData, Cold} {
			if why := s.Unfit(st, TotalMemory(), true); !strings.Contains(why, "tmpfs") {
				t.Errorf("%v on tmpfs: %q, want a reason that names it", st, why)
			}
		}
	}
}

func TestSample_withoutReplacement(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ n, k, want int }{{0, 5, 0}, {5, 0, 5}, {5, 9, 5}, {100, 7, 7}, {100, 99, 99}} {
		seen := map[int]bool{}
		got := sample(c.n, c.k, r)
		for _, i := range got {
			if i < 0 || i >= c.n || seen[i] {
				t.Fatalf("sample(%d, %d): %v", c.n, c.k, got)
			}
			seen[i] = true
		}
		if len(got) != c.want {
			t.Errorf("sample(%d, %d) drew %d, want %d", c.n, c.k, len(got), c.want)
		}
	}
}

func TestDeviceLatency_leavesNothing(t *testing.T) {
	dir := diskDir(t)
	lat, err := DeviceLatency(dir)
	if err != nil || lat <= 0 {
		t.Fatalf("%v, %v", lat, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Fatalf("left behind: %v, %v", left, err)
	}
	if _, err := DeviceLatency("/dev/shm"); err == nil {
		if m, merr := Mount("/dev/shm"); merr == nil && m.Memory() {
			t.Fatal("a device latency of tmpfs")
		}
	}
}
