package index

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// What AppendFields appends, ParseFields reads; a Collector makes of it what a
// Builder makes of the headers.
func TestCollector(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const n = 200
	headers := make([][]byte, n)
	for i := range headers {
		h := ""
		for _, line := range []string{
			fmt.Sprintf("Message-ID: <%d@example.net>\n", r.IntN(n)), "References: <a@b>\n <c@d> <e@f>\n", "In-Reply-To: <1@example.net>\n",
			"Subject: Re: one\n", "Subject: two\n", "Date: Mon, 3 Feb 2020 10:00:00 +0100\n", "Date: never\n", "From: \"A B\" <a@example.net>\n",
			"To: c@example.net\n", "Cc: d@example.net\n",
		} {
			if r.IntN(2) == 0 {
				h += line
			}
		}
		headers[i] = []byte(h + "\n")
	}
	for _, want := range []Want{WantAll, WantThread, WantIDs, WantSubject, WantDate, WantFrom | WantDisplayTo} {
		b, k := NewBuilder(n, want, CompatRFC), NewCollector(n, want)
		x := Extractor{Want: WantAll}
		var f, g Fields
		for i, h := range headers {
			if i%50 == 7 {
				k.Skip()
				continue
			}
			b.Add(0, i, h)
			x.Extract(h, &f)
			packed := AppendFields(nil, &f)
			rest, ok := ParseFields(append(packed, 'x'), &g)
			if !ok || string(rest) != "x" {
				t.Fatalf("row %d: rest %q, ok %v", i, rest, ok)
			}
			for cut := range packed {
				if _, ok := ParseFields(packed[:cut], &Fields{}); ok {
					t.Fatalf("row %d: cut at %d of %d is read", i, cut, len(packed))
				}
			}
			k.Add(&g)
		}
		bc, kc := b.Columns(), k.Columns()
		in, out := bc.Input, kc.Input
		if !reflect.DeepEqual(in, out) {
			t.Fatalf("want %b: input\n%+v\nof the builder\n%+v", want, out, in)
		}
		for i, p := range [][2][]int32{{bc.From, kc.From}, {bc.To, kc.To}, {bc.Cc, kc.Cc}, {bc.DisplayFrom, kc.DisplayFrom}, {bc.DisplayTo, kc.DisplayTo}, {bc.NoDate, kc.NoDate}, {bc.Failed, kc.Failed}} {
			if len(p[0]) != len(p[1]) || len(p[0]) > 0 && !reflect.DeepEqual(p[0], p[1]) {
				t.Fatalf("want %b: column %d\n%v\nof the builder\n%v", want, i, p[1], p[0])
			}
		}
	}
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
