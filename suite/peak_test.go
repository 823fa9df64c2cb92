package suite

import (
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"
)

// TestPeaks holds that -metrics all shows the peak memory of the rows that it
// is asked of, from a process of its own, and that nothing else does.
func TestPeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("two runs of a dozen rows")
	}
	t.Parallel()
	dir := diskDir(t)
	const rows = "(SelectFirst|SelectAgain|ThreadFirst|ThreadAgain)/design=column"
	for _, metrics := range []string{"all", "default"} {
		got := benchmark(t, dir, rows, "-corpus=synthetic:200", "-designs=column", "-metrics="+metrics)
		if got.code != 0 {
			t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
		}
		reader := benchfmt.NewReader(strings.NewReader(got.out), "run")
		n := 0
		for reader.Scan() {
			rec, ok := reader.Result().(*benchfmt.Result)
			if !ok {
				continue
			}
			name := rec.Name.String()
			want := metrics == "all" && !strings.HasPrefix(name, "SelectAgain") && !strings.Contains(name, "mails=nodata") &&
				!strings.Contains(name, "index=open") && !strings.Contains(name, "delta=deliver")
			for _, unit := range []string{"peak-anon-B/msg", "peak-file-B/msg"} {
				v, has := rec.Value(unit)
				if has != want || has && (v < 0 || v > 1e6) {
					t.Errorf("-metrics %s: %s: %s is %v, there %v, want %v", metrics, name, unit, v, has, want)
				}
			}
			if want {
				n++
			}
		}
		if metrics == "all" && n < 4 {
			t.Errorf("%d rows with peaks:\n%s", n, got.out)
		}
	}
}
