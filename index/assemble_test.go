package index

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Rows taken apart and put together are what a Builder makes of their headers.
func TestAssembler(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 200
	b, x := NewBuilder(n, WantAll, CompatRFC), Extractor{Want: WantAll}
	a := NewAssembler(n, WantAll)
	for i := range n {
		h := fmt.Appendf(nil, "Message-ID: <%d@example.net>\nReferences: <%d@example.net> <x@example.org>\nSubject: Re: s%d\nDate: Mon, 2 Jan 2006 15:04:%02d +0000\nFrom: A <a%d@example.net>\nTo: b@example.net\nCc: c%d@example.net\n\n",
			r.IntN(n), r.IntN(n), r.IntN(9), r.IntN(60), r.IntN(5), r.IntN(5))
		b.Add(i%3, i, h)
		var f Fields
		x.Extract(h, &f)
		a.Add(&f, f.Date)
	}
	want, got := b.Columns(), a.Columns()
	if !reflect.DeepEqual(want.Input, got.Input) {
		t.Fatalf("got %+v\nwant %+v", got.Input, want.Input)
	}
	for i, w := range [][]int32{want.From, want.To, want.Cc, want.DisplayFrom, want.DisplayTo} {
		if g := [][]int32{got.From, got.To, got.Cc, got.DisplayFrom, got.DisplayTo}[i]; !reflect.DeepEqual(w, g) {
			t.Fatalf("key %d: got %v, want %v", i, g, w)
		}
	}
}

func TestKnownCodec(t *testing.T) {
	k := Known{State{1, 2, 3, 4, true, false}, Digest{[2]uint64{5, 6}, 7}}
	b := k.Append(nil)
	if got, ok := DecodeKnown(b); !ok || got != k {
		t.Fatalf("%+v, %v", got, ok)
	}
	for n := range len(b) {
		if _, ok := DecodeKnown(b[:n]); ok {
			t.Fatalf("%d bytes decode", n)
		}
	}
}
