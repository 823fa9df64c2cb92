package suite

import (
	"strings"
	"testing"
)

// A run without rows says why, and skips stand behind everything else.
func TestRun_endsWithSkipsOrHint(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	for _, c := range []struct {
		rows, want string
		args       []string
	}{
		{"Compcat", "# no rows: -bench Compcat names none: ", nil},
		{"ThreadAgain/delta=none", "# no rows: -bench ThreadAgain/delta=none names none: ", nil},
		{"HeaderScan", "# no rows: -bench HeaderScan names none of the default rows; with -rows all there are 2", nil},
		{"SelectFirst", "# 1 rows were skipped, see above", []string{"-rows=all", "-loop-image=false"}},
	} {
		got := benchmark(t, dir, c.rows, append(c.args, "-corpus=synthetic:50", "-designs=scan")...)
		if got.code != 0 {
			t.Fatal(got.out, got.errs)
		}
		out := strings.Split(strings.TrimSpace(got.out), "\n")
		if last := out[len(out)-1]; !strings.HasPrefix(last, c.want) {
			t.Errorf("-bench %s ends with %q, want %q", c.rows, last, c.want)
		}
	}
}
