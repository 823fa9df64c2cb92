package rfc5322

import "bytes"

// Warnings is a set of oddities of a header.
type Warnings uint32

// Scan finds these by the way ...
const (
	WarnFromLine    Warnings = 1 << iota // begins with a "From " or ">From " line
	WarnLeadingFold                      // begins with a continuation line
	WarnSpaceColon                       // white space between a name and its colon
	WarnTruncated                        // no empty line ends the header

	// ... and these need Inspect, which reads every byte.
	WarnNoColon // a line that is neither a field nor a continuation
	WarnNUL     // a NUL byte
	Warn8Bit    // a byte above 127
	WarnBareCR  // a CR that ends no line

	warnDuplicate // first of NumFields bits
)

// WarnDuplicate is the warning that wanted field f occurs more than once.
func WarnDuplicate(f Field) Warnings { return warnDuplicate << f }

var warnNames = [...]string{"from-line", "leading-fold", "space-before-colon", "truncated", "no-colon-line", "nul", "8bit", "bare-cr"}

// Names returns the names of the warnings: "from-line", "leading-fold",
// "space-before-colon", "truncated", "no-colon-line", "nul", "8bit",
// "bare-cr", "duplicate-subject" and so on for the other fields.
func (w Warnings) Names() []string {
	var s []string
	for i, n := range warnNames {
		if w>>i&1 != 0 {
			s = append(s, n)
		}
	}
	for f := Field(0); f < NumFields; f++ {
		if w&WarnDuplicate(f) != 0 {
			s = append(s, "duplicate-"+lower(fieldNames[f]))
		}
	}
	return s
}

func lower(s string) string { return string(bytes.ToLower([]byte(s))) }

// Inspect reads every byte of the header of b, the bytes that Scan got, and
// adds to h.Warn what Scan does not look for: WarnNoColon, WarnNUL, Warn8Bit,
// WarnBareCR. It is slower than Scan and meant for explanations.
func (h *Header) Inspect(b []byte) {
	b = b[:h.BodyOff]
	colon, first := false, true
	start := 0
	for i, c := range b {
		switch {
		case c == ':':
			colon = true
		case c == 0:
			h.Warn |= WarnNUL
		case c >= 0x80:
			h.Warn |= Warn8Bit
		case c == '\r':
			if i+1 == len(b) || b[i+1] != '\n' {
				h.Warn |= WarnBareCR
			}
		}
		if c != '\n' && i+1 < len(b) {
			continue
		}
		line := b[start : i+1]
		skip := len(bytes.TrimRight(line, "\r\n")) == 0 || line[0] == ' ' || line[0] == '\t' ||
			first && h.Warn&WarnFromLine != 0
		if !colon && !skip {
			h.Warn |= WarnNoColon
		}
		colon, first, start = false, false, i+1
	}
}
