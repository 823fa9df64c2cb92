package suite

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPattern holds what -bench chooses.
func TestPattern(t *testing.T) {
	const row = "BenchmarkMix/design=column/store=sql:postgres/fsync=group/clients=30"
	for text, want := range map[string]bool{
		"":                                true,
		".":                               true,
		"Mix":                             true,
		"^Mix":                            false,
		"Append|Mix":                      true,
		"Append|Deliver":                  false,
		"Mix/store":                       false, // its second part is the design
		"Mix/./store=sql":                 true,
		"Mix/design=(scan|column)/sql":    true,
		"Mix/design=scan|Mix/design=col":  true,
		"Append/x|Mix/./store=maildir":    false,
		"(Append|Mix)/(scan|column)":      true,
		"Mix//store=sql":                  true,
		"(Append|Mix)/scan":               false,
		"Mix/[/|c]":                       true,
		`Mix/design=column\/store`:        false,
		"Mix/////":                        false, // more parts than the row has
		"Mix////clients=30$":              true,
		"Mix/design=column//fsync=always": false,
	} {
		p, err := parsePattern(text)
		if err != nil || p.matches(row) != want {
			t.Errorf("%q: %v, %v, want %v", text, p.matches(row), err, want)
		}
	}
	if got := splitOutside(`a\/b/[/(]/(c/d)`, '/'); !slices.Equal(got, []string{`a\/b`, "[/(]", "(c/d)"}) {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"Mix/(", "[", "a/*|b"} {
		if _, err := parsePattern(text); err == nil || !strings.HasPrefix(err.Error(), "-bench "+text+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

var cpuSuffix = regexp.MustCompile(`-[0-9]+$`)

// TestPattern_asGoTest holds that a pattern chooses the rows that go test runs.
func TestPattern_asGoTest(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	for _, text := range []string{"Floor/op=(write|stat)|Append/./store=right/././././clients=1$", "SelectFirst/[cr]/mails=warm/index=none|Deliver/x"} {
		got := benchmark(t, dir, text, "-corpus=synthetic:50", "-designs=column", "-stores=right")
		var plan strings.Builder
		cfg := Config{Corpus: "synthetic:50", Names: "column", Stores: "right", Formats: bentStores(), CacheDir: dir, Designs: fakes()}
		if err := Plan(&plan, cfg, text); err != nil {
			t.Fatal(err)
		}
		names := func(s string) (out []string) {
			for _, line := range lines(s, "Benchmark") {
				name, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
				out = append(out, cpuSuffix.ReplaceAllString(name, ""))
			}
			return out
		}
		ran, planned := names(got.out), names(plan.String())
		if len(ran) == 0 && !strings.Contains(text, "Deliver") || strings.Join(ran, "\n") != strings.Join(planned, "\n") {
			t.Errorf("%s: ran\n%s\nplanned\n%s\n%s", text, strings.Join(ran, "\n"), strings.Join(planned, "\n"), got.errs)
		}
	}
}
