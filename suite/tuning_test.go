package suite

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/designs"
)

// tuningSections are the sections of docs/TUNING.md, by design.
func tuningSections(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("../docs/TUNING.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range strings.Split(string(b), "\n## ")[1:] {
		name, text, _ := strings.Cut(s, "\n")
		out[name] = text
	}
	return out
}

// tableRows are the rows of a section's tables whose first cell begins with a
// quoted word, cells without the blanks around them.
func tableRows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		var cells []string
		for _, c := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		rows = append(rows, cells)
	}
	return rows
}

var quoted = regexp.MustCompile("`([^`]*)`")

// TestTuning holds that docs/TUNING.md lists the options that designs declare,
// with their values and what they do, that each value but the default has a row
// of the sweep, and that the settings it recommends can be set.
func TestTuning(t *testing.T) {
	sections := tuningSections(t)
	for _, d := range designs.All {
		extra := index.AxesOf(d).Extra
		text, ok := sections[d.Name()]
		if ok != (len(extra) > 0) {
			t.Errorf("%s has %d options, section in the document: %v", d.Name(), len(extra), ok)
			continue
		}
		var want, swept, got, gotSwept []string
		for _, x := range extra {
			values := ""
			for i, v := range x.Values {
				if v == "" {
					v = "(none)"
				}
				values += " `" + v + "`"
				if i > 0 {
					swept = append(swept, x.Name+"="+v)
				}
			}
			want = append(want, x.Name+values+" "+x.Help)
		}
		for _, cells := range tableRows(text) {
			name := quoted.FindStringSubmatch(cells[0])[1]
			switch {
			case len(cells) == 3:
				got = append(got, name+" "+cells[1]+" "+cells[2])
			case len(cells) == 6:
				gotSwept = append(gotSwept, name)
			default:
				t.Errorf("%s: a row of %d cells: %q", d.Name(), len(cells), cells)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the document has the options\n%s\nwant\n%s", d.Name(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if !slices.Equal(gotSwept, swept) {
			t.Errorf("%s: the document has results of\n%q, want\n%q", d.Name(), gotSwept, swept)
		}
	}
	best := 0
	for name, text := range sections {
		for line := range strings.Lines(text) {
			options, ok := strings.CutPrefix(strings.TrimSpace(line), "-options ")
			if !ok {
				continue
			}
			best++
			if !strings.HasPrefix(options, name+".") {
				t.Errorf("%s: %s is of another design", name, options)
			}
			if r := New(Config{Names: name, Designs: designs.All, CacheDir: t.TempDir(), Options: options}); r.check() != nil {
				t.Errorf("%s: %s: %v", name, options, r.check())
			}
		}
	}
	if best == 0 {
		t.Error("the document recommends no setting")
	}
}
