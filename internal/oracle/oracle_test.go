package oracle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "replay a property failure (0: a fresh seed)")

func random(t *testing.T) *rand.Rand {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// header builds a message from fields; n is its UID and its INTERNALDATE.
func header(n int, fields ...string) Message {
	return Message{UID: uint32(n), Header: []byte(strings.Join(fields, "\n") + "\n"), InternalDate: int64(n), RFC822Size: int64(n)}
}

func TestFields(t *testing.T) {
	f := fields([]byte("From joe Mon Jan  1 00:00:00 2024\nSubject : a\r\n\tb\r\n c\nno colon\n kept by nobody\nSUBJECT: second\nTo:\n\nCc: body\n"))
	want := map[string]string{"from joe mon jan  1 00": "00:00 2024", "subject": " a\r\n\tb\r\n c", "to": ""}
	if fmt.Sprint(f) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", f, want)
	}
}

func TestParseDate(t *testing.T) {
	for _, c := range []struct {
		in           string
		rfc, dovecot int64 // -1: none
	}{
		{"Mon, 1 Jan 2024 10:00:00 +0100", 1704099600, 1704099600},
		{"1 Jan 24 10:00 EST", 1704121200, 1704121200},
		{"Monday, 1 Jan 2024 10:00 +0000", 1704103200, -1},
		{"Mon 1 Jan 2024 10:00 +0000", -1, -1},
		{"1 Jan 2024", 1704067200, -1},
		{"1 Jan 2024 25:00 +0100", 1704063600, -1},
		{"1 Jan 2024 1:2:3 +0000", 1704070923, -1},
		{"31 Feb 2024 10:00 +0000", -1, -1},
		{"1 Jan 2024 23:59:60 +0000", 1704153599, 1704153599},
		{"1 Jan 2024 10:00 A", 1704103200, 1704099600},
		{"1 Jan 2024 10:00 XYZ", 1704103200, 1704103200},
		{"1 Jan 1024 10:00", -1, -1},
		{"1 Jan 2024 10:00 (open", 1704103200, -1},
	} {
		for mode, want := range []int64{c.rfc, c.dovecot} {
			got, ok := Compat(mode).parseDate(c.in)
			if !ok {
				got = -1
			}
			if got != want {
				t.Errorf("mode %d: %q: got %d, want %d", mode, c.in, got, want)
			}
		}
	}
}

// What net/mail reads, the oracle reads the same.
func TestParseDate_asNetMail(t *testing.T) {
	r := random(t)
	for range 2000 {
		when := time.Unix(r.Int64N(4e9), 0).In(time.FixedZone("", (r.IntN(27)-13)*3600+r.IntN(4)*900))
		text := when.Format([]string{time.RFC1123Z, "2 Jan 2006 15:04 -0700", "Mon, _2 Jan 2006 15:04:05 -0700"}[r.IntN(3)])
		want, err := netmail.ParseDate(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []Compat{RFC, Dovecot} {
			if got, ok := c.parseDate(text); !ok || got != want.Unix() {
				t.Fatalf("%q: got %d, want %d", text, got, want.Unix())
			}
		}
	}
}

func TestMessageIDs(t *testing.T) {
	for in, want := range map[string]string{
		"<a@x> <b@y>":       "a@x b@y",
		`<"a"@x>`:           "a@x",
		"<a b\n @x>":        "ab@x",
		"<a@[1.2.3.4]>":     "a@[1.2.3.4]",
		"<(c)a@[1.2.3.4]>":  "a@[1.2.3.4]",
		"<a@x <b@y>":        "b@y",
		"<a> <b@y":          "",
		`<"a@x> <b@y>`:      "b@y",
		"<<a@x>>":           "a@x",
		"<(a@x <b@y>":       "b@y",
		"<a@x(c)> b@y, <c>": "a@x",
	} {
		if got := strings.Join(messageIDs(in), " "); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFirstAddress(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		" (nobody) ":                        "",
		"joe@x":                             "joe",
		"Joe <joe.b@x>, Ann <ann@y>":        "joe.b",
		`"Joe, B." <"joe b"@x>`:             "joe b",
		"friends: joe@x, ann@y;":            "friends",
		"undisclosed-recipients:;":          "undisclosed-recipients",
		"joe (Joe B.)":                      "joe",
		"joe":                               "joe",
		"joe at x.example (Joe)":            missingMailbox,
		"<>":                                missingMailbox,
		`"joe"`:                             missingMailbox,
		"<@a,@b:joe@x>":                     "joe",
		"joe . b @ x":                       "joe.b",
		"=?utf-8?q?Joe?= <joe@x>":           "joe",
		"Joe <joe@[1.2.3.4]>":               "joe",
		"Joe (a (b) c) <joe@x> (and so on)": "joe",
	} {
		got, ok := RFC.firstAddress(in)
		if ok && !got.hasMailbox {
			got.mailbox = missingMailbox
		}
		if got.mailbox != want {
			t.Errorf("%q: got %q, want %q", in, got.mailbox, want)
		}
	}
}

// What net/mail reads, the oracle reads the same.
func TestFirstAddress_asNetMail(t *testing.T) {
	for _, in := range []string{
		"a@x.example", "Joe <a.b@x.example>", `"J. B" <"a b"@x.example>, c@d`, "J (c) B <a@x.example>", ", ,a@x.example",
		"=?utf-8?q?J=C3=B6?= <a@x.example>",
	} {
		list, err := netmail.ParseAddressList(in)
		if err != nil {
			t.Fatal(in, err)
		}
		a, _ := RFC.firstAddress(in)
		if got, want := a.mailbox+"@"+a.host, strings.ReplaceAll(list[0].Address, `"`, ""); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if name := decodeWords(a.name); list[0].Name != "" && name != list[0].Name {
			t.Errorf("%q: got name %q, want %q", in, name, list[0].Name)
		}
	}
}

func TestSubject(t *testing.T) {
	for _, c := range []struct {
		in, rfc, dovecot string
		reply            bool
	}{
		{"Re: a", "A", "A", true},
		{" a \n b", "A B", "A  B", false},
		{"a \n b \n c", "A B C", "A  B C", false},
		{"[list] Re: [x] a (fwd) ", "A", "A", true},
		{"[fwd: Re: a]", "A", "A", true},
		{"[a]", "[A]", "[A]", false},
		{"=?utf-8?q?a=C2=A0?=", "A ", "A", false},
		{"=?utf-8?q?Re=3A?==?utf-8?q?_b?=", "B", "B", true},
		{"=?utf-8?q?a?= =?utf-8?q?b?= c", "AB C", "AB C", false},
		{"=?utf-8?x?a?= b", "=?UTF-8?X?A?= B", "=?UTF-8?X?A?= B", false},
		{"=?no-such?q?Re:_ab?=", "AB", "Re: ab", true},
		{"Ｒｅ: a", "RE: A", "A", false},
	} {
		if got, reply := RFC.subjectKey(c.in); got != c.rfc || reply != c.reply {
			t.Errorf("%q: got %q %v, want %q", c.in, got, reply, c.rfc)
		}
		if got, _ := Dovecot.subjectKey(c.in); got != c.dovecot {
			t.Errorf("%q: compat: got %q, want %q", c.in, got, c.dovecot)
		}
	}
}

func TestThreads(t *testing.T) {
	for _, c := range []struct {
		name                       string
		msgs                       []Message
		references, refs, subjects string
	}{
		{"none", nil, "", "", ""},
		{"orphans of one parent", []Message{
			header(1, "References: <p@x>", "Subject: Re: s"),
			header(2, "References: <p@x>", "Subject: t"),
			header(3, "Subject: s"),
		}, "((1)(2)(3))", "((1)(2))(3)", "(1 3)(2)"},
		{"newest thread last in refs", []Message{
			header(1, "Message-ID: <a@x>", "Subject: a"),
			header(2, "Message-ID: <b@x>", "Subject: b"),
			header(3, "References: <a@x>", "Subject: Re: a"),
		}, "(1 3)(2)", "(2)(1 3)", "(1 3)(2)"},
	} {
		box := New(c.msgs, RFC)
		if got := box.References(); got != c.references {
			t.Errorf("%s: references %s, want %s", c.name, got, c.references)
		}
		if got := box.Refs(); got != c.refs {
			t.Errorf("%s: refs %s, want %s", c.name, got, c.refs)
		}
		if got := box.OrderedSubject(); got != c.subjects {
			t.Errorf("%s: orderedsubject %s, want %s", c.name, got, c.subjects)
		}
	}
}

// Whatever the references say, each message is in each answer exactly once.
func TestThreads_everyMessageOnce(t *testing.T) {
	r := random(t)
	for range 300 {
		n := r.IntN(40)
		var msgs []Message
		for i := range n {
			h := header(i+1, "Subject: "+[]string{"a", "Re: a", "b", "Re: b", ""}[r.IntN(5)])
			if r.IntN(5) > 0 {
				h.Header = fmt.Appendf(h.Header, "Message-ID: <%d@x>\n", r.IntN(n))
			}
			h.Header = append(h.Header, "References:"...)
			for range r.IntN(5) {
				h.Header = fmt.Appendf(h.Header, " <%d@x>", r.IntN(n+5))
			}
			h.Header = append(h.Header, '\n')
			h.InternalDate = r.Int64N(20)
			msgs = append(msgs, h)
		}
		box := New(msgs, RFC)
		for _, answer := range []string{box.References(), box.Refs(), box.OrderedSubject()} {
			var got, want []int
			for _, word := range strings.FieldsFunc(answer, func(c rune) bool { return c < '0' || c > '9' }) {
				var uid int
				fmt.Sscan(word, &uid)
				got = append(got, uid)
			}
			for i := range n {
				want = append(want, i+1)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("of %d messages the answer holds %v: %s", n, got, answer)
			}
		}
	}
}

// Chains, wide threads and duplicates of the size of the fast packages' tests.
func TestThreads_big(t *testing.T) {
	const n = 100_000
	shapes := map[string]func(i int) Message{
		"deep": func(i int) Message {
			return header(i+1, fmt.Sprintf("Message-ID: <%d@x>", i), fmt.Sprintf("In-Reply-To: <%d@x>", i-1))
		},
		"deep backwards": func(i int) Message {
			return header(i+1, fmt.Sprintf("Message-ID: <%d@x>", i), fmt.Sprintf("In-Reply-To: <%d@x>", i+1))
		},
		"wide":       func(i int) Message { return header(i+1, "In-Reply-To: <p@x>") },
		"duplicates": func(i int) Message { return header(i+1, "Message-ID: <a@x>", "In-Reply-To: <a@x>") },
		"subject":    func(i int) Message { return header(i+1, "Subject: Re: s") },
	}
	for name, shape := range shapes {
		var msgs []Message
		for i := range n {
			msgs = append(msgs, shape(i))
		}
		start := time.Now()
		box := New(msgs, RFC)
		size := len(box.References()) + len(box.Refs()) + len(box.OrderedSubject())
		t.Logf("%s: %d bytes in %v", name, size, time.Since(start))
	}
}

func TestSort_unknownKeyPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Sort(nil, "colour")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("Subject: [a] Re: =?utf-8?q?x?= (fwd)\nDate: 1 Jan 24 1:2:3 (c)\nReferences: <a@x <\"b\"@(c)y>\nFrom: \"a\" <b@[c]>\n"))
	f.Add([]byte("From: a:b;\nTo: <@a:b@c>\nCc: a (b\nMessage-ID: <a(b)@c>\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range []Compat{RFC, Dovecot} {
			m := c.parse(Message{Header: b}, 0)
			if strings.ContainsAny(m.ID, "<> \t\n") && c == RFC {
				t.Errorf("id %q", m.ID)
			}
		}
	})
}
