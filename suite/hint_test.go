package suite

import (
	"slices"
	"strings"
	"testing"
)

func TestMatcher(t *testing.T) {
	const name = "BenchmarkThreadAgain/design=column/delta=none/search=all"
	for pattern, want := range map[string]bool{
		".": true, "": true, "Thread": true, "Thread/column": true, "Thread/design=column/delta=none": true,
		"Thread/delta=none": false, "Sort": false, "Sort|Thread": true, "(Sort|Thread)/scan": false,
		"(Sort|Thread)/(scan|column)": true, "Sort/x|Thread/column": true, "Thread[/]Again": false, "Thread//delta=none": true,
		"Thread/design=column/delta=none/search=all/more": true, "(": false,
	} {
		if got := matcher(pattern)(name); got != want {
			t.Errorf("%q: %v, want %v", pattern, got, want)
		}
	}
	if got := splitOutside(`a\/b/[/(]/(c/d)`, '/'); !slices.Equal(got, []string{`a\/b`, "[/(]", "(c/d)"}) {
		t.Errorf("%q", got)
	}
}

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
