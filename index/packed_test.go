package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// What AppendFields appends, ParseFields reads.
func TestFieldsPacked(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range 200 {
		h := ""
		for _, line := range []string{
			"Message-ID: <a@example.net>\n", "References: <a@b>\n <c@d> <e@f>\n", "In-Reply-To: <1@example.net>\n",
			"Subject: Re: one\n", "Subject: two\n", "Date: Mon, 3 Feb 2020 10:00:00 +0100\n", "Date: never\n", "From: \"A B\" <a@example.net>\n",
			"To: c@example.net\n", "Cc: d@example.net\n",
		} {
			if r.IntN(2) == 0 {
				h += line
			}
		}
		x := Extractor{Want: WantAll}
		var f, g Fields
		x.Extract([]byte(h+"\n"), &f)
		packed := AppendFields(nil, &f)
		rest, ok := ParseFields(append(packed, 'x'), &g)
		if !ok || string(rest) != "x" {
			t.Fatalf("row %d: rest %q, ok %v", i, rest, ok)
		}
		if got, want := show(&g), show(&f); got != want || (f.ID == nil) != (g.ID == nil) {
			t.Fatalf("row %d: %s, want %s", i, got, want)
		}
		for cut := range packed {
			if _, ok := ParseFields(packed[:cut], &Fields{}); ok {
				t.Fatalf("row %d: cut at %d of %d is read", i, cut, len(packed))
			}
		}
	}
}

func show(f *Fields) string {
	return fmt.Sprintf("%q %q %q %v %v %v %q %q %q %q %q", f.ID, f.Refs, f.Subject, f.Reply, f.Date, f.DateOK, f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo)
}

func FuzzParseFields(f *testing.F) {
	var x Fields
	f.Add(AppendFields(nil, &Fields{ID: []byte("a@b"), Refs: [][]byte{[]byte("c@d")}, Subject: []byte("s"), DateOK: true, Date: 7}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if rest, ok := ParseFields(b, &x); ok && len(rest) > len(b) {
			t.Fatal("more than there was")
		}
		if len(x.Refs) > len(b) {
			t.Fatal("more references than bytes")
		}
	})
}
