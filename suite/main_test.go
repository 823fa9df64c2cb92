package suite

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mailbench/internal/temp"
)

// The test binary is also a benchmark binary, as a stranger's would be: with
// benchEnv it measures the fakes and the house's designs.
const (
	benchEnv  = "MAILBENCH_TEST_BENCH"
	memoryEnv = "MAILBENCH_TEST_MEMORY" // bytes that it takes the memory to have
)

var bench *Runner

func TestMain(m *testing.M) {
	if os.Getenv(benchEnv) == "" {
		// Most tests wait for a child and its disk.
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	bench = Flags(flag.CommandLine, fakes()...)
	bench.cfg.Formats, smallWork = bentStores(), true
	bench.memory, _ = strconv.ParseInt(os.Getenv(memoryEnv), 10, 64)
	os.Exit(bench.Main(m))
}

func run(b *testing.B, fn func(*Runner, *testing.B)) {
	if bench == nil {
		b.Skip("a child of the tests runs these")
	}
	fn(bench, b)
}

func BenchmarkSelectFirst(b *testing.B) { run(b, (*Runner).SelectFirst) }
func BenchmarkSelectAgain(b *testing.B) { run(b, (*Runner).SelectAgain) }
func BenchmarkResync(b *testing.B)      { run(b, (*Runner).Resync) }
func BenchmarkThreadFirst(b *testing.B) { run(b, (*Runner).ThreadFirst) }
func BenchmarkThreadAgain(b *testing.B) { run(b, (*Runner).ThreadAgain) }
func BenchmarkSortDate(b *testing.B)    { run(b, (*Runner).SortDate) }
func BenchmarkSortSubject(b *testing.B) { run(b, (*Runner).SortSubject) }
func BenchmarkCompact(b *testing.B)     { run(b, (*Runner).Compact) }
func BenchmarkFetch(b *testing.B)       { run(b, (*Runner).Fetch) }
func BenchmarkChanges(b *testing.B)     { run(b, (*Runner).Changes) }
func BenchmarkAppend(b *testing.B)      { run(b, (*Runner).Append) }
func BenchmarkDeliver(b *testing.B)     { run(b, (*Runner).Deliver) }
func BenchmarkMix(b *testing.B)         { run(b, (*Runner).Mix) }
func BenchmarkMany(b *testing.B)        { run(b, (*Runner).Many) }
func BenchmarkOptions(b *testing.B)     { run(b, (*Runner).Options) }
func BenchmarkGrow(b *testing.B)        { run(b, (*Runner).Grow) }
func BenchmarkSort(b *testing.B)        { run(b, (*Runner).Sort) }
func BenchmarkThread(b *testing.B)      { run(b, (*Runner).Thread) }
func BenchmarkHeaderScan(b *testing.B)  { run(b, (*Runner).HeaderScan) }
func BenchmarkDamage(b *testing.B)      { run(b, (*Runner).Damage) }
func BenchmarkFloor(b *testing.B)       { run(b, (*Runner).Floor) }

// long reports whether tests may take hours: .ci/nightly says so.
func long() bool { return os.Getenv("MAILBENCH_LONG") != "" }

// diskDir makes a directory on a file system with a device below it, removed
// when the test ends: inside the repository, because the temporary directory is
// often in memory.
func diskDir(t testing.TB) string {
	t.Helper()
	for _, base := range []string{"../.ci", os.TempDir()} {
		if temp.Missing(base) != "" {
			continue
		}
		dir, err := os.MkdirTemp(base, "work-suite-")
		if err != nil {
			continue
		}
		if dir, err = filepath.Abs(dir); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	t.Skip("no directory on a file system whose residency the kernel tells")
	return ""
}

// A ran is what a child printed and how it ended.
type ran struct {
	out, errs string
	code      int
}

// benchmark runs rows of this binary in a child, one sample each, with its
// caches in dir.
func benchmark(t *testing.T, dir, rows string, args ...string) ran {
	t.Helper()
	return benchmarkEnv(t, nil, dir, rows, args...)
}

func benchmarkEnv(t *testing.T, env []string, dir, rows string, args ...string) ran {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"-test.run=^$", "-test.benchtime=1x", "-test.bench=" + rows, "-samples=1"}, args...)...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "MAILBENCH_") && !strings.HasPrefix(kv, "PWD=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, benchEnv+"=1", "XDG_CACHE_HOME="+dir, "PWD="+dir)
	cmd.Env = append(cmd.Env, env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// lines are those of s that start with prefix.
func lines(s, prefix string) []string {
	var out []string
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, prefix) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// leftovers lists what a run left in the places where it writes.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, place := range []string{"index", "scratch"} {
		names, err := filepath.Glob(filepath.Join(dir, "mailbench", place, "*"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	return out
}
