package session

import (
	"slices"
	"strings"
)

// separator is what the parts of mailbox names have between them.
const separator = '/'

// matches reports whether a mailbox name matches a LIST pattern: % is anything
// but the separator, * anything. INBOX is so in any case. O(name * pattern).
func matches(pattern, name string) bool {
	if strings.EqualFold(pattern, name) && strings.EqualFold(name, "INBOX") {
		return true
	}
	// reach[i]: pattern up to here matches name[:i].
	reach := make([]bool, len(name)+1)
	reach[0] = true
	for _, p := range []byte(pattern) {
		switch p {
		case '*', '%':
			for i := range len(name) {
				if reach[i] && (p == '*' || name[i] != separator) {
					reach[i+1] = true
				}
			}
		default:
			for i := len(name); i > 0; i-- {
				reach[i] = reach[i-1] && name[i-1] == p
			}
			reach[0] = false
		}
	}
	return reach[len(name)]
}

// A listed is a line of a LIST answer.
type listed struct {
	name     string
	exists   bool
	children bool
}

// listed are the mailboxes that match one of patterns, and the names above them
// that match though there is no mailbox (RFC 3501 section 6.3.8).
func (m *Mailboxes) listed(patterns []string) ([]listed, error) {
	folders, err := m.folders()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	var all []listed
	for _, f := range folders {
		at[f.Name] = len(all)
		all = append(all, listed{name: f.Name, exists: true})
	}
	for _, f := range folders {
		for name := f.Name; ; {
			i := strings.LastIndexByte(name, separator)
			if i < 0 {
				break
			}
			name = name[:i]
			j, ok := at[name]
			if !ok {
				j = len(all)
				at[name] = j
				all = append(all, listed{name: name})
			}
			all[j].children = true
		}
	}
	var list []listed
	for _, l := range all {
		if slices.ContainsFunc(patterns, func(p string) bool { return matches(p, l.name) && (l.exists || strings.IndexByte(p, '*') < 0) }) {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b listed) int {
		if a.name == "INBOX" || b.name == "INBOX" {
			return strings.Compare(b2s(a.name != "INBOX"), b2s(b.name != "INBOX"))
		}
		return strings.Compare(a.name, b.name)
	})
	return list, nil
}

// b2s orders false before true.
func b2s(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// appendName appends a mailbox's name as a quoted string, or a literal where it
// can be none.
func appendName(dst []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' {
			return appendLiteral(dst, name)
		}
	}
	dst = append(dst, '"')
	for i := range len(name) {
		if c := name[i]; c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '"')
}
