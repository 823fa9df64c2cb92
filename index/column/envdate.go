package column

import (
	"bytes"
	"time"
)

// Most Date fields are one of these layouts and some white space or comment
// behind; with the sent date, which has a column of its own, the zone and the
// number of the layout give the bytes again.
var dateLayouts = [...]string{
	"Mon, 2 Jan 2006 15:04:05 -0700",
	"Mon, 02 Jan 2006 15:04:05 -0700",
	"Mon, _2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04:05 -0700",
}

// dateCode returns a code (above 0) for raw, a Date field that says unix, and
// what stands behind the date; 0 when raw has to be kept as it is. buf is
// scratch. No allocation with a warm buf.
func dateCode(raw []byte, unix int64, buf []byte) (code uint64, rest, scratch []byte) {
	i := bytes.IndexAny(raw, "+-")
	if i < 0 || len(raw) < i+5 {
		return 0, raw, buf
	}
	zone := 0
	for _, d := range raw[i+1 : i+5] {
		if d < '0' || d > '9' {
			return 0, raw, buf
		}
		zone = 10*zone + int(d-'0')
	}
	zone = zone/100*60 + zone%100
	if raw[i] == '-' {
		zone = -zone
	}
	t := time.Unix(unix, 0).UTC().Add(time.Duration(zone) * time.Minute) // a FixedZone would allocate
	for k, layout := range dateLayouts {
		buf = t.AppendFormat(buf[:0], layout[:len(layout)-5])
		buf = appendZone(buf, zone)
		if bytes.HasPrefix(raw, buf) {
			return 1 + zigzag(int64(zone))*uint64(len(dateLayouts)) + uint64(k), raw[len(buf):], buf
		}
	}
	return 0, raw, buf
}

// appendDate undoes dateCode.
func appendDate(dst []byte, code uint64, unix int64) []byte {
	if code == 0 {
		return dst
	}
	code--
	layout := dateLayouts[code%uint64(len(dateLayouts))]
	zone := int(unzigzag(code / uint64(len(dateLayouts))))
	t := time.Unix(unix, 0).UTC().Add(time.Duration(zone) * time.Minute)
	return appendZone(t.AppendFormat(dst, layout[:len(layout)-5]), zone)
}

func appendZone(b []byte, minutes int) []byte {
	sign := byte('+')
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	h, m := minutes/60, minutes%60
	return append(b, sign, byte('0'+h/10%10), byte('0'+h%10), byte('0'+m/10), byte('0'+m%10))
}
