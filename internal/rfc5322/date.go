package rfc5322

// ParseDate reads the value of a Date field and returns it in seconds since
// 1970 UTC; ok is false when no day can be made out, and then RFC 5256 2.2
// wants INTERNALDATE instead. O(raw), no allocation.
//
//	date-time = [ weekday "," ] day month year hour ":" minute [ ":" second ] [ zone ]
//
// with comments and white space anywhere (RFC 5322 3.3 and 4.3). The weekday
// may be any word and is not checked. Three letters make a month, in any
// case. "." may stand for ":". Years of two digits are 1950 to 2049 and years
// of three digits count from 1900 (RFC 5322 4.3); more than four digits are
// no year, nor is a year before 1900. Second 60 counts as 59: the leap second
// stays in its minute.
//
// RFC 5256 2.2: what is no zone is UTC, so is a military letter (RFC 5322
// 4.3) and an offset with more than 59 minutes; a time that is missing or
// impossible is 00:00:00.
func ParseDate(raw []byte) (unix int64, ok bool) { return ParseDateCompat(raw, RFC) }

// ParseDateCompat is ParseDate as c reads it. Dovecot differs: two-digit
// years are 1970 to 2069; three digits, a weekday that has not three letters,
// a minute or second that has not two digits, a missing or impossible time, an
// unclosed comment and 1969-12-31 23:59:59 give no date; military letters are
// offsets; zone minutes are taken as they stand; zone names end in a capital
// T.
func ParseDateCompat(raw []byte, c Compat) (unix int64, ok bool) {
	p := dateParser{lexer: lexer{b: raw}, strict: c == Dovecot}
	return p.parse()
}

type dateParser struct {
	lexer
	strict bool // Dovecot's limits
	bad    bool // an unclosed comment was met
}

// token returns the atom that begins here and passes over it and the comments
// and white space behind it.
func (p *dateParser) token() []byte {
	t := p.atom()
	if !p.skip() {
		p.bad = true
	}
	return t
}

func (p *dateParser) parse() (unix int64, ok bool) {
	p.skip()
	t := p.token()
	if len(t) == 0 {
		return 0, false
	}
	comma := p.peek() == ','
	if p.strict && comma != (len(t) == 3) {
		return 0, false
	}
	if comma {
		p.i++
		p.skip()
		t = p.token()
	}
	day, ok := digits(t, 1, 2)
	if !ok {
		return 0, false
	}
	month := monthOf(p.token())
	if month == 0 {
		return 0, false
	}
	year, ok := p.year(p.token())
	if !ok || day < 1 || day > daysIn(year, month) || p.strict && p.bad {
		return 0, false
	}
	unix = civilDays(year, month, day) * 86400
	seconds, timed := p.time()
	if !timed && p.strict {
		return 0, false
	}
	unix += int64(seconds)
	if p.strict && unix == -1 { // time_t's mark of failure
		return 0, false
	}
	z := p.token()
	if p.strict {
		// Anything that is no atom is an error here, not an unknown zone;
		// so is a comment that does not end.
		if p.bad || len(z) == 0 && !p.end() {
			return 0, false
		}
		unix -= 60 * int64(dovecotZone(z))
		return unix, unix != 0 // to its callers 0 is no date
	}
	return unix - 60*int64(zone(z)), true
}

// year reads a year. RFC 5322 4.3 gives the meaning of two and three digits.
func (p *dateParser) year(t []byte) (year int, ok bool) {
	year, ok = digits(t, 2, 4)
	switch {
	case !ok:
	case len(t) == 2 && p.strict:
		if year += 1900; year < 1970 {
			year += 100
		}
	case len(t) == 2:
		if year += 1900; year < 1950 {
			year += 100
		}
	case len(t) == 3:
		year += 1900
		ok = !p.strict
	}
	return year, ok && year >= 1900
}

// time reads hour, minute and second into seconds of the day. When it finds
// no time, or one that does not exist, it returns 0 and false.
func (p *dateParser) time() (seconds int, ok bool) {
	least := 1
	if p.strict {
		least = 2
	}
	hour, ok := digits(p.token(), 1, 2)
	if !ok || !p.separator() {
		return 0, false
	}
	minute, ok := digits(p.token(), least, 2)
	if !ok {
		return 0, false
	}
	second := 0
	if p.separator() {
		if second, ok = digits(p.token(), least, 2); !ok {
			return 0, false
		}
	}
	if hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	return hour*3600 + minute*60 + min(second, 59), true
}

// separator passes over a ":" or "." and the space behind it.
func (p *dateParser) separator() bool {
	if c := p.peek(); c != ':' && c != '.' {
		return false
	}
	p.i++
	if !p.skip() {
		p.bad = true
	}
	return true
}

// digits reads a number of least to most digits and nothing else.
func digits(t []byte, least, most int) (n int, ok bool) {
	if len(t) < least || len(t) > most {
		return 0, false
	}
	for _, c := range t {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// monthOf returns 1 to 12 by the first three letters of t, 0 for none.
func monthOf(t []byte) int {
	if len(t) < 3 {
		return 0
	}
	switch [3]byte{t[0] | 0x20, t[1] | 0x20, t[2] | 0x20} {
	case [3]byte{'j', 'a', 'n'}:
		return 1
	case [3]byte{'f', 'e', 'b'}:
		return 2
	case [3]byte{'m', 'a', 'r'}:
		return 3
	case [3]byte{'a', 'p', 'r'}:
		return 4
	case [3]byte{'m', 'a', 'y'}:
		return 5
	case [3]byte{'j', 'u', 'n'}:
		return 6
	case [3]byte{'j', 'u', 'l'}:
		return 7
	case [3]byte{'a', 'u', 'g'}:
		return 8
	case [3]byte{'s', 'e', 'p'}:
		return 9
	case [3]byte{'o', 'c', 't'}:
		return 10
	case [3]byte{'n', 'o', 'v'}:
		return 11
	case [3]byte{'d', 'e', 'c'}:
		return 12
	}
	return 0
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	switch month {
	case 2:
		if isLeap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// civilDays returns the days from 1970-01-01 to the day given; year >= 1.
func civilDays(year, month, day int) int64 {
	// Years begin in March here, so that the leap day is the last of a year.
	if month <= 2 {
		year--
		month += 12
	}
	return int64(365*year+year/4-year/100+year/400+(153*(month-3)+2)/5+day-1) - 719468
}
