package mbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	dated  = "From a@x.example Mon Jan  1 00:00:00 2024\n"
	dated2 = "From b@x.example Tue Jan  2 00:00:00 2024\n"
)

// split scans and checks that no byte is lost.
func split(t testing.TB, b []byte, d Dialect) ([]Message, Problems, error) {
	t.Helper()
	var ms []Message
	problems, err := Scan(b, d, func(m Message) bool { ms = append(ms, m); return true })
	if bad := lost(b, ms); bad != "" {
		t.Fatalf("%s: %s in %q", d, bad, clip(b))
	}
	return ms, problems, err
}

// lost says which bytes are neither a message, nor a separator of one line at
// most, nor before the first message. "" = none.
func lost(b []byte, ms []Message) string {
	for i, m := range ms {
		next := int64(len(b))
		if i+1 < len(ms) {
			next = ms[i+1].Off
		}
		if m.Off < 0 || m.BodyOff < m.Off+5 || m.End < m.BodyOff || next < m.End {
			return fmt.Sprintf("message %d is at %d %d %d %d", i, m.Off, m.BodyOff, m.End, next)
		}
		if !strings.HasPrefix(string(b[m.Off:m.BodyOff]), "From ") {
			return fmt.Sprintf("message %d begins with %q", i, b[m.Off:m.BodyOff])
		}
		switch sep := string(b[m.End:next]); sep {
		case "", "\n", "\r\n":
		default:
			return fmt.Sprintf("after message %d: %q", i, sep)
		}
		if m.SenderLen < 0 || int64(m.SenderOff+m.SenderLen) > m.BodyOff-m.Off {
			return fmt.Sprintf("sender of message %d at %d, %d", i, m.SenderOff, m.SenderLen)
		}
	}
	return ""
}

func clip(b []byte) []byte { return b[:min(len(b), 400)] }

func TestScan(t *testing.T) {
	const h, h2 = "Subject: 1\n", "Subject: 2\n"
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	tests := []struct {
		name     string
		d        Dialect
		in       string
		want     []string // stored bytes
		problems []Kind
	}{
		{"empty", MboxRD, "", nil, nil},
		{"one", MboxRD, dated + h + "\nx\n\n", []string{h + "\nx\n"}, nil},
		{"two", MboxRD, dated + h + "\nx\n\n" + dated2 + h2 + "\ny\n\n", []string{h + "\nx\n", h2 + "\ny\n"}, nil},
		{"crlf", MboxRD, crlf(dated + h + "\nx\n\n" + dated2 + h2 + "\ny\n\n"), []string{crlf(h + "\nx\n"), crlf(h2 + "\ny\n")}, nil},
		{"more empty lines belong to the message", MboxRD, dated + h + "\nx\n\n\n" + dated2 + h2, []string{h + "\nx\n\n", h2}, nil},
		{"no newline at the end", MboxRD, dated + h + "\nx", []string{h + "\nx"}, []Kind{NoNewline}},
		{"From_ line only", MboxRD, strings.TrimSpace(dated), []string{""}, []Kind{NoNewline}},
		{"no header", MboxRD, dated + "\n" + dated2 + "\nbody\n", []string{"", "\nbody\n"}, nil},
		{"no empty line", MboxRD, dated + h + "\nx\n" + dated2 + h2 + "\ny\n", []string{h + "\nx\n", h2 + "\ny\n"}, []Kind{NoBlankLine}},
		{"no empty line, no header", MboxRD, dated + h + "\nx\n" + dated2 + "so he wrote\n", []string{h + "\nx\n" + dated2 + "so he wrote\n"}, nil},
		{"prose", MboxRD, dated + h + "\nx\n\nFrom the office we write\nSubject: none\n", []string{h + "\nx\n\nFrom the office we write\nSubject: none\n"}, nil},
		{"date and more", MboxRD, dated + h + "\n\n" + strings.TrimSpace(dated2) + " he wrote\n\nx\n", []string{h + "\n\n" + strings.TrimSpace(dated2) + " he wrote\n\nx\n"}, nil},
		{"date and more, header", MboxRD, dated + h + "\n\n" + strings.TrimSpace(dated2) + " by x\n" + h2, []string{h + "\n", h2}, nil},
		{"bare From", MboxRD, "From \n" + h + "\nx\n\nFrom \n" + h2 + "\n\nFrom \nx\n", []string{h + "\nx\n", h2 + "\n\nFrom \nx\n"}, []Kind{Undated, Undated}},
		{"undated writer", MboxRD, "From me\n" + h + "\nx\n\nFrom you\n" + h2 + "\n\nFrom x\nx\n", []string{h + "\nx\n", h2 + "\n\nFrom x\nx\n"}, []Kind{Undated, Undated}},
		{"pipermail", MboxRD, "From user at host  Mon Jan  1 00:00:00 2024\n" + h, []string{h}, nil},
		{"garbage first", MboxRD, "junk\nmore\n\n" + dated + h, []string{h}, []Kind{Garbage}},
		{"empty lines first", MboxRD, "\n\r\n" + dated + h, []string{h}, []Kind{Garbage}},
		{"byte order mark", MboxRD, "\xef\xbb\xbf" + dated + h, []string{h}, nil},
		{"long From_ line", MboxRD, dated + h + "\n\nFrom " + strings.Repeat("x ", 600) + dated2[5:] + h2, []string{h + "\n\nFrom " + strings.Repeat("x ", 600) + dated2[5:] + h2}, nil},
		{"length", MboxCL2, dated + "Content-Length: 48\n\n\n" + dated2 + "a: b\n\n" + dated2 + h2, []string{"Content-Length: 48\n\n\n" + dated2 + "a: b\n", h2}, nil},
		{"length to the end", MboxCL, dated + "content-length : 2\n\nx\n", []string{"content-length : 2\n\nx\n"}, nil},
		{"length without separator", MboxCL, dated + "Content-Length: 3\n\nx\n\n" + dated2 + h2, []string{"Content-Length: 3\n\nx\n\n", h2}, nil},
		{"length of a line without end", MboxCL2, dated + "Content-Length: 1\n\nx\n" + dated2 + h2, []string{"Content-Length: 1\n\nx", h2}, nil},
		{"length too short", MboxCL, dated + "Content-Length: 1\n\nxyz\n\n" + dated2 + h2, []string{"Content-Length: 1\n\nxyz\n", h2}, []Kind{ContentLength}},
		{"length into a line", MboxCL, dated + "Content-Length: 1\n\nx" + dated2 + h2, []string{"Content-Length: 1\n\nx" + dated2 + h2}, []Kind{ContentLength}},
		{"length beyond the end", MboxCL, dated + "Content-Length: 999999999999999999\n\nx\n\n" + dated2 + h2, []string{"Content-Length: 999999999999999999\n\nx\n", h2}, []Kind{ContentLength}},
		{"length twice", MboxCL2, dated + "Content-Length: 2\nContent-Length: 2\n\nx\n\n" + dated2 + h2, []string{"Content-Length: 2\nContent-Length: 2\n\nx\n", h2}, []Kind{ContentLength}},
		{"length in mboxrd", MboxRD, dated + "Content-Length: 45\n\n\n" + dated2 + h2, []string{"Content-Length: 45\n\n", h2}, nil},
		{"another field", MboxCL2, dated + "Content-Lengthy: 9\n" + h + "\nx\n", []string{"Content-Lengthy: 9\n" + h + "\nx\n"}, nil},
	}
	for _, test := range tests {
		ms, problems, err := split(t, []byte(test.in), test.d)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, m := range ms {
			got = append(got, test.in[m.BodyOff:m.End])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
		var kinds []Kind
		for _, p := range problems.List {
			kinds = append(kinds, p.Kind)
		}
		if !slices.Equal(kinds, test.problems) {
			t.Errorf("%s: problems %v, want %v", test.name, kinds, test.problems)
		}
	}
}

func TestScan_nothingThere(t *testing.T) {
	for _, in := range []string{"x", "Subject: x\n\nFrom me to you\n", "From here on\nno mail\n", "F", "From", "From ", "\xef\xbb\xbf"} {
		ms, _, err := split(t, []byte(in), MboxRD)
		if !errors.Is(err, ErrNoMessages) || len(ms) > 0 {
			t.Errorf("%q: %d messages, %v; want ErrNoMessages", in, len(ms), err)
		}
	}
}

func TestScan_stops(t *testing.T) {
	n := 0
	_, err := Scan([]byte(strings.Repeat(dated+"\n", 3)), MboxRD, func(Message) bool { n++; return n < 2 })
	if n != 2 || err != nil {
		t.Errorf("%d calls, %v", n, err)
	}
}

// Linear time: 4 MB each of what looks almost like separators. A quadratic
// case would run into the test's time limit.
func TestScan_hostile(t *testing.T) {
	for _, line := range []string{
		"F", "From", "From ", "\nFrom ", "\n\nFrom x\n", "\n>From ", ">", "\nFrom a Mon Jan  1 00:00:00 2024",
		"\n" + dated, "\nFrom \n", dated + "Content-Length: 7\n", dated + "Content-Length: 9\n\n", dated + "a:b\n",
		"\nFrom " + strings.Repeat("jan ", 250), "\n\nFrom \n" + strings.Repeat("x", 250), "\r\n",
	} {
		b := []byte(dated + strings.Repeat(line, 4_000_000/len(line)))
		for d := MboxRD; d <= MboxCL2; d++ {
			problems, _ := Scan(b, d, func(Message) bool { return true })
			if len(problems.List) > maxProblems {
				t.Fatalf("%d problems kept", len(problems.List))
			}
		}
	}
}

func TestScan_doesNotAllocate(t *testing.T) {
	b := listMail(300)
	for d := MboxRD; d <= MboxCL2; d++ {
		n := 0
		if allocs := testing.AllocsPerRun(10, func() {
			Scan(b, d, func(Message) bool { n++; return true })
		}); allocs > 1 {
			t.Errorf("%s: %v allocations", d, allocs)
		}
	}
}

func TestScan_sender(t *testing.T) {
	in := []byte("From  user at host Mon Jan  1 00:00:00 2024\na: b\n")
	ms, _, _ := split(t, in, MboxRD)
	m := ms[0]
	if got := string(in[m.Off+int64(m.SenderOff):][:m.SenderLen]); got != "user at host" {
		t.Errorf("sender %q", got)
	}
	if !m.DateOK || m.Date != time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Unix() {
		t.Errorf("date %d %v", m.Date, m.DateOK)
	}
}

func TestQuote(t *testing.T) {
	tests := []struct{ plain, quoted string }{
		{"", ""},
		{"From ", ">From "},
		{">From x", ">>From x"},
		{"x\nFrom y\n>>From z\nFrom", "x\n>From y\n>>>From z\nFrom"},
		{" From x\nxFrom y\n> From z\nFromage\n", " From x\nxFrom y\n> From z\nFromage\n"},
		{"FFrom x\nFrom From \n\nFrom \r\n", "FFrom x\n>From From \n\n>From \r\n"},
	}
	for _, test := range tests {
		if got := string(Quote(nil, []byte(test.plain))); got != test.quoted {
			t.Errorf("Quote(%q) = %q, want %q", test.plain, got, test.quoted)
		}
		if got := string(Unquote(nil, []byte(test.quoted), MboxRD)); got != test.plain {
			t.Errorf("Unquote(%q) = %q, want %q", test.quoted, got, test.plain)
		}
		for _, d := range []Dialect{MboxO, MboxCL, MboxCL2} {
			if got := string(Unquote(nil, []byte(test.quoted), d)); got != test.quoted {
				t.Errorf("%s: Unquote(%q) = %q", d, test.quoted, got)
			}
		}
	}
}

func TestParseDialect(t *testing.T) {
	for d := MboxRD; d <= MboxCL2; d++ {
		if got, err := ParseDialect(d.String()); got != d || err != nil {
			t.Errorf("%s: %s, %v", d, got, err)
		}
	}
	if _, err := ParseDialect("mh"); err == nil {
		t.Error("mh is a dialect")
	}
}
