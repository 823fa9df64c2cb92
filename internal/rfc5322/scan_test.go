package rfc5322

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// naiveScan is the header's definition in the package comment, word for word.
func naiveScan(b []byte) (fields map[string][]string, bodyOff int, complete bool) {
	fields = map[string][]string{}
	var name, value string
	have := false
	end := func() {
		if have {
			fields[name] = append(fields[name], strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "\r"))
			if !strings.HasSuffix(value, "\n") {
				fields[name][len(fields[name])-1] = value
			}
		}
		have = false
	}
	for _, line := range bytes.SplitAfter(b, []byte("\n")) {
		l := string(line)
		if l == "" {
			break
		}
		if l == "\n" || l == "\r\n" {
			end()
			return fields, bodyOff + len(l), true
		}
		bodyOff += len(l)
		if l[0] == ' ' || l[0] == '\t' {
			value += l
			continue
		}
		end()
		if n, v, ok := strings.Cut(l, ":"); ok {
			name, value, have = asciiLower(strings.TrimRight(n, " \t")), v, true
		}
	}
	end()
	return fields, len(b), false
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// checkScan compares Scan, Get, All and HeaderEnd with naiveScan.
func checkScan(t *testing.T, b []byte) {
	t.Helper()
	fields, bodyOff, complete := naiveScan(b)
	var h Header
	if got := Scan(b, MaskAll, &h); got != complete || h.BodyOff != bodyOff {
		t.Fatalf("%q: complete %v, body at %d; want %v, %d", b, got, h.BodyOff, complete, bodyOff)
	}
	if e := HeaderEnd(b, 0); complete && e != bodyOff || !complete && e != -1 {
		t.Fatalf("%q: HeaderEnd %d, want %d, %v", b, e, bodyOff, complete)
	}
	for f := Field(0); f < NumFields; f++ {
		want := fields[asciiLower(f.String())]
		raw := h.Raw(b, f)
		if len(want) == 0 != (raw == nil) || len(want) > 0 && string(raw) != want[0] {
			t.Fatalf("%q: %v %q, want %q", b, f, raw, want)
		}
		if (len(want) > 1) != (h.Warn&WarnDuplicate(f) != 0) {
			t.Fatalf("%q: %v: duplicate warning, but values are %q", b, f, want)
		}
		var all []string
		All(b, f.String(), func(raw []byte) bool { all = append(all, string(raw)); return true })
		if !slices.Equal(all, want) {
			t.Fatalf("%q: All %v %q, want %q", b, f, all, want)
		}
	}
	h.Inspect(b)
	h.Warn.Names()
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     map[Field]string // unfolded
		body     string
		warn     string
	}{
		{"plain", "Subject: one\nFrom: a@x\n\nbody\n", map[Field]string{Subject: "one", From: "a@x"}, "body\n", ""},
		{"crlf", "Subject: one\r\nFrom: a@x\r\n\r\nbody\r\n", map[Field]string{Subject: "one", From: "a@x"}, "body\r\n", ""},
		{"case and obsolete space", "sUBJECT \t: one\nmessage-id:<a@x>\n\n", map[Field]string{Subject: "one", MessageID: "<a@x>"}, "", "space-before-colon"},
		{"folds", "Subject: one\n two\r\n\tthree\nReferences:\n <a@x>\n\t<b@x>\n\n", map[Field]string{Subject: "one two\tthree", References: "<a@x>\t<b@x>"}, "", ""},
		{"blank continuation", "X: y\n \nSubject: one\n\t \n two\n\nb", map[Field]string{Subject: "one\t  two"}, "b", ""},
		{"no colon", "Subject: one\nno field at all\nTo: a@x\n\n", map[Field]string{Subject: "one", To: "a@x"}, "", "no-colon-line"},
		{"from line", "From a@x Mon Jan  1 00:00:00 2024\nSubject: one\n\n", map[Field]string{Subject: "one"}, "", "from-line"},
		{"quoted from line", ">From - Tue Feb 03 04:05:06 2009\nSubject: one\n\n", map[Field]string{Subject: "one"}, "", "from-line"},
		{"from with space is a field", "From : a@x\n\n", map[Field]string{From: "a@x"}, "", "space-before-colon"},
		{"first counts", "Subject: one\nSubject: two\nMessage-ID: <a@x>\nMessage-Id: <b@x>\n\n", map[Field]string{Subject: "one", MessageID: "<a@x>"}, "", "duplicate-subject,duplicate-message-id"},
		{"first counts though empty", "Subject:\nSubject: two\n\n", map[Field]string{Subject: ""}, "", "duplicate-subject"},
		{"empty values", "Subject:\nTo: \nCc:\t\nMessage-ID: <a@x>\n\n", map[Field]string{Subject: "", To: "", Cc: "", MessageID: "<a@x>"}, "", ""},
		{"nul", "Subject: a\x00b\nX-\x00: 1\n\n", map[Field]string{Subject: "a\x00b"}, "", "nul"},
		{"8bit", "Subject: caf\xe9\n\n", map[Field]string{Subject: "caf\xe9"}, "", "8bit"},
		{"bare cr", "Subject: a\rTo: b\n\n", map[Field]string{Subject: "a\rTo: b"}, "", "bare-cr"},
		{"cr is no empty line", "Subject: a\n\rTo: b\n\n", map[Field]string{Subject: "a"}, "", "bare-cr"},
		{"leading fold", " x\nSubject: one\n\n", map[Field]string{Subject: "one"}, "", "leading-fold"},
		{"no end", "Subject: one\nTo: a@x", map[Field]string{Subject: "one", To: "a@x"}, "", "truncated"},
		{"no fields", "\nbody", nil, "body", ""},
		{"nothing", "", nil, "", "truncated"},
		{"prefix is another field", "Dates: x\nSubject-Old: y\nTo-: z\n\n", nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := []byte(c.in)
			checkScan(t, b)
			var h Header
			Scan(b, MaskAll, &h)
			h.Inspect(b)
			for f := Field(0); f < NumFields; f++ {
				want, ok := c.want[f]
				raw := h.Raw(b, f)
				if ok != (raw != nil) || string(Unfold(nil, raw)) != want {
					t.Errorf("%v: %q, want %q, %v", f, raw, want, ok)
				}
			}
			if got := string(b[h.BodyOff:]); got != c.body {
				t.Errorf("body %q, want %q", got, c.body)
			}
			if got := strings.Join(h.Warn.Names(), ","); got != c.warn {
				t.Errorf("warnings %q, want %q", got, c.warn)
			}
		})
	}
}

func TestScanTakesOnlyWanted(t *testing.T) {
	b := []byte("Date: x\nSubject: y\nSubject: z\nTo: w\n\n")
	var h Header
	Scan(b, To.Mask(), &h)
	if h.Present != To.Mask() || h.Warn != 0 {
		t.Errorf("present %b, warnings %v", h.Present, h.Warn.Names())
	}
}

// randomHeader strings together pieces that make trouble.
func randomHeader(r *rand.Rand) []byte {
	pieces := []string{"\n", "\r\n", "\r", " ", "\t", ":", "Subject", "subject:", "Date: ", "From ", ">From x", "To", "Cc:", "References: <a@b>", "Reply-To:", "\x00", "\xe9", "x", "List-Id:", "\n\n"}
	var b []byte
	for range r.IntN(20) {
		b = append(b, pieces[r.IntN(len(pieces))]...)
	}
	return b
}

func TestScanMatchesNaive(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		checkScan(t, randomHeader(r))
	}
}

// TestHeaderEndResumes feeds a header in pieces.
func TestHeaderEndResumes(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		b := randomHeader(r)
		want := HeaderEnd(b, 0)
		for seen := 0; seen < len(b); {
			n := min(len(b), seen+1+r.IntN(4))
			got := HeaderEnd(b[:n], seen)
			if got >= 0 {
				if got != want {
					t.Fatalf("%q: %d with %d bytes after %d, want %d", b, got, n, seen, want)
				}
				break
			}
			if n == len(b) && want >= 0 {
				t.Fatalf("%q: not found with %d bytes after %d, want %d", b, n, seen, want)
			}
			seen = n
		}
	}
}

// TestLinear runs every parser on input that is quadratic for a careless one.
// Each takes milliseconds; minutes would end the test.
func TestLinear(t *testing.T) {
	rep := func(s string) []byte { return []byte(strings.Repeat(s, 1<<17/len(s))) }
	inputs := [][]byte{
		append(append([]byte("Subject: one\nX: y"), rep("\n z")...), "\nMessage-ID: <a@x>\n\nbody"...),
		rep("Subject: x\n"), rep("\r"), rep("\x00"), rep("S"), rep(" \n"),
		rep("<"), append(rep("<"), '"'), rep("<a("), append(rep("<a("), ')'), rep("<\""), rep("<a@b>"), rep("<a@b(c)>"), rep("(("), rep("("), rep("\\("),
		rep("=?"), rep("=?utf-8?q?"), rep("=?utf-8?q?a?="), rep("=?utf-8?q?a?= "), rep("=?utf-8?q?=C3?= "), rep("=?iso-8859-1?q?a?= =?utf-8?q?=FF?="), append(append([]byte("=?utf-8?q?a?="), rep(" ")...), rep("=?=?")...),
		rep("\xff"), rep("a "), rep("a, "), rep("a: "), rep("\""), rep("\"a\" "), rep("a.b "), rep("a@b;"), rep("<@a,@b"), rep("x:,"), rep("<a@b>, "),
	}
	start := time.Now()
	for _, b := range inputs {
		exercise(b)
	}
	t.Logf("%d inputs of 128 KiB in %v", len(inputs), time.Since(start))
}

// exercise calls everything on b.
func exercise(b []byte) {
	var h Header
	Scan(b, MaskAll, &h)
	h.Inspect(b)
	HeaderEnd(b, 0)
	Get(b, "x-none")
	Unfold(nil, b)
	for _, c := range []Compat{RFC, Dovecot} {
		ParseDateCompat(b, c)
		DecodeWordsCompat(nil, b, c)
		FirstAddressCompat(b, nil, c)
		AddressListCompat(b, c)
		AppendDisplay(nil, b, c)
	}
	EachID(b, nil, func([]byte) bool { return true })
}

func TestNoAllocations(t *testing.T) {
	header := listHeaders(1, 7)[0]
	var h Header
	scratch := make([]byte, 0, 256)
	dst := make([]byte, 0, 4096)
	date := []byte(" Mon (x), 9 May 2011 06:07:08 +0200 (CEST)")
	refs := []byte(" <a@x>\n\t<\"b\"@x> <c(d)@x>\n <long\n id@x>")
	subject := []byte(" Re: [PATCH 1/2] ext4: a plain subject\n with a fold")
	encoded := []byte(" =?utf-8?q?caf=C3=A9?= x")
	from := []byte(" \"Ada Example\" <ada@x.example>, b@y")
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"Scan", func() { Scan(header, MaskAll, &h) }},
		{"HeaderEnd", func() { HeaderEnd(header, 0) }},
		{"Get", func() { Get(header, "x-mailer") }},
		{"Unfold", func() { dst = Unfold(dst[:0], subject) }},
		{"ParseDate", func() { ParseDate(date) }},
		{"ParseDateCompat", func() { ParseDateCompat(date, Dovecot) }},
		{"EachID", func() { scratch = EachID(refs, scratch, func([]byte) bool { return true }) }},
		{"DecodeWords ASCII", func() { dst = DecodeWords(dst[:0], subject) }},
		{"DecodeWords UTF-8", func() { dst = DecodeWords(dst[:0], encoded) }},
		{"FirstAddress", func() { FirstAddress(from, scratch) }},
		{"AppendDisplay", func() { dst = AppendDisplay(dst[:0], from, RFC) }},
	} {
		if n := testing.AllocsPerRun(100, c.f); n != 0 {
			t.Errorf("%s: %v allocations, want 0", c.name, n)
		}
	}
}

func TestFieldNames(t *testing.T) {
	for f := Field(0); f < NumFields; f++ {
		b := fmt.Appendf(nil, "%s: v%d\n\n", strings.ToUpper(f.String()), f)
		var h Header
		if Scan(b, f.Mask(), &h); string(h.Raw(b, f)) != fmt.Sprintf(" v%d", f) {
			t.Errorf("%v: %q", f, h.Raw(b, f))
		}
	}
}
