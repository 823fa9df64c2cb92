package rfc5322

import (
	"bufio"
	"bytes"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/emersion/go-message/textproto"
)

// FuzzScan compares Scan with the definition and, where go-message can read
// the header, with go-message.
func FuzzScan(f *testing.F) {
	f.Add([]byte("Subject: one\r\n two\nFrom: a@x\n\nbody"))
	f.Add([]byte("From x\n\tfold\nTo :\n\r\n"))
	f.Add([]byte(" \n:\nReply-To:\nReferences: <a@b>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkScan(t, b)
		exercise(b)
		var h Header
		if !Scan(b, MaskAll, &h) || h.Warn&(WarnLeadingFold|WarnSpaceColon|WarnFromLine) != 0 {
			return
		}
		if h.Inspect(b); h.Warn&(WarnBareCR|WarnNUL|WarnNoColon) != 0 {
			return
		}
		other, err := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return // it rejects much that mail has
		}
		for f := Field(0); f < NumFields; f++ {
			got, want := squeeze(string(h.Raw(b, f))), squeeze(other.Get(f.String()))
			if h.Present.Has(f) != other.Has(f.String()) || got != want {
				t.Errorf("%q: %v is %q, go-message has %q", b, f, got, want)
			}
		}
	})
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// FuzzDate compares ParseDate with net/mail on what both must read alike.
func FuzzDate(f *testing.F) {
	for _, s := range []string{"Mon, 9 May 2011 06:07:08 +0200", "9 May 11 06:07 GMT", "Mon, 9 May 2011 06:07:08 -0000 (x)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := ParseDate([]byte(s))
		dovecot, dok := ParseDateCompat([]byte(s), Dovecot)
		if dok && !ok {
			t.Errorf("%q: Dovecot reads %d, RFC nothing", s, dovecot)
		}
		v, err := mail.ParseDate(s)
		if err != nil || v.Year() < 1901 {
			return
		}
		// package time pivots two-digit years at 69, invents offsets for
		// zone names and reads fractions of seconds.
		if !regexp.MustCompile(`\d{4}\s+\d+:`).MatchString(s) || strings.ContainsAny(s, ".\\") ||
			!regexp.MustCompile(`[+-]\d{4}\s*$`).MatchString(s) {
			return
		}
		if !ok || got != v.Unix() {
			t.Errorf("%q: %d, %v; net/mail %d", s, got, ok, v.Unix())
		}
	})
}

var simpleID = regexp.MustCompile(`<([^<>]*)>`) // a < begins an id anew

// FuzzIDs compares NextID with a regular expression on what holds no quotes
// and comments, and checks what must hold of all ids.
func FuzzIDs(f *testing.F) {
	for _, s := range []string{"<a@b> <c\n d@e>", `<"a"(b)@c> <<d@e`, "x < y > <a@b@c>", "<<@>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		keep := bytes.Clone(raw)
		got := allIDs(string(raw))
		for _, id := range got {
			if !strings.Contains(id, "@") {
				t.Errorf("%q: id %q", raw, id)
			}
		}
		if !bytes.Equal(keep, raw) {
			t.Errorf("%q became %q", keep, raw)
		}
		if bytes.ContainsAny(raw, `"(`) {
			return
		}
		var want []string
		for _, m := range simpleID.FindAllStringSubmatch(string(raw), -1) {
			if id := string(appendWithoutSpace(nil, []byte(m[1]))); strings.Contains(id, "@") {
				want = append(want, id)
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	})
}

// FuzzWords decodes what package mime encodes, and anything at all to valid
// UTF-8.
func FuzzWords(f *testing.F) {
	f.Add("caf\u00e9 =?utf-8?q?=C3?= =?ISO-2022-JP?B?GyRCRUU?= \xff")
	f.Add("=?utf-8?b?YQ?==?utf-8?q?_?=x")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range []Compat{RFC, Dovecot} {
			got := string(DecodeWordsCompat([]byte("\xff"), []byte(s), c))
			if got[0] != '\xff' || !utf8.ValidString(got[1:]) {
				t.Errorf("%q: %q", s, got)
			}
			if !utf8.ValidString(s) {
				continue
			}
			for _, e := range []mime.WordEncoder{mime.QEncoding, mime.BEncoding} {
				coded := e.Encode("utf-8", s)
				if !strings.HasPrefix(coded, "=?utf-8?") || coded == s {
					continue // nothing to encode
				}
				if got := string(DecodeWordsCompat(nil, []byte(coded), c)); got != s {
					t.Errorf("%q: %q, want %q", coded, got, s)
				}
			}
		}
	})
}

// FuzzAddress compares AddressList with net/mail where that reads the list.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"Ada <a@b>, c@d", "g: a@b;, (x) \"q\" <c@[1.2.3.4]>", "a@b (Ada)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := AddressList([]byte(s))
		first, ok := FirstAddress([]byte(s), make([]byte, 0, 8))
		if ok != (len(list) > 0) || ok && show([]Address{first}) != show(list[:1]) {
			t.Errorf("%q: first %q, list %q", s, show([]Address{first}), show(list))
		}
		want, err := mail.ParseAddressList(s)
		// A comment after an address is a name to both, but net/mail decodes
		// it; domains with escapes are written differently.
		if err != nil || strings.ContainsAny(s, "\\\r\n") {
			return
		}
		i := 0
		for _, a := range list {
			if a.Group {
				continue
			}
			if i == len(want) || string(a.Mailbox)+"@"+string(a.Host) != want[i].Address {
				t.Fatalf("%q: %q, net/mail %v", s, show(list), want)
			}
			i++
		}
		if i != len(want) {
			t.Fatalf("%q: %q, net/mail %v", s, show(list), want)
		}
	})
}
