package oracle

import "testing"

// TestAddressKeys_noLocalPart holds what DISPLAYFROM is of an address without
// local part: RFC 5957 section 3 has nothing to sort by then, and Dovecot reads
// "<@host>" as a route that no address follows.
func TestAddressKeys_noLocalPart(t *testing.T) {
	for _, c := range []struct{ from, display, dovecot string }{
		{`"" <@example.org>`, "", "MISSING_MAILBOX@MISSING_DOMAIN"},
		{"<@example.org>", "", "MISSING_MAILBOX@MISSING_DOMAIN"},
		{"@example.org", "", "MISSING_MAILBOX@EXAMPLE.ORG"},
		{"=?utf-8?q??= <@example.org>, g: a@b;", "", "MISSING_MAILBOX@MISSING_DOMAIN"},
		{"Name <@example.org>", "NAME", "NAME"},
		{`"" <""@example.org>`, "@EXAMPLE.ORG", "@EXAMPLE.ORG"},
		{`"" <@r.example:a@b>`, "A@B", "A@B"},
		{`"" <a>`, "A", "A@MISSING_DOMAIN"},
		{`"" <>`, "", "MISSING_MAILBOX@MISSING_DOMAIN"},
	} {
		if _, got := RFC.addressKeys(" " + c.from); got != c.display {
			t.Errorf("%s: %q, want %q", c.from, got, c.display)
		}
		if _, got := Dovecot.addressKeys(" " + c.from); got != c.dovecot {
			t.Errorf("%s: Dovecot %q, want %q", c.from, got, c.dovecot)
		}
	}
}
