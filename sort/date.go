package sort

import "mailbench/internal/rfc5322"

// SentDate returns the sent date of RFC 5256 section 2.2 in seconds since 1970
// UTC: the Date field, zone applied, or INTERNALDATE when it is absent or
// cannot be read.
func SentDate(dateRaw []byte, internal int64) (unix int64, fromHeader bool) {
	return RFC.SentDate(dateRaw, internal)
}

// SentDate is the function of that name, as c wants it. To Dovecot the second 0
// is no date.
func (c Compat) SentDate(dateRaw []byte, internal int64) (unix int64, fromHeader bool) {
	if t, ok := rfc5322.ParseDateCompat(dateRaw, c.header()); ok && (t != 0 || c != Dovecot) {
		return t, true
	}
	return internal, false
}

// FromInt64 maps signed times to column values in the same order.
func FromInt64(t int64) uint64 { return uint64(t) ^ 1<<63 }
