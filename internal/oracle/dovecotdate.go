package oracle

import (
	"strings"
	"time"
)

// parseDateDovecot is the compat reading of a Date, where Dovecot is stricter
// or otherwise than RFC 5322:
// the weekday has three letters and a comma; a year has two digits (pivot 70)
// or four; minutes and seconds have two digits; a missing time is no date;
// zones are counted out as they stand, military letters included.
func parseDateDovecot(raw string) (int64, bool) {
	p := &scanner{s: raw}
	// A token that cannot be read fails the date, except the zone; so does a
	// comment without end.
	broken := false
	token := func() string {
		a := p.atom()
		if a == "" && p.s != "" || !p.skipCFWS() {
			broken = true
		}
		return a
	}
	if !p.skipCFWS() && p.s == "" {
		return 0, false
	}
	tok := token()
	if len(tok) == 3 {
		if !p.take(',') {
			return 0, false
		}
		p.skipCFWS()
		tok = token()
	}
	day, ok := number(tok, 1, 2)
	if !ok {
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
	case !ok || len(tok) == 3:
		return 0, false
	case len(tok) == 2 && year < 70:
		year += 2000
	case len(tok) == 2:
		year += 1900
	case year < 1900:
		return 0, false
	}
	hour, ok := number(token(), 1, 2)
	if !ok || !p.take(':') && !p.take('.') {
		return 0, false
	}
	p.skipCFWS()
	minute, ok := number(token(), 2, 2)
	if !ok {
		return 0, false
	}
	second := 0
	if p.take(':') || p.take('.') {
		p.skipCFWS()
		if second, ok = number(token(), 2, 2); !ok {
			return 0, false
		}
	}
	if broken {
		return 0, false
	}
	zone := token()
	if broken {
		return 0, false
	}
	t := time.Date(year, month, day, hour, minute, min(second, 59), 0, time.UTC)
	if t.Day() != day || hour > 23 || minute > 59 || second > 60 || t.Unix() == -1 {
		return 0, false
	}
	return t.Unix() - dovecotZone(zone)*60, true
}

// dovecotZone returns minutes east of UTC.
func dovecotZone(z string) int64 {
	switch {
	case len(z) == 5 && (z[0] == '+' || z[0] == '-'):
		hhmm, ok := number(z[1:], 4, 4)
		if !ok {
			return 0
		}
		minutes := int64(hhmm/100*60 + hhmm%100)
		if z[0] == '-' {
			return -minutes
		}
		return minutes
	case len(z) == 1: // military zones the way the military means them
		c := int64(strings.ToUpper(z)[0])
		switch {
		case c < 'J':
			return (int64(z[0]) - 'A' + 1) * 60
		case c == 'J':
			return 0
		case c <= 'M':
			return (int64(z[0]) - 'A') * 60
		case c < 'Z':
			return ('M' - int64(z[0])) * 60
		}
	case len(z) == 3 && z[2] == 'T' && (z[1]|0x20 == 's' || z[1]|0x20 == 'd'):
		return int64(zones[strings.ToUpper(z)]) * 60
	}
	return 0
}
