package sort

import (
	"strings"
	"testing"
)

func TestAddressKey(t *testing.T) {
	for _, c := range []struct{ in, key, display string }{
		{"", "", ""},
		{" \n ", "", ""},
		{"sloe@quince.example", "SLOE", "SLOE@QUINCE.EXAMPLE"},
		{"Damson Plum <sloe@quince.example>, x@y", "SLOE", "DAMSON PLUM"},
		{"\"Plum, D.\" <Sloe.X@quince.example>", "SLOE.X", "PLUM, D."},
		{"=?utf-8?q?caf=C3=A9?= <sloe@quince.example>", "SLOE", "CAFE\u0301"},
		{"sloe@quince.example (Damson)", "SLOE", "DAMSON"},
		{"jams: a@x, b@x;", "JAMS", "JAMS"},
		{"sloe at quince.example (Damson)", "MISSING_MAILBOX", ""},
		{"<>", "MISSING_MAILBOX", ""},
		{"caf\u00e9@x", "CAFE\u0301", "CAFE\u0301@X"},
	} {
		if got := string(AddressKey([]byte("pre"), []byte(c.in))); got != "pre"+c.key {
			t.Errorf("AddressKey(%q) appended gives %q, want %q", c.in, got, "pre"+c.key)
		}
		if c.display == "" && c.key != "" {
			continue // malformed: whatever can be shown
		}
		if got := string(DisplayKey([]byte("pre"), []byte(c.in))); got != "pre"+c.display {
			t.Errorf("DisplayKey(%q) appended gives %q, want %q", c.in, got, "pre"+c.display)
		}
	}
}

func TestSentDate(t *testing.T) {
	for _, c := range []struct {
		in           string
		rfc, dovecot int64
		ok           bool
	}{
		{"Thu, 01 Jan 1970 01:00:05 +0100", 5, 5, true},
		{"", 77, 77, false},
		{"when the quinces are ripe", 77, 77, false},
		{"Thu, 01 Jan 1970 00:00:00 +0000", 0, 77, true},
	} {
		if got, ok := SentDate([]byte(c.in), 77); got != c.rfc || ok != c.ok {
			t.Errorf("SentDate(%q) = %d, %v", c.in, got, ok)
		}
		if got, _ := Dovecot.SentDate([]byte(c.in), 77); got != c.dovecot {
			t.Errorf("Dovecot.SentDate(%q) = %d", c.in, got)
		}
	}
	if a, b := FromInt64(-5), FromInt64(3); a >= b {
		t.Errorf("FromInt64 turns the order round: %d, %d", a, b)
	}
}

func TestKeyAllocs(t *testing.T) {
	from, date := []byte("Damson Plum <sloe@quince.example>"), []byte("Thu, 01 Jan 1970 01:00:05 +0100")
	dst := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		AddressKey(dst, from)
		DisplayKey(dst, from)
		SentDate(date, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	AddressKey(nil, []byte(strings.Repeat("(", 1<<20)))
}
