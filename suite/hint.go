package suite

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
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
	match := matcher(pattern)
	all := 0
	for _, row := range r.Rows() {
		if !match(row.Name()) {
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

// matcher tells whether go test would run a benchmark of that name: each part
// between slashes is matched by the expression at its place.
func matcher(pattern string) func(name string) bool {
	var alternatives [][]*regexp.Regexp
	for _, alt := range splitOutside(pattern, '|') {
		var parts []*regexp.Regexp
		for _, p := range splitOutside(alt, '/') {
			re, err := regexp.Compile(p)
			if err != nil {
				return func(string) bool { return false }
			}
			parts = append(parts, re)
		}
		alternatives = append(alternatives, parts)
	}
	return func(name string) bool {
		parts := strings.Split(name, "/")
	next:
		for _, alt := range alternatives {
			for i, re := range alt {
				if i < len(parts) && !re.MatchString(parts[i]) {
					continue next
				}
			}
			return true
		}
		return false
	}
}

// splitOutside splits s at sep outside brackets and parentheses.
func splitOutside(s string, sep byte) []string {
	var parts []string
	depth, class, begin := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			class++
		case ']':
			class = max(0, class-1)
		case '(', ')', sep:
			switch {
			case class > 0: // a letter like others
			case s[i] == '(':
				depth++
			case s[i] == ')':
				depth--
			case depth == 0:
				parts = append(parts, s[begin:i])
				begin = i + 1
			}
		}
	}
	return append(parts, s[begin:])
}
