package suite

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// metricsOf are the values of a row of a benchmark's output by their units.
func metricsOf(t *testing.T, out, row string) map[string]string {
	t.Helper()
	found := lines(out, "Benchmark"+row)
	if len(found) == 0 {
		t.Fatalf("no row %s in:\n%s", row, out)
	}
	f := strings.Fields(found[0])
	m := map[string]string{}
	for i := 2; i+1 < len(f); i += 2 {
		m[f[i+1]] = f[i]
	}
	return m
}

// TestMetricsAll_lookInside holds what the phases and counts of a row are: the
// work that the design cannot have done without, and nothing that it has not.
func TestMetricsAll_lookInside(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	got := benchmark(t, dir, "SelectFirst|ThreadFirst|ThreadAgain|SortDate", "-corpus=synthetic:300", "-designs=column,scan", "-metrics=all", "-samples=1")
	if got.code != 0 {
		t.Fatal(got.out, got.errs)
	}
	for _, c := range []struct {
		row   string
		some  string // metrics that must be there
		none  string // and that must not
		mails string // mails-opened/op
	}{
		{"SelectFirst/design=column/mails=warm/index=none", "scan-ns/op write-ns/op writes/op syncs/op written-B/op renames/op", "read-ns/op parse-ns/op link-ns/op format-ns/op mails-opened/op", ""},
		{"ThreadFirst/design=column/fields=thread/mails=warm/index=warm", "scan-ns/op read-ns/op parse-ns/op link-ns/op format-ns/op write-ns/op opens/op mail-B/op", "", "300"},
		{"ThreadFirst/design=scan/mails=warm/index=warm", "scan-ns/op read-ns/op parse-ns/op load-ns/op link-ns/op format-ns/op reads/op mail-B/op", "write-ns/op writes/op syncs/op", "300"},
		{"ThreadAgain/design=scan/delta=none/search=all/mails=warm/index=warm", "read-ns/op parse-ns/op link-ns/op format-ns/op", "sort-ns/op", "300"},
		{"ThreadAgain/design=column/delta=none/search=all/answers=computed/mails=warm/index=warm", "load-ns/op link-ns/op format-ns/op opens/op", "read-ns/op mails-opened/op syncs/op", ""},
		{"ThreadAgain/design=column/delta=none/search=all/answers=stored/mails=warm/index=open", "format-ns/op", "opens/op mails-opened/op", ""},
		{"SortDate/design=scan/pass=again/delta=none/search=all/mails=warm/index=warm", "sort-ns/op", "", "300"},
	} {
		m := metricsOf(t, got.out, c.row)
		for _, unit := range strings.Fields(c.some) {
			if m[unit] == "" {
				t.Errorf("%s: no %s in %v", c.row, unit, m)
			}
		}
		for _, unit := range strings.Fields(c.none) {
			if m[unit] != "" {
				t.Errorf("%s: %s %s", c.row, m[unit], unit)
			}
		}
		if strings.TrimSuffix(m["mails-opened/op"], ".0") != c.mails {
			t.Errorf("%s: %s mails opened, want %s", c.row, m["mails-opened/op"], c.mails)
		}
	}
	if m := metricsOf(t, benchmark(t, dir, "ThreadFirst", "-corpus=synthetic:300", "-designs=scan", "-samples=1").out, "ThreadFirst/design=scan/mails=warm/index=warm"); m["read-ns/op"] != "" {
		t.Errorf("default metrics have phases: %v", m)
	}
}

func TestAtShare(t *testing.T) {
	var ds []time.Duration
	for i := range 100 {
		ds = append(ds, time.Duration(100-i))
	}
	if a, b, c := atShare(ds, 0.9), atShare(ds, 0.99), atShare(ds[:1], 0.5); a != 90 || b != 99 || c != 100 {
		t.Error(a, b, c)
	}
	if !slices.Equal(ds[:2], []time.Duration{100, 99}) {
		t.Error("the samples have been moved")
	}
}
