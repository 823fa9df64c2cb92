package mbox

import (
	"testing"
	"time"
)

func TestParseFrom(t *testing.T) {
	const want = 1704164645 // 2024-01-02 03:04:05 UTC
	tests := []struct {
		in     string // after "From "
		class  fromClass
		sender string
		unix   int64
	}{
		{"a@x.example Tue Jan  2 03:04:05 2024", fromDated, "a@x.example", want},
		{"a@x.example  Tue Jan 02 03:04:05 2024  ", fromDated, "a@x.example", want},
		{"a@x.example\tTue Jan\t2 03:04:05 2024", fromDated, "a@x.example", want},
		{"- tue jan 2 3:04:05 2024", fromDated, "-", want},
		{"user at host Tue Jan  2 03:04:05 2024", fromDated, "user at host", want},
		{"\"Mon Jan\"@x Tue Jan  2 03:04:05 2024", fromDated, "\"Mon Jan\"@x", want},
		{" Tue Jan  2 03:04:05 2024", fromDated, "", want},
		{"a@x Tue Jan  2 03:04 2024", fromDated, "a@x", want - 5},
		{"a@x Jan  2 03:04:05 2024", fromDated, "a@x", want},
		{"a@x Tue, 2 Jan 2024 03:04:05", fromDated, "a@x", want},
		{"a@x Tue, 2 Jan 2024 03:04:05 +0100", fromDated, "a@x", want - 3600},
		{"a@x 02 Jan 24 03:04:05", fromDated, "a@x", want},
		{"a@x Tue Jan  2 03:04:05 +0000 2024", fromDated, "a@x", want},
		{"a@x Tue Jan  2 03:04:05 -0130 2024", fromDated, "a@x", want + 5400},
		{"a@x Tue Jan  2 03:04:05 EST 2024", fromDated, "a@x", want + 5*3600},
		{"a@x Tue Jan  2 03:04:05 MET DST 2024", fromDated, "a@x", want - 2*3600},
		{"a@x Tue Jan  2 03:04:05 2024 -0500", fromDated, "a@x", want + 5*3600},
		{"a!b Tue Jan  2 03:04:05 2024 remote from c", fromDated, "a!b", want},
		{"a@x Tue Jan  2 03:04:05 24", fromDated, "a@x", want},
		{"a@x Sat Jan  2 03:04:05 94", fromDated, "a@x", 757479845},
		{"a@x Thu Jan  1 00:00:00 1970", fromDated, "a@x", 0},
		{"a@x Wed Dec 31 23:59:59 1969", fromDated, "a@x", -1},
		{"a@x Tue Jan  2 03:04:05 2024 he wrote", fromTrailing, "a@x", want},
		{"", fromBare, "", 0},
		{"   ", fromBare, "", 0},
		{"the office we write.", fromUndated, "the office we write.", 0},
		{"a@x.example", fromUndated, "a@x.example", 0},
		{"Monday to Friday at 10:00 in 2024", fromUndated, "Monday to Friday at 10:00 in 2024", 0},
		{"a@x Tue Jan 32 03:04:05 2024", fromUndated, "a@x Tue Jan 32 03:04:05 2024", 0},
		{"a@x Tue Jan  2 25:04:05 2024", fromUndated, "a@x Tue Jan  2 25:04:05 2024", 0},
		{"a@x Tue Jan  2 03:60:05 2024", fromUndated, "a@x Tue Jan  2 03:60:05 2024", 0},
		{"a@x Tue Jan  2 03:04:05", fromUndated, "a@x Tue Jan  2 03:04:05", 0},
		{"a@x Tue Jan  2 03:04:05 124", fromUndated, "a@x Tue Jan  2 03:04:05 124", 0},
		{"a@x Tue 2", fromUndated, "a@x Tue 2", 0},
		{"a@x Jan", fromUndated, "a@x Jan", 0},
	}
	for _, test := range tests {
		f := parseFrom([]byte(test.in))
		sender := test.in[f.senderOff:f.senderEnd]
		if f.class != test.class || sender != test.sender || f.unix != test.unix {
			t.Errorf("parseFrom(%q) = class %d, sender %q, %d; want %d, %q, %d",
				test.in, f.class, sender, f.unix, test.class, test.sender, test.unix)
		}
	}
}

// Each day of 800 years against package time.
func TestDaysFromCivil(t *testing.T) {
	for day := time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2400; day = day.AddDate(0, 0, 1) {
		if got := daysFromCivil(day.Year(), int(day.Month()), day.Day()); got*86400 != day.Unix() {
			t.Fatalf("daysFromCivil(%s) = %d", day.Format(time.DateOnly), got)
		}
	}
}
