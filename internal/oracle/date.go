package oracle

import (
	"strconv"
	"strings"
	"time"
)

var months = map[string]time.Month{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
	"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}

// RFC 5322 section 4.3, obs-zone, in hours.
var zones = map[string]int{
	"UT": 0, "GMT": 0, "EDT": -4, "EST": -5, "CDT": -5, "CST": -6,
	"MDT": -6, "MST": -7, "PDT": -7, "PST": -8,
}

// parseDate reads [day-of-week ","] day month year [hour ":" minute
// [":" second] [zone]] with CFWS anywhere between (RFC 5322 sections 3.3, 4.3).
// The weekday is not checked; month names count by their first three letters;
// "." may stand for ":".
func (c Compat) parseDate(raw string) (int64, bool) {
	if c == Dovecot {
		return parseDateDovecot(raw)
	}
	p := &scanner{s: raw}
	token := func() string { p.skipCFWS(); a := p.atom(); p.skipCFWS(); return a }

	tok := token()
	if _, digits := number(tok, 1, len(tok)); !digits && tok != "" && p.take(',') {
		tok = token() // that was the weekday
	}
	day, ok := number(tok, 1, 2)
	if !ok || day < 1 {
		return 0, false
	}
	tok = token()
	if len(tok) < 3 {
		return 0, false
	}
	month, ok := months[strings.ToLower(tok[:3])]
	if !ok {
		return 0, false
	}
	tok = token()
	year, ok := number(tok, 2, 4)
	switch {
	case !ok:
		return 0, false
	case len(tok) == 2 && year < 50: // section 4.3
		year += 2000
	case len(tok) < 4: // section 4.3
		year += 1900
	case year < 1900: // section 3.3
		return 0, false
	}
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day {
		return 0, false // there is no such day
	}

	seconds := p.timeOfDay(token)
	return date.Unix() + seconds - zoneSeconds(token()), true
}

// timeOfDay reads hour ":" minute [":" second] into seconds. RFC 5256 section
// 2.2: an invalid time, and so one that is missing, is 00:00:00.
func (p *scanner) timeOfDay(token func() string) int64 {
	hour, ok := number(token(), 1, 2)
	if !ok || !p.take(':') && !p.take('.') {
		return 0
	}
	minute, ok := number(token(), 1, 2)
	if !ok {
		return 0
	}
	second := 0
	if p.take(':') || p.take('.') {
		if second, ok = number(token(), 1, 2); !ok {
			return 0
		}
	}
	if hour > 23 || minute > 59 || second > 60 {
		return 0
	}
	// A leap second stays in its minute: UTC seconds since 1970 have none.
	return int64(hour)*3600 + int64(minute)*60 + int64(min(second, 59))
}

// zoneSeconds: RFC 5256 section 2.2 and RFC 5322 section 4.3 read any zone
// that is not known as UTC, military letters included.
func zoneSeconds(tok string) int64 {
	if len(tok) == 5 && (tok[0] == '+' || tok[0] == '-') {
		hhmm, ok := number(tok[1:], 4, 4)
		if !ok || hhmm%100 > 59 {
			return 0
		}
		seconds := int64(hhmm/100)*3600 + int64(hhmm%100)*60
		if tok[0] == '-' {
			return -seconds
		}
		return seconds
	}
	return int64(zones[strings.ToUpper(tok)]) * 3600
}

// number reads a decimal number of low to high digits.
func number(s string, low, high int) (int, bool) {
	if len(s) < low || len(s) > high || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
