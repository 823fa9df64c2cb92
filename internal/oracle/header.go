package oracle

import "strings"

// fields returns the first occurrence of each field of a header by lower-case
// name: the raw value after the colon, folds included. Lines that are no field
// are left out, with their continuations. (An mbox From_ line is none, or a
// field that nobody asks for.)
func fields(header []byte) map[string]string {
	values := make(map[string]string)
	var name string // field that a continuation belongs to; "" = to nothing
	var value strings.Builder
	store := func() {
		if name == "" {
			return
		}
		// RFC 5322 section 3.6 allows one; of several the first counts.
		if _, dup := values[name]; !dup {
			values[name] = strings.TrimRight(value.String(), "\r\n")
		}
	}
	for rest := string(header); rest != ""; {
		var line string
		line, rest = cutLine(rest)
		text := strings.TrimRight(line, "\r\n")
		if text == "" {
			break // RFC 5322 section 2.1: only an empty line ends the header
		}
		if text[0] == ' ' || text[0] == '\t' {
			value.WriteString(line) // RFC 5322 section 2.2.3
			continue
		}
		store()
		name = ""
		value.Reset()
		before, _, ok := strings.Cut(text, ":")
		if !ok {
			continue
		}
		// RFC 5322 section 4.5: obsolete fields have blanks before the colon.
		name = strings.ToLower(strings.TrimRight(before, " \t"))
		value.WriteString(line[len(before)+1:])
	}
	store()
	return values
}

// cutLine splits s after its first line feed.
func cutLine(s string) (line, rest string) {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i+1], s[i+1:]
	}
	return s, ""
}

// unfold removes the line ends of a raw value and trims blanks at both ends.
func unfold(raw string) string {
	s := strings.NewReplacer("\r\n", "", "\n", "").Replace(raw)
	return strings.Trim(s, " \t")
}
