package suite

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

func itoa(n int) string { return strconv.Itoa(n) }

// rootRun runs the root package's benchmarks by go test, as its README does,
// twice with one sample each, and returns the whole output.
func rootRun(t *testing.T, bench string, args ...string) []byte {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command: ", err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command(tool, "env", "GOCACHE").Output() // it moves with XDG_CACHE_HOME
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, append([]string{"test", "-run", "^$", "-bench", bench, "-benchtime", "1x", "-count", "2", ".", "-samples", "1"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+diskDir(t), "GOCACHE="+strings.TrimSpace(string(cache)), "PWD="+root, smallEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go test: %v\n%s", err, out)
	}
	return out
}

// TestOutput_isBenchmarkFormat feeds the whole output of a run to the reader
// that benchstat has: every row whole, no complaint, nothing between the rows.
func TestOutput_isBenchmarkFormat(t *testing.T) {
	t.Parallel()
	bench, corpus := ".", "synthetic:500"
	if testing.Short() {
		bench, corpus = "SelectFirst|ThreadAgain/design=column|Floor/op=(radix|headers)", "synthetic:100"
	}
	out := rootRun(t, bench, "-corpus", corpus)
	onlyKnownLines(t, out)

	rows := map[string][]*benchfmt.Result{}
	reader := benchfmt.NewReader(bytes.NewReader(out), "run")
	n := 0
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Errorf("line %d: %s", rec.Line, rec.Msg)
		case *benchfmt.Result:
			n++
			wholeRow(t, rec)
			name := strings.TrimRight(strings.TrimRight(rec.Name.String(), "0123456789"), "-")
			rows["Benchmark"+name] = append(rows["Benchmark"+name], rec.Clone())
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	if want := len(lines(string(out), "Benchmark")); n != want || n == 0 {
		t.Errorf("%d rows read of %d lines", n, want)
	}
	everyRowTwice(t, out, rows, bench == ".")

	units := reader.Units()
	for name, recs := range rows {
		for _, v := range recs[0].Values {
			if units.GetBetter(v.Unit) == 0 {
				t.Errorf("no Unit line says which way %s is better", v.Unit)
			}
			other, ok := recs[len(recs)-1].Value(v.Unit)
			if exact := units.Get(v.Unit, "assume"); exact != nil && (!ok || other != v.Value) {
				t.Errorf("%s: %s is declared exact: %v and %v", name, v.Unit, v.Value, other)
			}
		}
	}
}

var (
	configLine = regexp.MustCompile(`^(corpus|corpus-digest|corpus-messages|goos|goarch|pkg|cpu): \S`)
	unitLine   = regexp.MustCompile(`^Unit \S+ better=(higher|lower)( assume=exact)?$`)
	skipLine   = regexp.MustCompile(`^# skipped (Benchmark\S+): \S`)
	endLine    = regexp.MustCompile(`^(PASS|ok\s+mailbench\s+[0-9.]+s)$`)
)

// onlyKnownLines holds that the output has no line but what belongs there, and
// that it tells the corpus before the first row.
func onlyKnownLines(t *testing.T, out []byte) {
	t.Helper()
	config := map[string]int{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		switch m := configLine.FindStringSubmatch(line); {
		case m != nil:
			config[m[1]]++
		case unitLine.MatchString(line), endLine.MatchString(line), strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "Benchmark"):
			if config["corpus"] == 0 {
				t.Errorf("a row before the corpus: %s", line)
			}
		default:
			t.Errorf("line %q does not belong there", line)
		}
	}
	for _, key := range []string{"corpus", "corpus-digest", "corpus-messages"} {
		if config[key] != 1 {
			t.Errorf("%d lines of %s, want 1", config[key], key)
		}
	}
}

// wholeRow holds that a row has its metrics and a name made of key=value parts.
func wholeRow(t *testing.T, rec *benchfmt.Result) {
	t.Helper()
	for _, unit := range []string{"sec/op", "min-sec/op", "max-sec/op", "B/op", "allocs/op"} {
		if v, ok := rec.Value(unit); !ok || v < 0 || unit == "sec/op" && v == 0 {
			t.Errorf("%s: %s is %v", rec.Name, unit, v)
		}
	}
	if rec.Iters != 1 || rec.GetConfig("corpus-messages") == "" || rec.GetConfig("corpus-digest") == "" {
		t.Errorf("%s: %d iterations, config %v", rec.Name, rec.Iters, rec.Config)
	}
	base, parts := rec.Name.Parts()
	if !slices.Contains(benchmarks, string(base)) {
		t.Errorf("%s: base %s", rec.Name, base)
	}
	for i, p := range parts {
		part := string(p)
		if strings.HasPrefix(part, "-") {
			if i != len(parts)-1 {
				t.Errorf("%s: GOMAXPROCS in the middle", rec.Name)
			}
			continue
		}
		key, value, ok := strings.Cut(strings.TrimPrefix(part, "/"), "=")
		if !ok || !slices.Contains(axes, key) || endsInNumber(value) {
			t.Errorf("%s: part %q", rec.Name, part)
		}
		if got := project(t, rec, "/"+key); got != value {
			t.Errorf("%s: benchproc sees /%s as %q", rec.Name, key, got)
		}
	}
}

// project is the value of a key as benchstat would see it.
func project(t *testing.T, rec *benchfmt.Result, key string) string {
	t.Helper()
	var parser benchproc.ProjectionParser
	p, err := parser.Parse(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Project(rec).Get(p.Fields()[0])
}

// everyRowTwice holds that each row was measured twice, or skipped once for
// both, and with all rows asked for that none is missing.
func everyRowTwice(t *testing.T, out []byte, rows map[string][]*benchfmt.Result, all bool) {
	t.Helper()
	skipped := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if m := skipLine.FindStringSubmatch(line); m != nil {
			skipped[m[1]] = true
			if rows[m[1]] != nil {
				t.Errorf("%s is measured and skipped", m[1])
			}
		}
	}
	known := map[string]bool{}
	for _, row := range runner(t, t.TempDir(), Config{}).Rows() {
		known[row.Name()] = row.Default
		if row.Default && all && rows[row.Name()] == nil && !skipped[row.Name()] {
			t.Errorf("%s is neither measured nor skipped", row.Name())
		}
	}
	for name, recs := range rows {
		if len(recs) != 2 || !known[name] {
			t.Errorf("%s: %d times, default row %v", name, len(recs), known[name])
		}
	}
}
