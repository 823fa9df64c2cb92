package corpus

var (
	dayNames   = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	monthNames = [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
)

// civil is a date of the proleptic Gregorian calendar and a time of day.
type civil struct{ year, month, day, hour, min, sec, weekday int }

// civilOf splits unix seconds (Hinnant's days_from_civil, inverted); for years
// after 1 March 0000.
func civilOf(unix int64) civil {
	days := unix / 86400
	rest := unix % 86400
	if rest < 0 {
		rest += 86400
		days--
	}
	z := days + 719468
	era := z / 146097
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	c := civil{day: int(doy - (153*mp+2)/5 + 1), hour: int(rest / 3600), min: int(rest / 60 % 60), sec: int(rest % 60)}
	if c.month = int(mp) + 3; c.month > 12 {
		c.month -= 12
	}
	c.year = int(yoe + era*400)
	if c.month <= 2 {
		c.year++
	}
	c.weekday = int((days%7 + 11) % 7) // 1 January 1970 was a Thursday
	return c
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10%10), byte('0'+n%10)) }

func append4(dst []byte, n int) []byte { return append2(append2(dst, n/100), n%100) }

func appendTime(dst []byte, c civil) []byte {
	dst = append(append2(dst, c.hour), ':')
	dst = append(append2(dst, c.min), ':')
	return append2(dst, c.sec)
}

// dateForm is how a Date field is written.
type dateForm uint8

const (
	dateUsual     dateForm = iota // Mon, 5 May 2003 12:34:56 +0200
	dateTwoDigits                 // Mon, 05 May 2003 12:34:56 +0200
	dateComment                   // Mon, 5 May 2003 12:34:56 +0200 (LOC)
	dateNoDay                     // 5 May 2003 12:34:56 +0200
	dateNoSeconds                 // Mon, 5 May 2003 12:34 +0200
	dateObsZone                   // Mon, 5 May 2003 12:34:56 EST, zones of RFC 5322 section 4.3
	dateObsYear                   // Mon, 5 May 03 12:34:56 +0200
	dateUnknown                   // Mon, 5 May 2003 12:34:56 -0000
	dateBad                       // nothing that RFC 5322 could read
	dateNone                      // no Date field
)

var obsZones = []struct {
	name    string
	minutes int
}{{"GMT", 0}, {"UT", 0}, {"EST", -300}, {"EDT", -240}, {"CST", -360}, {"CDT", -300}, {"MST", -420}, {"MDT", -360}, {"PST", -480}, {"PDT", -420}}

var badDates = []string{"yesterday afternoon", "Fri, 32 Foo 2003 25:61:61 +0000", "", "(none)"}

// appendDate writes the value of a Date field. zone is in minutes east, or for
// dateObsZone and dateBad an index.
func appendDate(dst []byte, unix int64, form dateForm, zone int) []byte {
	if form == dateBad {
		return append(dst, badDates[zone%len(badDates)]...)
	}
	name := ""
	switch form {
	case dateObsZone:
		z := obsZones[zone%len(obsZones)]
		name, zone = z.name, z.minutes
	case dateUnknown:
		name, zone = "-0000", 0
	}
	c := civilOf(unix + int64(zone)*60)
	if form != dateNoDay {
		dst = append(append(dst, dayNames[c.weekday]...), ", "...)
	}
	if c.day < 10 && form != dateTwoDigits {
		dst = append(dst, byte('0'+c.day))
	} else {
		dst = append2(dst, c.day)
	}
	dst = append(append(append(dst, ' '), monthNames[c.month-1]...), ' ')
	if form == dateObsYear {
		dst = append2(dst, c.year%100)
	} else {
		dst = append4(dst, c.year)
	}
	dst = append(dst, ' ')
	if form == dateNoSeconds {
		dst = append2(append(append2(dst, c.hour), ':'), c.min)
	} else {
		dst = appendTime(dst, c)
	}
	dst = append(dst, ' ')
	if name != "" {
		return append(dst, name...)
	}
	dst = appendZone(dst, zone)
	if form == dateComment {
		dst = append(dst, " (LOC)"...)
	}
	return dst
}

func appendZone(dst []byte, minutes int) []byte {
	sign := byte('+')
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return append2(append2(append(dst, sign), minutes/60), minutes%60)
}

// appendCtime writes the date of an mbox From_ line, in UTC.
func appendCtime(dst []byte, unix int64) []byte {
	c := civilOf(unix)
	dst = append(append(dst, dayNames[c.weekday]...), ' ')
	dst = append(append(dst, monthNames[c.month-1]...), ' ')
	if c.day < 10 {
		dst = append(dst, ' ', byte('0'+c.day))
	} else {
		dst = append2(dst, c.day)
	}
	dst = append(appendTime(append(dst, ' '), c), ' ')
	return append4(dst, c.year)
}
