package index

import "testing"

// The subject of a message is casemapped once: what a decomposition gives is
// not titlecased again (RFC 5051 section 2), in Dovecot's way neither.
func TestExtract_casemapsOnce(t *testing.T) {
	for _, compat := range []Compat{CompatRFC, CompatDovecot} {
		x := Extractor{Want: WantSubject, Compat: compat}
		var f Fields
		x.Extract([]byte("Subject: Re: 1\u00aa b\n\n"), &f)
		if got, want := string(f.Subject), "1a B"; got != want || !f.Reply {
			t.Errorf("%v: got %q %v, want %q", compat, got, f.Reply, want)
		}
	}
}
