package mbox

// maxFromLine bounds a From_ line: a longer one is text. It keeps the check of
// one candidate O(1) in hostile files.
const maxFromLine = 1024

// A fromClass says how much a line that begins with "From " looks like what a
// mailer writes between two messages.
type fromClass uint8

const (
	fromUndated  fromClass = iota // text, or a sender alone
	fromBare                      // nothing at all after "From "
	fromTrailing                  // sender and date, and then other words
	fromDated                     // sender and date
)

// fromLine is what follows "From " on a line. Offsets are relative to the byte
// after "From ".
type fromLine struct {
	class                fromClass
	senderOff, senderEnd int
	unix                 int64 // if class >= fromTrailing
}

// parseFrom reads the rest of a line after "From ", its line end removed. The
// sender may hold spaces ("user at host", quoted local parts) or be missing, so
// it ends where the first thing that parses as a date begins. O(len(s)).
func parseFrom(s []byte) fromLine {
	i := skipSpace(s, 0)
	f := fromLine{senderOff: i, senderEnd: trimEnd(s)}
	if i >= f.senderEnd {
		f.senderEnd = i
		f.class = fromBare
		return f
	}
	for at := i; at < len(s); {
		if startsDate(s[at]) {
			if unix, end, ok := parseAsctime(s, at); ok {
				f.unix = unix
				f.senderEnd = max(i, trimEnd(s[:at]))
				f.class = fromTrailing
				if cleanEnd(s, end) {
					f.class = fromDated
				}
				return f
			}
		}
		at = skipSpace(s, tokenEnd(s, at))
	}
	return f
}

// startsDate is a cheap filter: weekdays and months begin with one of these
// letters, a day of month with a digit.
func startsDate(c byte) bool {
	if c-'0' < 10 {
		return true
	}
	switch c | 0x20 {
	case 'm', 't', 'w', 'f', 's', 'j', 'a', 'o', 'n', 'd':
		return true
	}
	return false
}

// cleanEnd reports whether nothing but zones and UUCP's "remote from HOST"
// (RFC 976 section 2.4) follows the date.
func cleanEnd(s []byte, i int) bool {
	for n := 0; ; n++ {
		i = skipSpace(s, i)
		if i == len(s) {
			return true
		}
		end := tokenEnd(s, i)
		if string(s[i:end]) == "remote" {
			i = skipSpace(s, end)
			return string(s[i:tokenEnd(s, i)]) == "from"
		}
		if _, ok := parseZone(s[i:end]); !ok || n == 2 {
			return false
		}
		i = end
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func skipSpace(s []byte, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

func tokenEnd(s []byte, i int) int {
	for i < len(s) && !isSpace(s[i]) {
		i++
	}
	return i
}

// trimEnd is the length of s without spaces at its end.
func trimEnd(s []byte) int {
	n := len(s)
	for n > 0 && isSpace(s[n-1]) {
		n--
	}
	return n
}
