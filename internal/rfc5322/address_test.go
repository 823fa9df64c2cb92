package rfc5322

import (
	"fmt"
	"strings"
	"testing"
)

// show writes addresses as name|route|mailbox|host, "-" for what is absent;
// groups as "group {" and "}"; "!" behind what is invalid.
func show(list []Address) string {
	var s []string
	part := func(b []byte) string {
		if b == nil {
			return "-"
		}
		return string(b)
	}
	for _, a := range list {
		var t string
		switch {
		case a.Group && a.Mailbox != nil:
			t = string(a.Mailbox) + " {"
		case a.Group:
			t = "}"
		default:
			t = fmt.Sprintf("%s|%s|%s|%s", part(a.Name), part(a.Route), part(a.Mailbox), part(a.Host))
		}
		if a.Invalid {
			t += "!"
		}
		s = append(s, t)
	}
	return strings.Join(s, " ")
}

func TestAddressList(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{" (nobody) ", ""},
		{"a@b", "-|-|a|b"},
		{"<a@b>", "-|-|a|b"},
		{"Ada B. Example <ada@b.example>", "Ada B. Example|-|ada|b.example"},
		{`"Example, Ada \"A\"" <ada@b>`, `Example, Ada "A"|-|ada|b`},
		{"Ada\r\n Example <ada@b>", "Ada Example|-|ada|b"},
		{"=?utf-8?q?=C3=84?= <a@b>, c@d", "=?utf-8?q?=C3=84?=|-|a|b -|-|c|d"},
		{"a@b (Ada)", "Ada|-|a|b"},
		{"a@b (Ada \\(x\\))", "Ada (x)|-|a|b"},
		{"(c) Ada (c) <(c) a (c) @ (c) b (c)> (c)", "Ada|-|a|b"},
		{`"q uoted"@b`, "-|-|q uoted|b"},
		{`a."b c".d@e`, "-|-|a.b c.d|e"},
		{"a . b @ c . d", "-|-|a.b|c.d"},
		{"a..b@c, .d@e, f.@g", "-|-|a..b|c -|-|.d|e -|-|f.|g"},
		{"a@[192.0.2.1]", "-|-|a|[192.0.2.1]"},
		{"<@r.example,@s.example:a@b>", "-|@r.example,@s.example|a|b"},
		{"\xe9 <\xe9@b>", "\xe9|-|\xe9|b"},

		{"undisclosed-recipients:;", "undisclosed-recipients { }"},
		{"To whom: ;", "To whom { }"},
		{"g: a@b, Ada <c@d>; , e@f", "g { -|-|a|b Ada|-|c|d } -|-|e|f"},
		{"g: a@b", "g { -|-|a|b }!"},
		{"undisclosed-recipients:", "undisclosed-recipients {! }!"},

		// Broken ones give what could be read.
		{"ada", "-|-|ada|!"},
		{"Ada <ada>", "Ada|-|ada|!"},
		{"Ada <>", "Ada|-||!"},
		{"<>", "-|-||!"},
		{`"Ada"`, "Ada|-||!"},
		{"Ada at b (Ada)", "Ada at b|-||!"},
		{"Ada <ada@b", "Ada|-|ada|b!"},
		{"Ada <ada@b, c@d", "Ada|-|ada|b! -|-|c|d"},
		{"Ada <<ada@b>>", "Ada|-||!"},
		{"ada@", "-|-|ada|!"},
		{"@b", "-|-||b!"},
		{"a@b, , c@d", "-|-|a|b -|-|c|d"},
		{", ,a@b", "-|-|a|b"},
		{" , ", ""},
		{"g: , a@b, ; , e@f", "g { -|-|a|b } -|-|e|f"},
		{"g: , ;", "g { }"},
		{"g: ,", "g { }!"},
		{"a@b, (open", "-|-|a|b -|-||!"},
		{`"open <a@b>`, "-|-||!"},
		{"a@b;c@d", "-|-|a|b"},
		{"<@r a@b>", "-|@r|a|b!"},
		{`""@b`, "-|-||b"},
	} {
		list := AddressList([]byte(c.in))
		if got := show(list); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
		a, ok := FirstAddress([]byte(c.in), nil)
		if ok != (len(list) > 0) || ok && show([]Address{a}) != show(list[:1]) {
			t.Errorf("%q: first %q, %v", c.in, show([]Address{a}), ok)
		}
	}
}

// What Dovecot 2.3.19 makes of broken addresses.
func TestAddressListDovecot(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ada", "-|-|ada|MISSING_DOMAIN!"},
		{",a@b", "-|-|MISSING_MAILBOX|MISSING_DOMAIN! -|-|a|b"},
		{"Ada <>", "Ada|-|MISSING_MAILBOX|MISSING_DOMAIN!"},
		{"Ada <ada@b", "Ada|-|ada|SYNTAX_ERROR!"},
		{"<@r a@b>", "-|INVALID_ROUTE|a|b!"},
		{`"a b".c@d`, "a b|-|MISSING_MAILBOX|MISSING_DOMAIN!"},
		{"a . b @ c", "a.  b|-|MISSING_MAILBOX|MISSING_DOMAIN!"},
		{`Ada <a."b"@c>`, "Ada|-|MISSING_MAILBOX|SYNTAX_ERROR!"},
		{"Ada at b (Ada)", "Ada at b|-|MISSING_MAILBOX|MISSING_DOMAIN!"},
		{"Ada Example\" <ada@b (Ada)", "Ada Example |-|MISSING_MAILBOX|MISSING_DOMAIN!"},
	} {
		if got := show(AddressListCompat([]byte(c.in), Dovecot)); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestAppendDisplay(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a@b", "a@b"},
		{"Ada Example <a@b>", "Ada Example"},
		{"=?utf-8?q?=C3=84da?= <a@b>", "\u00c4da"},
		{`"=?utf-8?q?=C3=84da?=" <a@b>`, "\u00c4da"},
		{`"" <a@b>`, "a@b"},
		{"a@b (Ada)", "Ada"},
		{"friends: a@b;", "friends"},
		{"ada", "ada"},
	} {
		if got := string(AppendDisplay([]byte("dst"), []byte(c.in), RFC)); got != "dst"+c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFirstAddressUsesScratch(t *testing.T) {
	scratch := make([]byte, 0, 64)
	a, ok := FirstAddress([]byte("Ada <ada@b>"), scratch)
	if !ok || &a.Mailbox[:1][0] != &scratch[:4][3] {
		t.Errorf("mailbox %q is not in scratch %q", a.Mailbox, scratch[:16])
	}
}
