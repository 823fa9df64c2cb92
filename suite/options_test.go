package suite

import (
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/designs"
)

// TestOptions_reachTheDesign holds that -options sets a design's own option in
// every row, in the process of its own and in the fresh one, is told in the
// output, and leaves other designs alone.
func TestOptions_reachTheDesign(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	args := []string{"-corpus=synthetic:200", "-designs=optioned,right"}
	const rows = "ThreadAgain/.*/delta=none/search=all/mails=warm/index=warm"
	if got := benchmark(t, dir, rows, args...); got.code != 0 || len(lines(got.out, "# options")) > 0 {
		t.Errorf("without options: exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	got := benchmark(t, dir, rows, append(args, "-options=optioned.mode=wrong")...)
	if got.code == 0 || len(lines(got.out, "BenchmarkThreadAgain/design=right")) != 1 || !strings.Contains(got.out, "--- FAIL: BenchmarkThreadAgain/design=optioned") {
		t.Errorf("optioned.mode=wrong: exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	if told := lines(got.out, "# options: "); len(told) != 1 || told[0] != "# options: optioned.mode=wrong" {
		t.Errorf("told: %q", told)
	}
	got = benchmark(t, dir, rows, append(args, "-options=optioned.mode=1_2")...)
	if got.code != 0 || len(lines(got.out, "Benchmark")) != 2 || !strings.Contains(got.out, "every answer right") {
		t.Errorf("optioned.mode=1_2: exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
}

// TestOptions_rows holds that BenchmarkOptions tries each value, and that one
// that makes a design wrong fails.
func TestOptions_rows(t *testing.T) {
	t.Parallel()
	got := benchmark(t, diskDir(t), "Options/.*/op=thread-again", "-corpus=synthetic:200", "-designs=optioned", "-rows=all")
	for _, name := range []string{"defaults", "mode:1_2"} {
		if n := len(lines(got.out, "BenchmarkOptions/design=optioned/op=thread-again/option="+name+"/mails=warm/index=warm")); n != 1 {
			t.Errorf("%d rows of %s:\n%s", n, name, got.out)
		}
	}
	if got.code == 0 || !strings.Contains(got.out, "--- FAIL: BenchmarkOptions/design=optioned/op=thread-again/option=mode:wrong") {
		t.Errorf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
}

// TestOptions_axes holds that every option of the house's designs can stand
// in names, that its values differ, and that setting it keeps the axes.
func TestOptions_axes(t *testing.T) {
	for _, d := range designs.All {
		for _, x := range index.AxesOf(d).Extra {
			seen := map[string]bool{}
			for _, v := range x.Values {
				name := optionName(x.Name, v)
				params("option", name) // panics
				if seen[name] {
					t.Errorf("%s: %s is there twice", d.Name(), name)
				}
				seen[name] = true
			}
			if len(x.Values) == 0 || x.Help == "" || strings.ToLower(x.Name) != x.Name {
				t.Errorf("%s: option %+v", d.Name(), x)
			}
			if w := with(d, x.Name, "v"); len(index.AxesOf(w).Extra) != len(index.AxesOf(d).Extra) || w.Name() != d.Name() {
				t.Errorf("%s with an option is another design", d.Name())
			}
		}
	}
}

func TestOptionName(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"purge", "20", "purge:20"}, {"fields", "date,subject", "fields:date_subject"}, {"file", "a/b c=d", "file:a_b_c_d"},
		{"keep", "n-20", "keep:n_20"}, {"level", "-1", "level:_1"},
	} {
		if got := optionName(c.name, c.value); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

// TestDefaultDesigns holds which designs a run measures that names none.
func TestDefaultDesigns(t *testing.T) {
	named := func(names ...string) index.Registry {
		var ds index.Registry
		for _, n := range names {
			ds = append(ds, fake{designs.All[0], n, nil})
		}
		return ds
	}
	for _, c := range []struct {
		known index.Registry
		want  string
	}{
		{named("column", "scan"), "column scan"},
		{named("column", "linked", "envelope", "scan"), "column linked"},
		{named("scan", "sqlite", "linked", "column"), "column linked"},
	} {
		var got []string
		for _, d := range defaultDesigns(c.known) {
			got = append(got, d.Name())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("of %v: %v, want %s", c.known.Names(), got, c.want)
		}
	}
	if r := runner(t, t.TempDir(), Config{Names: "all"}); len(r.cfg.Designs) != len(designs.All) {
		t.Errorf("all are %d of %d designs", len(r.cfg.Designs), len(designs.All))
	}
	// A stranger's designs run all.
	r := runner(t, t.TempDir(), Config{Designs: named("x", "column", "y")})
	if len(r.cfg.Designs) != 3 {
		t.Errorf("%d of 3 designs", len(r.cfg.Designs))
	}
}
