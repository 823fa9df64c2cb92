package linked

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// The state machine of decisions, step by step.
func TestDecisions(t *testing.T) {
	const now, weekOld = 100 * day, 50
	for _, c := range []struct {
		what   string
		from   decision
		high   uint32
		uid    uint32
		random bool
		want   decision
	}{
		{"first use", decideNo, 0, 60, false, decideTemp},
		{"first use, of old mail", decideNo, 0, 49, false, decideYes},
		{"first use, by THREAD", decideNo, 0, 60, true, decideYes},
		{"in ascending order", decideTemp, 60, 61, false, decideTemp},
		{"the same mail again", decideTemp, 60, 60, false, decideTemp},
		{"out of order", decideTemp, 60, 59, false, decideYes},
		{"of old mail", decideTemp, 10, 49, false, decideYes},
		{"the first of the week", decideTemp, 0, 50, false, decideTemp},
		{"yes stays", decideYes, 60, 61, false, decideYes},
		{"never", decideNo | forced, 60, 10, true, decideNo | forced},
		{"always", decideYes | forced, 0, 70, false, decideYes | forced},
	} {
		f := field{decision: c.from, high: c.high, lastUsed: now}
		if f.use(c.uid, weekOld, now, c.random); f.decision != c.want {
			t.Errorf("%s: %v, want %v", c.what, f.decision, c.want)
		}
	}
	// The last use is noted once a day: reading must not write each time.
	f := field{decision: decideYes, lastUsed: now}
	if f.use(60, weekOld, now+day-1, false) || !f.use(60, weekOld, now+day, false) || f.lastUsed != now+day {
		t.Error("last use")
	}
}

func TestAge(t *testing.T) {
	const now, after = 1000 * day, 30 * day
	for _, c := range []struct {
		what   string
		from   decision
		unused int
		want   decision
		due    bool
	}{
		{"in use", decideYes, 0, decideYes, false},
		{"a month", decideYes, 30, decideYes, false},
		{"longer", decideYes, 31, decideTemp, true},
		{"two months", decideYes, 61, decideNo, true},
		{"temp for a month", decideTemp, 31, decideTemp, false},
		{"temp for two", decideTemp, 61, decideNo, true},
		{"always", decideYes | forced, 500, decideYes | forced, false},
		{"nobody's", decideNo, 500, decideNo, false},
	} {
		f := field{decision: c.from, lastUsed: uint32(now - c.unused*day)}
		if got, due := f.age(now, after); got != c.want || due != c.due {
			t.Errorf("%s: %v, due %v, want %v, %v", c.what, got, due, c.want, c.due)
		}
	}
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func join(s ...string) string { return strings.ReplaceAll(strings.Join(s, ""), " ", "") }

// The registry's bytes, as the package comment has them.
func TestRegistryBytes(t *testing.T) {
	fields := []field{newField(fieldSent), newField("hdr.subject")}
	fields[0].decision, fields[0].lastUsed = decideYes, 0x01020304
	fields[1].decision = decideTemp | forced
	b := encodeRegistry(fields)
	want := join("00000000 38000000 02000000", // next, size, fields
		"04030201 00000000", // last used
		"08000000 ffffffff", // sizes
		"00 04", "02 81",    // types, decisions
		hexOf([]byte("date.sent\x00hdr.subject\x00")), "0000")
	if hexOf(b) != want {
		t.Errorf("got  %x\nwant %s", b, want)
	}
	got, next, ok := decodeRegistry(b)
	if !ok || next != 0 || !slices.Equal(got, fields) {
		t.Errorf("read back: %v %v %v", got, next, ok)
	}
	for n := range b {
		if _, _, ok := decodeRegistry(b[:n]); ok {
			t.Errorf("cut at %d: read", n)
		}
	}
}

// A chain of two records: what the newer one has counts.
func TestChainBytes(t *testing.T) {
	c := &cache{ids: map[string]int{}, seq: 7, first: cacheHeader}
	sent, subject, to := c.add(newField(fieldSent)), c.add(newField("hdr.subject")), c.add(newField("hdr.to"))
	header := []byte("Received: x\r\nSubject: a\r\n b\r\n\r\n")
	lines := appendLines(nil, header, len("Received: x\r\nSubject:"), len("Received: x\r\nSubject: a\r\n b"))
	if want := join("02000000 00000000", hexOf([]byte("Subject: a\n b\n"))); hexOf(lines) != want {
		t.Errorf("lines %x, want %s", lines, want)
	}
	if v := headerValue(lines); string(v) != " a\n b" {
		t.Errorf("value %q", v)
	}
	if headerValue(nil) != nil {
		t.Error("a field that is not there has a value")
	}
	record := func(prev uint32, body []byte) (off uint32) {
		off = uint32(len(c.data))
		c.data = le.AppendUint32(c.data, prev)
		c.data = le.AppendUint32(c.data, uint32(len(body)+recordHead))
		c.data = append(c.data, body...)
		return off
	}
	c.data = append(c.header(0x11223344), encodeRegistry(nil)...)
	first := record(0, c.appendField(c.appendField(nil, subject, lines, false), to, nil, false))
	second := record(first, c.appendField(nil, sent, le.AppendUint64(nil, 99), false))
	want := join("01080100 44332211 07000000 00000000 00000000 00000000 00000000 20000000", // header
		"00000000 0c000000 00000000",              // registry without fields
		"00000000 30000000",                       // first record
		"01000000 16000000", hexOf(lines), "0000", // subject
		"02000000 00000000",                           // no To
		"2c000000 14000000 00000000 6300000000000000") // second record
	if hexOf(c.data) != want {
		t.Errorf("got  %x\nwant %s", c.data, want)
	}
	out, n := make([][]byte, 3), counts{}
	found, ok := c.lookup(second, []int8{0, 1, 2}, out, 3, &n)
	if !ok || found != 3 || le.Uint64(out[0]) != 99 || string(out[1]) != string(lines) || out[2] == nil || len(out[2]) != 0 || n.records != 2 {
		t.Errorf("lookup: %d %v %q %+v", found, ok, out, n)
	}
	// A chain that leads up, out of the file or into itself ends.
	for _, prev := range []uint32{second, second + 4, 1 << 31, 4, first + 1} {
		le.PutUint32(c.data[second:], prev)
		clear(out)
		if _, ok := c.lookup(second, []int8{0, 1, 2}, out, 3, &n); ok {
			t.Errorf("a chain to %d was followed", prev)
		}
	}
}

func TestFindHeader(t *testing.T) {
	h := []byte("X-A: 1\nno colon\n folded\nx-b \t: two\r\n more\r\nX-B: three\nX-E:\n\nX-C: body\n")
	for name, want := range map[string]string{"x-a": " 1", "x-b": " two\r\n more", "x-e": "", "x-c": "-", "x": "-", "no colon": "-"} {
		off, end, ok := findHeader(h, name)
		if got := "-"; ok {
			if got = string(h[off:end]); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		} else if want != got {
			t.Errorf("%s: not found", name)
		}
	}
}
