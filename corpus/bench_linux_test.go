package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func cpu() (user, system time.Duration) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// benchDir is on a real disk if MAILBENCH_SCRATCH names one.
func benchDir(b *testing.B) string {
	dir, err := os.MkdirTemp(os.Getenv("MAILBENCH_SCRATCH"), "mailbench-corpus-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) }) // scratch, and it may be large
	return dir
}

// bare is the loop that WriteMaildir is held against: as many files of the
// mean size, created, written and closed one after another.
func bare(dir string, messages int, size int64) error {
	if err := makeMaildir(dir); err != nil {
		return err
	}
	fd, err := unix.Open(filepath.Join(dir, "cur"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	data := make([]byte, size)
	for i := range messages {
		f, err := unix.Openat(fd, fmt.Sprintf("%d.M%dP1234.box,S=%d", epoch+i, i, size), unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
		if err != nil {
			return err
		}
		_, err = unix.Write(f, data)
		if err2 := unix.Close(f); err != nil || err2 != nil {
			return fmt.Errorf("%w %w", err, err2)
		}
	}
	return unix.Syncfs(fd)
}

// BenchmarkWriteMaildir writes 20,000 messages and beside it, in turn, the bare
// loop: the metric x-bare is how much of the loop's speed WriteMaildir reaches,
// user-us/msg its user CPU.
func BenchmarkWriteMaildir(b *testing.B) {
	spec := Spec{}
	n := spec.Count()
	var ours, loop, user, system time.Duration
	rounds := 0
	for b.Loop() {
		dir := benchDir(b)
		u0, s0 := cpu()
		t0 := time.Now()
		info, err := WriteMaildir(b.Context(), filepath.Join(dir, "ours"), spec, nil)
		if err != nil {
			b.Fatal(err)
		}
		ours += time.Since(t0)
		u1, s1 := cpu()
		user, system = user+u1-u0, system+s1-s0
		t0 = time.Now()
		if err := bare(filepath.Join(dir, "bare"), n, info.Bytes/int64(n)); err != nil {
			b.Fatal(err)
		}
		loop += time.Since(t0)
		rounds++
		if err := os.RemoveAll(dir); err != nil {
			b.Fatal(err)
		}
	}
	per := float64(n * rounds)
	b.ReportMetric(float64(ours.Microseconds())/per, "us/msg")
	b.ReportMetric(float64(loop.Microseconds())/per, "bare-us/msg")
	b.ReportMetric(float64(loop)/float64(ours), "x-bare")
	b.ReportMetric(float64(user.Microseconds())/per, "user-us/msg")
	b.ReportMetric(float64(system.Microseconds())/per, "system-us/msg")
}

func BenchmarkWriteMbox(b *testing.B) {
	spec := Spec{}
	dir := benchDir(b)
	var user time.Duration
	rounds := 0
	for b.Loop() {
		u0, _ := cpu()
		path := filepath.Join(dir, fmt.Sprint(rounds))
		if _, err := WriteMbox(b.Context(), path, spec, nil); err != nil {
			b.Fatal(err)
		}
		u1, _ := cpu()
		user += u1 - u0
		rounds++
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(user.Microseconds())/float64(spec.Count()*rounds), "user-us/msg")
}

func BenchmarkNewTruth(b *testing.B) {
	spec := Spec{Messages: 100_000}
	for b.Loop() {
		if _, err := NewTruth(spec); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spec.Count()*b.N), "ns/msg")
}
