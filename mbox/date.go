package mbox

// parseAsctime reads the date of a From_ line at s[i:] and returns where it
// ends. Forms, W weekday (optional), Z zone (optional, up to two words):
//
//	W Mmm d hh:mm[:ss] [Z] yyyy         asctime(3), RFC 4155; ctime with zone
//	W[,] d Mmm yyyy hh:mm[:ss]          RFC 5322 order
//
// Names are not case-sensitive. Years of two digits are 1950 to 2049 (RFC 5322
// section 4.3). A zone that is known moves the time to UTC, else it is UTC.
// Day 31 of a shorter month runs over into the next one, as timegm does.
func parseAsctime(s []byte, i int) (unix int64, end int, ok bool) {
	word, next := token(s, i)
	if isWeekday(word) {
		word, next = token(s, next)
	}
	var day, month, year int
	var haveYear bool
	if month = monthOf(word); month > 0 {
		word, next = token(s, next)
		if day, ok = number(trimComma(word), 1, 2); !ok {
			return 0, 0, false
		}
	} else if day, ok = number(word, 1, 2); ok {
		word, next = token(s, next)
		if month = monthOf(word); month == 0 {
			return 0, 0, false
		}
		word, next = token(s, next)
		if year, haveYear = yearOf(word); !haveYear {
			return 0, 0, false
		}
	} else {
		return 0, 0, false
	}
	word, next = token(s, next)
	clock, ok := clockOf(word)
	if !ok || day < 1 || day > 31 {
		return 0, 0, false
	}
	zone := 0
	for n := 0; !haveYear; n++ {
		word, next = token(s, next)
		if year, haveYear = yearOf(word); haveYear {
			break
		}
		z, ok := parseZone(word)
		if !ok || n == 2 {
			return 0, 0, false
		}
		zone += z
	}
	end = next
	// A zone may also stand after the year; the one before it counts.
	if word, next = token(s, next); len(word) > 0 {
		if z, ok := parseZone(word); ok {
			end = next
			if zone == 0 {
				zone = z
			}
		}
	}
	return daysFromCivil(year, month, day)*86400 + int64(clock) - int64(zone), end, true
}

// token returns the word at or after i and where it ends.
func token(s []byte, i int) ([]byte, int) {
	i = skipSpace(s, i)
	end := tokenEnd(s, i)
	return s[i:end], end
}

func trimComma(w []byte) []byte {
	if n := len(w); n > 0 && w[n-1] == ',' {
		return w[:n-1]
	}
	return w
}

// name3 packs a three-letter word in lower case; 0 for any other word.
func name3(w []byte) uint32 {
	if len(w) != 3 {
		return 0
	}
	return uint32(w[0]|0x20)<<16 | uint32(w[1]|0x20)<<8 | uint32(w[2]|0x20)
}

const (
	mon = 'm'<<16 | 'o'<<8 | 'n'
	tue = 't'<<16 | 'u'<<8 | 'e'
	wed = 'w'<<16 | 'e'<<8 | 'd'
	thu = 't'<<16 | 'h'<<8 | 'u'
	fri = 'f'<<16 | 'r'<<8 | 'i'
	sat = 's'<<16 | 'a'<<8 | 't'
	sun = 's'<<16 | 'u'<<8 | 'n'
)

func isWeekday(w []byte) bool {
	switch name3(trimComma(w)) {
	case mon, tue, wed, thu, fri, sat, sun:
		return true
	}
	return false
}

// monthOf returns 1 to 12, 0 if w is no month.
func monthOf(w []byte) int {
	switch name3(w) {
	case 'j'<<16 | 'a'<<8 | 'n':
		return 1
	case 'f'<<16 | 'e'<<8 | 'b':
		return 2
	case 'm'<<16 | 'a'<<8 | 'r':
		return 3
	case 'a'<<16 | 'p'<<8 | 'r':
		return 4
	case 'm'<<16 | 'a'<<8 | 'y':
		return 5
	case 'j'<<16 | 'u'<<8 | 'n':
		return 6
	case 'j'<<16 | 'u'<<8 | 'l':
		return 7
	case 'a'<<16 | 'u'<<8 | 'g':
		return 8
	case 's'<<16 | 'e'<<8 | 'p':
		return 9
	case 'o'<<16 | 'c'<<8 | 't':
		return 10
	case 'n'<<16 | 'o'<<8 | 'v':
		return 11
	case 'd'<<16 | 'e'<<8 | 'c':
		return 12
	}
	return 0
}

// number reads w as lo to hi digits and nothing else.
func number(w []byte, lo, hi int) (n int, ok bool) {
	if len(w) < lo || len(w) > hi {
		return 0, false
	}
	for _, c := range w {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func yearOf(w []byte) (int, bool) {
	if len(w) == 3 {
		return 0, false
	}
	y, ok := number(w, 2, 4)
	if !ok {
		return 0, false
	}
	if len(w) == 2 {
		if y < 50 {
			y += 100
		}
		y += 1900
	}
	return y, true
}

// clockOf reads h:mm or hh:mm, with or without :ss, as seconds of the day.
func clockOf(w []byte) (int, bool) {
	colon := 1
	if len(w) > 2 && w[2] == ':' {
		colon = 2
	}
	if len(w) < colon+3 || w[colon] != ':' {
		return 0, false
	}
	h, ok1 := number(w[:colon], 1, 2)
	m, ok2 := number(w[colon+1:colon+3], 2, 2)
	s, ok3 := 0, true
	if rest := w[colon+3:]; len(rest) > 0 {
		if rest[0] != ':' {
			return 0, false
		}
		s, ok3 = number(rest[1:], 2, 2)
	}
	if !ok1 || !ok2 || !ok3 || h > 24 || m > 59 || s > 60 {
		return 0, false
	}
	return h*3600 + m*60 + s, true
}

// parseZone reads a zone as seconds east of UTC: +hhmm, -hhmm, the names of
// RFC 5322 section 4.3 and some more; any other word of one to five capitals
// is a zone that tells nothing (0).
func parseZone(w []byte) (seconds int, ok bool) {
	if len(w) == 5 && (w[0] == '+' || w[0] == '-') {
		hm, ok := number(w[1:], 4, 4)
		if !ok || hm%100 > 59 {
			return 0, false
		}
		seconds = hm/100*3600 + hm%100*60
		if w[0] == '-' {
			seconds = -seconds
		}
		return seconds, true
	}
	if len(w) < 1 || len(w) > 5 {
		return 0, false
	}
	for _, c := range w {
		if c < 'A' || c > 'Z' {
			return 0, false
		}
	}
	return zoneHours(w) * 3600, true
}

func zoneHours(w []byte) int {
	switch string(w) {
	case "EDT", "AST":
		return -4
	case "EST", "CDT":
		return -5
	case "CST", "MDT":
		return -6
	case "MST", "PDT":
		return -7
	case "PST":
		return -8
	case "BST", "CET", "MET", "DST": // "MET DST" is two words
		return 1
	case "CEST", "MEST", "EET":
		return 2
	case "EEST", "MSK":
		return 3
	case "JST", "KST":
		return 9
	}
	return 0
}

// daysFromCivil counts days from 1970-01-01 in the proleptic Gregorian
// calendar; March-based years put the leap day last.
func daysFromCivil(y, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int64(era)*146097 + int64(doe) - 719468
}
