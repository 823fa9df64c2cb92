package rfc5322

// zone returns the offset of an RFC 5322 zone in minutes east; what is no zone
// is UTC (RFC 5256 2.2).
func zone(t []byte) (minutes int) {
	if h, m, ok := numericZone(t); ok {
		switch {
		case m > 59: // RFC 5322 3.3: the last two digits are 00 to 59
			return 0
		case t[0] == '-':
			return -(h*60 + m)
		}
		return h*60 + m
	}
	// UT, GMT and Z are UTC, and so is a letter of the military (RFC 5322
	// 4.3: their sense was lost to an error in RFC 822).
	if len(t) != 3 || t[2]|0x20 != 't' {
		return 0
	}
	return americanZone(t[0], t[1])
}

// americanZone knows EST, EDT, CST, CDT, MST, MDT, PST, PDT (RFC 5322 4.3) by
// their first two letters, in any case; 0 for others.
func americanZone(region, season byte) (minutes int) {
	switch region | 0x20 {
	case 'e':
		minutes = -5 * 60
	case 'c':
		minutes = -6 * 60
	case 'm':
		minutes = -7 * 60
	case 'p':
		minutes = -8 * 60
	default:
		return 0
	}
	switch season | 0x20 {
	case 's':
		return minutes
	case 'd':
		return minutes + 60
	}
	return 0
}

// numericZone reads "+hhmm" and "-hhmm".
func numericZone(t []byte) (h, m int, ok bool) {
	if len(t) != 5 || t[0] != '+' && t[0] != '-' {
		return 0, 0, false
	}
	n, ok := digits(t[1:], 4, 4)
	return n / 100, n % 100, ok
}

// dovecotZone returns the minutes east that Dovecot reads in t.
func dovecotZone(t []byte) int {
	if h, m, ok := numericZone(t); ok {
		if t[0] == '-' {
			return -(h*60 + m)
		}
		return h*60 + m
	}
	switch len(t) {
	case 1:
		// Any byte goes through the arithmetic of the military letters; those
		// above 127 compare as negative, and NUL was read as 0x80.
		c := int(t[0])
		if c == 0 {
			c = 0x80
		}
		upper := int(int8(c))
		if upper >= 'a' && upper <= 'z' {
			upper -= 0x20
		}
		switch {
		case upper < 'J':
			return (c - 'A' + 1) * 60
		case upper == 'J':
			return 0
		case upper <= 'M':
			return (c - 'A') * 60
		case upper < 'Z':
			return ('M' - c) * 60
		}
	case 3:
		if t[2] == 'T' {
			return americanZone(t[0], t[1])
		}
	}
	return 0
}
