package rfc5322

import (
	"slices"
	"strings"
	"testing"
)

func allIDs(raw string) []string {
	ids := []string{}
	EachID([]byte(raw), nil, func(id []byte) bool {
		ids = append(ids, string(id))
		return true
	})
	return ids
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // separated by spaces, "_" for a space
	}{
		{"<a@b>", "a@b"},
		{"<a@b><c@d>", "a@b c@d"},
		{" <a@b>\r\n\t<c@d>,<e@f> ", "a@b c@d e@f"},
		{"", ""},
		{"a@b", ""},
		{"Your message of \"Mon, 1 Jan\" <a@b> from Bob <bob@x>", "a@b bob@x"},
		{"1 < 2 and 3 > 2 <a@b>", "a@b"},
		{"<no-at> <a@b>", "a@b"},
		{"<a@b", ""},
		{"<a@b> <c@d", "a@b"},
		{"<A@B> <a@b>", "A@B a@b"},
		{"<a.long\n one@b>", "a.longone@b"},
		{"< a @\r\n\tb >", "a@b"},
		{"<a@left@right>", "a@left@right"},
		{"<a@x <b@x>", "b@x"},
		{"<<a@b>>", "a@b"},
		{"<@> <a@> <@b>", "@ a@ @b"},
		{"<a@[192.0.2.1]>", "a@[192.0.2.1]"},
		{"<caf\xc3\xa9@b> <\xe9@b>", "caf\xc3\xa9@b \xe9@b"},
		{"=?utf-8?q?=3Ca=40b=3E?=", ""},
		{"&lt;a@b&gt;", ""},

		// RFC 5256 section 3: quoted and bare forms are one id.
		{`<"ab"@c>`, "ab@c"},
		{`<"a b"@c>`, "a_b@c"},
		{"<\"a\r\n b\"@c>", "a_b@c"},
		{`<"a\"b"@c>`, `a"b@c`},
		{`<"a>b"@c> <d@e>`, "a>b@c d@e"},
		{`<""@c>`, "@c"},
		{`<"a"@[192.0.2.1]>`, "a@[192.0.2.1]"},
		{`<"a"@[19> <d@e>`, "d@e"},
		{`<"a"@> <d@e>`, "d@e"},
		{`<"a@c> <d@e>`, "d@e"},
		{`<a."b"@c> <d@e>`, "d@e"}, // obs-id-left: see slowID
		{`<a"b@c> <d@e>`, "d@e"},

		// RFC 5322 4.5.4: comments are removed.
		{"(n) < (n) fox (n) @ (n) den.example (n) > (n)", "fox@den.example"},
		{"<a(n)@ b>", "a@b"},
		{"<a@b(c(d)e)> <f@g>", "a@b f@g"},
		{"<a@b(> <c@d>", "c@d"},
		{"<a . b(x) @ c . d>", "a.b@c.d"},
		{"<a.(x)@c> <d@e>", "d@e"},
		{"(no <x@y> here) <a@b>", "x@y a@b"},
		{"<a@b(" + strings.Repeat("x", maxSlowID) + ")> <c@d>", "c@d"},
	} {
		want := strings.Fields(c.want)
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "_", " ")
		}
		got := allIDs(c.in)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.in, got, want)
		}
		first, _, ok := FirstID([]byte(c.in), nil)
		if ok != (len(want) > 0) || ok && string(first) != want[0] {
			t.Errorf("%q: first %q, %v", c.in, first, ok)
		}
	}
}

// TestIDsScratch makes sure that ids survive until the next call and that an
// id in the middle of raw cannot be grown into the bytes behind it.
func TestIDsScratch(t *testing.T) {
	raw := []byte("<a@b> <\"c\"@d>")
	id, rest, scratch, ok := NextID(raw, make([]byte, 0, 64))
	if !ok || string(id) != "a@b" {
		t.Fatalf("%q, %v", id, ok)
	}
	_ = append(id, "XXXX"...)
	if id, _, _, ok = NextID(rest, scratch); !ok || string(id) != "c@d" {
		t.Fatalf("%q, %v", id, ok)
	}
	if string(raw) != "<a@b> <\"c\"@d>" {
		t.Fatalf("raw was written: %q", raw)
	}
}

func TestEachIDStops(t *testing.T) {
	n := 0
	EachID([]byte("<a@b> <c@d> <e@f>"), nil, func([]byte) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}
