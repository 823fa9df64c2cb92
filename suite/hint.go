package suite

import (
	"flag"
	"fmt"
)

// skips prints the rows that were skipped, as the last thing of a run, and how
// many there are; and why a run has no rows at all.
func (r *Runner) skips() {
	told := map[note]bool{} // with -count a row is skipped again
	for _, n := range r.skipped {
		if !told[n] {
			fmt.Printf("# skipped %s: %s\n", n.name, n.text)
		}
		told[n] = true
	}
	switch {
	case len(told) > 0:
		fmt.Printf("# %d rows were skipped, see above\n", len(told))
	case !r.ran && !r.failed && !isFresh():
		if f := flag.Lookup("test.bench"); f != nil {
			fmt.Println("# no rows: " + r.hint(f.Value.String()))
		}
	}
}

// hint says why -bench pattern measured nothing.
func (r *Runner) hint(pattern string) string {
	chosen, _ := parsePattern(pattern) // go test has read it
	all := 0
	for _, row := range r.Rows() {
		if !chosen.matches(row.Name()) {
			continue
		}
		if row.Default {
			return fmt.Sprintf("-bench %s names rows, and none was measured", pattern)
		}
		all++
	}
	if all > 0 && r.cfg.Rows != "all" {
		return fmt.Sprintf("-bench %s names none of the default rows; with -rows all there are %d", pattern, all)
	}
	return fmt.Sprintf("-bench %s names none: mailbench plan -rows all lists them, and a part such as delta=none is matched between slashes, in the order of the row's name", pattern)
}
