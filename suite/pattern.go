package suite

import (
	"fmt"
	"regexp"
	"strings"
)

// A pattern says which rows -bench runs: those that match any of its
// alternatives, which have an expression for each part of a row's name.
type pattern [][]*regexp.Regexp

// parsePattern reads what -bench of go test is given (go help testflag): the
// expressions are those between slashes, and bars separate alternatives, both
// outside brackets and parentheses. An expression matches anywhere in its part.
func parsePattern(text string) (pattern, error) {
	var p pattern
	for _, alternative := range splitOutside(text, '|') {
		var parts []*regexp.Regexp
		for _, part := range splitOutside(alternative, '/') {
			re, err := regexp.Compile(part)
			if err != nil {
				return nil, fmt.Errorf("-bench %s: %w", text, err)
			}
			parts = append(parts, re)
		}
		p = append(p, parts)
	}
	return p, nil
}

// matches reports whether the row of that name is run. An expression too many
// is for rows below it, which there are none of.
func (p pattern) matches(name string) bool {
	parts := strings.Split(name, "/")
	for _, alternative := range p {
		if len(alternative) > len(parts) {
			continue
		}
		all := true
		for i, re := range alternative {
			all = all && re.MatchString(parts[i])
		}
		if all {
			return true
		}
	}
	return false
}

// splitOutside splits s at sep where it is not escaped and in no brackets or
// parentheses.
func splitOutside(s string, sep byte) []string {
	var out []string
	class, group, from := 0, 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[':
			class++
		case c == ']':
			class = max(class-1, 0)
		case class > 0:
		case c == '(':
			group++
		case c == ')':
			group--
		case c == sep && group == 0:
			out, from = append(out, s[from:i]), i+1
		}
	}
	return append(out, s[from:])
}
