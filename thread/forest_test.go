package thread

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAppendIMAP(t *testing.T) {
	for _, c := range []struct {
		row, kids []int32
		want      string
	}{
		{nil, nil, "* THREAD"},
		{[]int32{0}, []int32{0}, "* THREAD (1)"},
		{[]int32{0, 1, 2, 3, 4, 5}, []int32{1, 2, 0, 1, 0, 0}, "* THREAD (1 2 (3)(4 5))(6)"},
		{[]int32{-1, 0, 1}, []int32{2, 0, 0}, "* THREAD ((1)(2))"},
		{[]int32{-1, 0, 1, 2}, []int32{2, 1, 0, 0}, "* THREAD ((1 2)(3))"},
		{[]int32{0, 1, 2, 3, 4, 5, 6}, []int32{2, 2, 0, 0, 2, 0, 0}, "* THREAD (1 (2 (3)(4))(5 (6)(7)))"},
		{[]int32{0, 1, 2}, []int32{1, 1, 0}, "* THREAD (1 2 3)"},
	} {
		f := Forest{c.row, c.kids}
		if err := f.Check(len(c.row)); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
		if got := string(f.AppendIMAP(nil, identity(10))); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	// Wide UIDs, and more open branches than the array on the stack.
	f, want := Forest{}, new(strings.Builder)
	want.WriteString("x* THREAD ")
	const deep = 5000
	for i := range deep {
		f.Row = append(f.Row, int32(2*i), int32(2*i+1))
		f.Kids = append(f.Kids, 2, 0)
		want.WriteString("(4294967295 (4294967295)")
	}
	f.Row = append(f.Row, 2*deep)
	f.Kids = append(f.Kids, 0)
	want.WriteString("(4294967295)" + strings.Repeat(")", deep))
	uid := make([]uint32, 2*deep+1)
	for i := range uid {
		uid[i] = 1<<32 - 1
	}
	if err := f.Check(len(uid)); err != nil {
		t.Fatal(err)
	}
	if got := string(f.AppendIMAP([]byte("x"), uid)); got != want.String() {
		t.Errorf("deep branches: %d bytes, want %d", len(got), want.Len())
	}
}

func TestCheckFindsDamage(t *testing.T) {
	for name, f := range map[string]Forest{
		"lengths":          {[]int32{0, 1}, []int32{0}},
		"child missing":    {[]int32{0}, []int32{1}},
		"negative":         {[]int32{0}, []int32{-1}},
		"row twice":        {[]int32{0, 0}, []int32{0, 0}},
		"row out of range": {[]int32{3}, []int32{0}},
		"row below -1":     {[]int32{-2, 0, 1}, []int32{2, 0, 0}},
		"dummy below":      {[]int32{0, -1, 1, 2}, []int32{1, 2, 0, 0}},
		"dummy of one":     {[]int32{-1, 0}, []int32{1, 0}},
	} {
		if err := f.Check(3); !errors.Is(err, ErrForest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Any change of one number is found or gives another forest; no panic.
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var f Forest
		in := input(random(r))
		Build(References, in, nil, &f, new(Scratch))
		g := Forest{slices.Clone(f.Row), slices.Clone(f.Kids)}
		if len(f.Row) == 0 {
			continue
		}
		i := r.IntN(len(f.Row))
		if r.IntN(2) == 0 {
			g.Row[i] = r.Int32N(int32(in.N)+2) - 1
		} else {
			g.Kids[i] = r.Int32N(5) - 1
		}
		if g.Check(in.N) == nil {
			g.AppendIMAP(nil, identity(in.N))
		}
	}
}
