package suite

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"mailbench/internal/temp"
)

// Main is the body of TestMain: it runs the tests and benchmarks with clean
// output. Before the rows it prints the corpus's identity, which keeps
// benchstat from mixing corpora, the units, and the machine as comments;
// after them the cold samples in the order in which they were taken, and last
// the skipped rows with their reasons. The result is the exit code.
func (r *Runner) Main(m *testing.M) int {
	if err := parseFlags(); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return complain(err)
	}
	if err := r.check(); err != nil {
		return complain(err)
	}
	if order := os.Getenv(childEnv); order != "" {
		return r.child(order)
	}
	if !benchmarking() {
		return m.Run()
	}
	r.forks = !isFresh()
	defer r.cleanOnSignal()()
	f, err := r.open()
	if err != nil {
		r.cleanup()
		return complain(err)
	}
	fmt.Printf("corpus: %s\ncorpus-digest: %s\ncorpus-messages: %d\n", f.name, f.digest, f.messages)
	fmt.Println(strings.Join(units, "\n"))
	r.describe(f)
	r.reach(os.Stdout, flag.Lookup("test.bench").Value.String())
	r.reclaim = temp.ReadReclaim()
	code := m.Run()
	r.cleanup()
	r.notes()
	if code == 0 && !isFresh() {
		code = r.fresh()
	}
	r.skips()
	return code
}

// cleanOnSignal removes what the run wrote when it is interrupted, until the
// function it returns is called.
func (r *Runner) cleanOnSignal() (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-c; ok {
			// The rows go on until the process ends, over files that go
			// away: nothing that they say from here on is true.
			muteOutput()
			fmt.Fprintln(os.Stderr, "mailbench: interrupted")
			r.removeBusyPlaces()
			os.Exit(130)
		}
	}()
	return func() {
		signal.Stop(c)
		close(c)
	}
}

// notes prints what is known only after the rows.
func (r *Runner) notes() {
	r.unitNotes()
	for _, n := range r.cold {
		fmt.Printf("# samples %s: %s\n", n.name, n.text)
	}
	if r.imageTold != "" {
		fmt.Printf("# loop image: %s\n", r.imageTold)
	}
	if r.reclaim.Counts != nil || r.reclaim.Set != nil {
		fmt.Printf("# reclaim: %s\n", temp.ReadReclaim().Tell(r.reclaim))
	}
	for _, line := range r.told {
		fmt.Println("# " + line)
	}
	for _, n := range r.curveNotes() {
		fmt.Printf("# appends/s, %s: %s\n", n.name, n.text)
	}
	for _, n := range r.growth.notes() {
		fmt.Printf("# growth of ns/msg, %s: %s\n", n.name, n.text)
	}
	for _, n := range r.doubts {
		fmt.Printf("# doubtful %s: %s\n", n.name, n.text)
	}
}

// parseFlags is flag.Parse that says of a bad flag one line, not a page.
func parseFlags() error {
	fs := flag.CommandLine
	if fs.Parsed() {
		return nil
	}
	fs.Init(fs.Name(), flag.ContinueOnError)
	out := fs.Output()
	fs.SetOutput(io.Discard)
	err := fs.Parse(os.Args[1:])
	fs.SetOutput(out)
	if errors.Is(err, flag.ErrHelp) {
		flag.Usage()
	}
	return err
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "mailbench: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	return 2
}

// benchmarking reports whether go test was asked for benchmarks.
func benchmarking() bool {
	f := flag.Lookup("test.bench")
	list := flag.Lookup("test.list")
	return f != nil && f.Value.String() != "" && (list == nil || list.Value.String() == "")
}

// describe prints what a reader needs in order to believe the numbers, as
// comments: a version or a kernel in a configuration line would keep
// benchstat from comparing across it.
func (r *Runner) describe(f *fixture) {
	fmt.Printf("# machine: %s/%s, %d CPUs, GOMAXPROCS %d, %d MB of memory, %s, %s\n",
		runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.GOMAXPROCS(0), temp.TotalMemory()>>20, runtime.Version(), kernel())
	for _, p := range r.standing(f) {
		if m, err := temp.Mount(p.path); err == nil {
			fmt.Printf("# %s: %son %s (%s, %s)\n", p.what, p.label, m.Type, m.Device, m.Options)
		}
	}
	if lat, err := temp.DeviceLatency(r.cfg.IndexDir); err == nil {
		hint := "no sign of a cache below the device"
		if lat < 40*time.Microsecond {
			hint = "faster than flash: a cache below the device is likely, and nodata and cold show that cache"
		}
		fmt.Printf("# device: one evicted page takes %v (median of 64): %s\n", lat.Round(time.Microsecond), hint)
	}
	if smallWork && !isFresh() {
		fmt.Printf("# %s: rows that write are too small for their times to mean anything\n", smallEnv)
	}
	if r.cfg.Options != "" {
		fmt.Printf("# options: %s\n", r.cfg.Options)
	}
	cold := "drop_caches, which is not allowed (-drop-caches)"
	switch {
	case r.usesImage():
		cold = "a private loop image, mounted anew"
	case r.cfg.DropCaches:
		cold = "drop_caches"
	}
	fmt.Printf("# temperature: residency by %s, eviction by fadvise, cold by %s\n", temp.Method(), cold)
}

func kernel() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "kernel unknown"
	}
	return "kernel " + strings.TrimSpace(string(b))
}
