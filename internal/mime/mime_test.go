package mime

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// text makes a body of so many bytes, counted with CRLF, and lines.
func text(size, lines int) string {
	var b strings.Builder
	for i := range lines {
		n := (size - b.Len()) / (lines - i)
		b.WriteString(strings.Repeat("x", n-2) + "\r\n")
	}
	return b.String()
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// rest is what follows MD5 when nothing is said: disposition, language, location.
const rest = " NIL NIL NIL)"

const embedded = "Date: Mon, 7 Feb 1994 21:52:25 -0800\nSubject: =?utf-8?q?x?= y\nFrom: \"Fred \\\"F\\\" Foobar\" <foobar@Blurdybloop.example>\n" +
	"To: mooch@owatagu.example (Mooch (the) M), plain@host\nCc: <@route.example:r@h>, A Group: a@b, c;\nIn-Reply-To: <p@h>\nMessage-ID: <B27397@h>\n\nhi\n"

var structures = []struct{ name, msg, want string }{
	// RFC 9051 section 7.5.2, the example of a text of 48 lines and 2279 octets.
	{"rfc9051-text", "Content-Type: TEXT/PLAIN; CHARSET=US-ASCII\r\n\r\n" + text(2279, 48),
		`("text" "plain" ("charset" "US-ASCII") NIL NIL "7bit" 2279 48 NIL` + rest},
	// RFC 9051 section 7.5.2, its two-part example.
	{"rfc9051-mixed", crlf("Content-Type: multipart/MIXED; boundary=b\n\npreamble\n--b\nContent-Type: text/plain; charset=US-ASCII\n\n") + text(1152, 23) +
		crlf("\n--b\nContent-Type: TEXT/PLAIN; NAME=cc.diff; CHARSET=US-ASCII\nContent-ID: <960723163407.20117h@cac.example>\nContent-Description: Compiler diff\nContent-Transfer-Encoding: BASE64\n\n") +
		text(4554, 73) + crlf("\n--b--\nepilogue\n"),
		`(("text" "plain" ("charset" "US-ASCII") NIL NIL "7bit" 1152 23 NIL` + rest +
			`("text" "plain" ("charset" "US-ASCII" "name" "cc.diff") "<960723163407.20117h@cac.example>" "Compiler diff" "BASE64" 4554 73 NIL` + rest +
			` "mixed" ("boundary" "b")` + rest},
	{"nothing", "", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL` + rest},
	{"no-type", "Subject: x\n\none\ntwo\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 10 2 NIL` + rest},
	{"no-body", "Subject: x\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL` + rest},
	{"last-line-open", "A: b\n\none\ntwo", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 8 1 NIL` + rest},
	{"mixed-line-ends", "A: b\n\none\r\ntwo\n\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 12 3 NIL` + rest},
	{"first-field-counts", "Content-Type: text/html\nContent-Type: text/plain\n\n", `("text" "html" NIL NIL NIL "7bit" 0 0 NIL` + rest},
	{"binary-with-everything", "Content-Type: Image/PNG; name=\"a\\\"b\\\\.png\"\nContent-Transfer-Encoding: base64\nContent-MD5: Q2hlY2s=\n" +
		"Content-Disposition: Attachment;\n\tfilename=\"x y.png\"; size=3\nContent-Language: en, de-CH\nContent-Location: http://example.org/p\n\nabc",
		`("image" "png" ("name" "a\"b\\.png") NIL NIL "base64" 3 "Q2hlY2s=" ("attachment" ("filename" "x y.png" "size" "3")) ("en" "de-CH") "http://example.org/p")`},
	{"rfc2231", "Content-Type: application/pdf; name*0*=utf-8''sch%C3%B6n; name*1=.pdf\n\n",
		"(\"application\" \"pdf\" (\"name\" {10}\r\nschön.pdf) NIL NIL \"7bit\" 0 NIL" + rest},
	{"encoded-word-parameter", "Content-Type: text/plain; name=\"=?utf-8?q?a=20b?=\"\n\n", `("text" "plain" ("name" "a b") NIL NIL "7bit" 0 0 NIL` + rest},
	{"folded-description", "Content-Description: a\r\n b\r\n\r\n", `("text" "plain" ("charset" "us-ascii") NIL "a b" "7bit" 0 0 NIL` + rest},
	{"disposition-without-params", "Content-Disposition: inline\n\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL ("inline" NIL) NIL NIL)`},

	// Odd mail.
	{"type-is-no-type", "Content-Type: text\n\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL` + rest},
	{"type-with-spaces", "Content-Type: text / html\n\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL` + rest},
	{"multipart-without-boundary", "Content-Type: multipart/mixed\n\n--\n\nx\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 9 3 NIL` + rest},
	{"multipart-without-parts", "Content-Type: multipart/mixed; boundary=b\n\nno part\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 9 1 NIL` + rest},
	{"multipart-cut", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo\n",
		`(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL` + rest + `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 5 1 NIL` + rest + ` "mixed" ("boundary" "b")` + rest},
	{"unquoted-boundary", "Content-Type: multipart/mixed; boundary=a=b\n\n--a=b\n\none\n--a=b--\n",
		`(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL` + rest + ` "mixed" ("boundary" "a=b")` + rest},
	{"longer-boundary-is-another", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b2\n\n--b--\n",
		`(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 11 2 NIL` + rest + ` "mixed" ("boundary" "b")` + rest},
	{"boundary-within-line", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none --b\n--b--\n",
		`(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 7 0 NIL` + rest + ` "mixed" ("boundary" "b")` + rest},
	{"part-without-header", "Content-Type: multipart/mixed; boundary=b\n\n--b\n--b--\n",
		`(("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL` + rest + ` "mixed" ("boundary" "b")` + rest},
	{"line-without-colon", "garbage\nContent-Type: text/html\n\n", `("text" "html" NIL NIL NIL "7bit" 0 0 NIL` + rest},
	{"nul-and-8bit", "Content-Description: a\x00b\xff\n\n", "(\"text\" \"plain\" (\"charset\" \"us-ascii\") NIL {4}\r\na?b\xff \"7bit\" 0 0 NIL" + rest},

	// Messages in messages.
	{"digest", "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: in\n\nhi\n--b--\n",
		`(("message" "rfc822" NIL NIL NIL "7bit" 17 (NIL "in" NIL NIL NIL NIL NIL NIL NIL NIL) ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 2 0 NIL` + rest + ` 2 NIL` + rest + ` "digest" ("boundary" "b")` + rest},
	{"envelope", "Content-Type: message/rfc822\n\n" + embedded,
		`("message" "rfc822" NIL NIL NIL "7bit" ` + fmt.Sprint(len(crlf(embedded))) + ` ("Mon, 7 Feb 1994 21:52:25 -0800" "=?utf-8?q?x?= y" ` +
			strings.Repeat(`(("Fred \"F\" Foobar" NIL "foobar" "Blurdybloop.example")) `, 3) +
			`(("Mooch (the) M" NIL "mooch" "owatagu.example")(NIL NIL "plain" "host")) ((NIL "@route.example" "r" "h")(NIL NIL "A Group" NIL)(NIL NIL "a" "b")(NIL NIL "c" "")(NIL NIL NIL NIL)) NIL "<p@h>" "<B27397@h>") ` +
			`("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 4 1 NIL` + rest + ` 9 NIL` + rest},
}

func TestAppendBodyStructure(t *testing.T) {
	for _, c := range structures {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendBodyStructure([]byte("before"), []byte(c.msg))); got != "before"+c.want {
				t.Errorf("got  %s\nwant before%s", got, c.want)
			}
			if _, err := checkGrammar(c.want); err != nil {
				t.Errorf("the wanted structure is none: %v", err)
			}
			// Line ends make no difference but where one is odd by itself.
			if c.name == "mixed-line-ends" || strings.Contains(c.msg, "\r\n") {
				return
			}
			if got := string(AppendBodyStructure(nil, []byte(crlf(c.msg)))); got != c.want {
				t.Errorf("with CRLF: got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestAppendBodyStructure_sections is the message of RFC 9051 section 6.4.5,
// whose part numbers it explains.
func TestAppendBodyStructure_sections(t *testing.T) {
	part := func(kind, body string) string { return "Content-Type: " + kind + "\n\n" + body }
	multi := func(sub, boundary string, parts ...string) string {
		return "Content-Type: multipart/" + sub + "; boundary=" + boundary + "\n\n--" + boundary + "\n" +
			strings.Join(parts, "\n--"+boundary+"\n") + "\n--" + boundary + "--\n"
	}
	msg := multi("mixed", "0",
		part("text/plain", "a"), part("application/octet-stream", "b"),
		part("message/rfc822", multi("mixed", "3", part("text/plain", "c"), part("application/octet-stream", "d"))),
		multi("mixed", "4", part("image/gif", "e"),
			part("message/rfc822", multi("mixed", "42", part("text/plain", "f"),
				multi("alternative", "422", part("text/plain", "g"), part("text/richtext", "h"))))))
	got := string(AppendBodyStructure(nil, []byte(msg)))
	parts, err := checkGrammar(got)
	if err != nil {
		t.Fatal(err)
	}
	// 1, 2, 3 and its multipart with two, 4 with 4.1 and 4.2 and its multipart
	// with 4.2.1, 4.2.2 and its two; and the whole.
	if parts != 15 {
		t.Errorf("%d bodies, want 15: %s", parts, got)
	}
	if want := `"text" "richtext" NIL NIL NIL "7bit" 1 0`; !strings.Contains(got, want) {
		t.Errorf("no %s in %s", want, got)
	}
}

// TestAppendBodyStructure_bounded holds the bounds on mail made to be costly.
func TestAppendBodyStructure_bounded(t *testing.T) {
	deep := ""
	for i := range 1000 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	for name, c := range map[string]struct {
		msg        string
		parts, max int
	}{
		"deep":      {deep, MaxDepth + 1, 10 << 10},
		"messages":  {strings.Repeat("Content-Type: message/rfc822\n\n", 1000), MaxDepth + 1, 10 << 10},
		"wide":      {"Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\n", 100_000), MaxParts, 200 << 10},
		"dashes":    {"Content-Type: multipart/mixed; boundary=-\n\n" + strings.Repeat("-", 1_000_000), 1, 1 << 10},
		"addresses": {"Content-Type: message/rfc822\n\nTo: " + strings.Repeat("a,", 500_000) + "\n\n", 2, 2 << 20},
		"params":    {"Content-Type: text/plain" + strings.Repeat("; a=b=c", 100_000) + "\n\n", 1, 1 << 10},
	} {
		got := AppendBodyStructure(nil, []byte(c.msg))
		parts, err := checkGrammar(string(got))
		if err != nil {
			t.Errorf("%s: %.200v", name, err)
		}
		if parts != c.parts || len(got) > c.max {
			t.Errorf("%s: %d parts in %d bytes, want %d in at most %d", name, parts, len(got), c.parts, c.max)
		}
	}
}

func FuzzAppendBodyStructure(f *testing.F) {
	for _, c := range structures {
		f.Add([]byte(c.msg))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		before := bytes.Clone(msg)
		got := AppendBodyStructure(nil, msg)
		parts, err := checkGrammar(string(got))
		if err != nil {
			t.Fatal(err)
		}
		if parts > MaxParts+MaxDepth {
			t.Errorf("%d parts", parts)
		}
		if max := 64*len(msg) + 1000; len(got) > max {
			t.Errorf("%d bytes of %d", len(got), len(msg))
		}
		if !bytes.Equal(msg, before) {
			t.Error("the message was changed")
		}
		if again := AppendBodyStructure(nil, msg); !bytes.Equal(again, got) {
			t.Errorf("a second time %s, first %s", again, got)
		}
	})
}

func BenchmarkAppendBodyStructure(b *testing.B) {
	var dst []byte
	msg := []byte(structures[1].msg)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendBodyStructure(dst[:0], msg)
	}
	if string(dst) != structures[1].want {
		b.Fatal("a wrong structure was timed")
	}
}
