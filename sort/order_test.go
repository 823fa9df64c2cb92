package sort

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naiveOrder is RFC 5256 section 3 in one comparison.
func naiveOrder(n int, rows []int32, crit []Criterion, col func(Key) []uint64) []int32 {
	var out []int32
	if rows == nil {
		for i := range n {
			out = append(out, int32(i))
		}
	} else {
		out = append(out, rows...)
	}
	slices.SortFunc(out, func(a, b int32) int {
		for _, c := range crit {
			v := cmp.Compare(col(c.Key)[a], col(c.Key)[b])
			if c.Reverse {
				v = -v
			}
			if v != 0 {
				return v
			}
		}
		return cmp.Compare(a, b)
	})
	return out
}

// column makes a column of a random width and shape.
func column(r *rand.Rand, n int) []uint64 {
	c := make([]uint64, n)
	width := r.IntN(65)
	base := r.Uint64()
	for i := range c {
		switch width {
		case 0:
			c[i] = base
		default:
			c[i] = base&^(1<<width-1) | r.Uint64()>>(64-width)
		}
	}
	switch r.IntN(4) {
	case 0:
		slices.Sort(c)
	case 1:
		slices.Sort(c)
		slices.Reverse(c)
	}
	return c
}

func TestOrderMatchesNaive(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sc := new(Scratch)
	var dst []int32
	n := 1500
	if testing.Short() {
		n = 200
	}
	for i := range n {
		n := r.IntN(100)
		if i%50 == 0 {
			n = r.IntN(5000)
		}
		var cols [NumKeys][]uint64
		for k := range cols {
			cols[k] = column(r, n)
		}
		col := func(k Key) []uint64 { return cols[k] }
		var crit []Criterion
		for range r.IntN(4) {
			crit = append(crit, Criterion{Key(r.IntN(int(NumKeys))), r.IntN(2) == 0})
		}
		var rows []int32
		if r.IntN(2) == 0 {
			rows = []int32{}
			for i := range n {
				if r.IntN(3) == 0 {
					rows = append(rows, int32(i))
				}
			}
		}
		dst = Order(dst, n, rows, crit, col, sc)
		if want := naiveOrder(n, rows, crit, col); !slices.Equal(dst, want) {
			t.Fatalf("n %d, rows %v, criteria %v: got %v, want %v", n, rows, crit, dst, want)
		}
	}
}

// Ties and REVERSE, as in the cases O*.
func TestOrderTies(t *testing.T) {
	cols := map[Key][]uint64{
		Date:    {FromInt64(5), FromInt64(-3), FromInt64(5), FromInt64(0), FromInt64(-3)},
		Subject: {1, 1, 0, 0, 1},
		Size:    {7, 7, 7, 7, 7},
	}
	col := func(k Key) []uint64 { return cols[k] }
	for _, c := range []struct {
		crit string
		rows []int32
		want []int32
	}{
		{"date", nil, []int32{1, 4, 3, 0, 2}},
		{"reverse date", nil, []int32{0, 2, 3, 1, 4}},
		{"size", nil, []int32{0, 1, 2, 3, 4}},
		{"reverse size", nil, []int32{0, 1, 2, 3, 4}},
		{"subject reverse date", nil, []int32{2, 3, 0, 1, 4}},
		{"reverse subject date", nil, []int32{1, 4, 0, 3, 2}},
		{"reverse subject date", []int32{0, 2, 4}, []int32{4, 0, 2}},
		{"date", []int32{3}, []int32{3}},
		{"date", []int32{}, []int32{}},
	} {
		crit, err := ParseCriteria(c.crit)
		if err != nil {
			t.Fatal(err)
		}
		if got := Order(nil, 5, c.rows, crit, col, new(Scratch)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %v: %v, want %v", c.crit, c.rows, got, c.want)
		}
	}
	if got := Order(nil, 0, nil, []Criterion{{Key: Date}}, func(Key) []uint64 { return nil }, new(Scratch)); len(got) != 0 {
		t.Errorf("order of nothing: %v", got)
	}
}

// arenaOf fills an arena.
func arenaOf(s [][]byte) *Arena {
	a := new(Arena)
	for _, b := range s {
		a.Append(b)
	}
	return a
}

func naiveRanks(s [][]byte) []uint32 {
	u := slices.Clone(s)
	slices.SortFunc(u, bytes.Compare)
	u = slices.CompactFunc(u, bytes.Equal)
	out := make([]uint32, len(s))
	for i, b := range s {
		r, _ := slices.BinarySearchFunc(u, b, bytes.Compare)
		out[i] = uint32(r)
	}
	return out
}

func checkRanks(t *testing.T, s [][]byte, sc *Scratch) {
	t.Helper()
	got, want := Ranks(nil, arenaOf(s), sc), naiveRanks(s)
	if !slices.Equal(got, want) {
		t.Fatalf("ranks of %q: %v, want %v", s, got, want)
	}
}

func TestRanksMatchNaive(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sc := new(Scratch)
	n := 1000
	if testing.Short() {
		n = 100
	}
	for i := range n {
		n := r.IntN(60)
		if i%20 == 0 {
			n = r.IntN(9000)
		}
		alphabet := []string{"\x00", "\x00a", "ab", "abcdefgh", "\x00\xff\x80"}[r.IntN(5)]
		s := make([][]byte, n)
		longest := 1 + r.IntN(30)
		prefix := bytes.Repeat([]byte{alphabet[0]}, r.IntN(20))
		for j := range s {
			s[j] = append(s[j], prefix[:r.IntN(len(prefix)+1)]...)
			for range r.IntN(longest) {
				s[j] = append(s[j], alphabet[r.IntN(len(alphabet))])
			}
		}
		checkRanks(t, s, sc)
	}
	// Lengths around the seven bytes of a key, with and without trailing NULs.
	var s [][]byte
	for n := range 20 {
		for _, tail := range []string{"", "\x00", "\x00\x00", "a", "\xff"} {
			s = append(s, append(bytes.Repeat([]byte("a"), n), tail...), append(make([]byte, n), tail...))
		}
	}
	checkRanks(t, s, sc)
	checkRanks(t, nil, sc)
}

func FuzzRanks(f *testing.F) {
	f.Add([]byte("a\nb\n\na\x00\na"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s := bytes.Split(in, []byte("\n"))
		checkRanks(t, append(s, s...), new(Scratch))
	})
}

func TestParseCriteria(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"date", "date"},
		{" REVERSE  Date\tsubject ", "reverse date subject"},
		{"(REVERSE ARRIVAL cc)", "reverse arrival cc"},
		{"from,reverse to", "from reverse to"},
		{"size displayfrom displayto subject", "size displayfrom displayto subject"},
	} {
		got, err := ParseCriteria(c.in)
		if err != nil || FormatCriteria(got) != c.want {
			t.Errorf("ParseCriteria(%q) = %v, %v", c.in, got, err)
		}
	}
	for _, in := range []string{"", " ", "()", "reverse", "date reverse", "reverse reverse date", "datum", strings.Repeat("date ", 65)} {
		if got, err := ParseCriteria(in); err == nil {
			t.Errorf("ParseCriteria(%q) = %v", in, got)
		}
	}
}

func TestAppendIMAP(t *testing.T) {
	for _, c := range []struct {
		uids []uint32
		want string
	}{
		{nil, "* SORT"}, {[]uint32{2, 1, 3}, "* SORT 2 1 3"}, {[]uint32{4294967295, 10, 99, 100}, "* SORT 4294967295 10 99 100"},
	} {
		if got := string(AppendIMAP([]byte("x"), c.uids)); got != "x"+c.want {
			t.Errorf("AppendIMAP(%v) = %q", c.uids, got)
		}
	}
}

// list is a mailbox as lists have it: dates nearly in order, subjects of
// threads, senders few.
func list(n int) (cols [NumKeys][]uint64, subjects *Arena) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("ADD FIX USE DROP SPLIT MOVE CLEAN UP THE A OF IN FOR WITH QUINCE MEDLAR SLOE DAMSON JAM JELLY PECTIN SUGAR PAN LID JAR SHELF BOIL COOL STIR SKIM")
	var pool [][]byte
	for range n/3 + 1 {
		var s []byte
		s = append(s, words[r.IntN(len(words))]...)
		s = append(s, ": "...)
		for range 3 + r.IntN(6) {
			s = append(append(s, words[r.IntN(len(words))]...), ' ')
		}
		pool = append(pool, s)
	}
	subjects = new(Arena)
	for k := range cols {
		cols[k] = make([]uint64, n)
	}
	for i := range n {
		at := int64(1.5e9) + int64(i)*600
		cols[Arrival][i] = FromInt64(at)
		cols[Date][i] = FromInt64(at - int64(r.ExpFloat64()*5000))
		cols[Size][i] = uint64(3000 + r.ExpFloat64()*6000)
		cols[From][i] = uint64(r.IntN(n/50 + 1))
		subjects.Append(pool[max(0, min(len(pool)-1, i/3+int(r.NormFloat64()*100)))])
	}
	for i, v := range Ranks(nil, subjects, new(Scratch)) {
		cols[Subject][i] = uint64(v)
	}
	return cols, subjects
}

func TestAllocs(t *testing.T) {
	const n = 20_000
	cols, subjects := list(n)
	col := func(k Key) []uint64 { return cols[k] }
	sc := new(Scratch)
	rows := make([]int32, 0, n)
	for i := range n {
		if i%7 != 0 {
			rows = append(rows, int32(i))
		}
	}
	dst := make([]int32, 0, n)
	ranks := make([]uint32, 0, n)
	text := make([]byte, 0, 1<<20)
	uids := make([]uint32, n)
	crit := []Criterion{{Subject, false}, {Date, true}}
	for name, f := range map[string]func(){
		"order":  func() { Order(dst, n, nil, crit, col, sc) },
		"subset": func() { Order(dst, n, rows, crit, col, sc) },
		"ranks":  func() { Ranks(ranks, subjects, sc) },
		"format": func() { AppendIMAP(text, uids) },
	} {
		if a := testing.AllocsPerRun(3, f); a > 0.01*n {
			t.Errorf("%s: %v allocations", name, a)
		} else if a > 0 {
			t.Errorf("%s: %v allocations, and none was promised", name, a)
		}
	}
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{20_000, 370_000} {
		cols, _ := list(n)
		col := func(k Key) []uint64 { return cols[k] }
		for _, keys := range []string{"arrival", "date", "reverse date", "size", "from", "subject", "subject reverse date"} {
			b.Run(fmt.Sprintf("keys=%s/msgs=%d", strings.ReplaceAll(keys, " ", "_"), n), func(b *testing.B) {
				crit, _ := ParseCriteria(keys)
				sc := new(Scratch)
				dst := Order(nil, n, nil, crit, col, sc)
				if !slices.Equal(dst, naiveOrder(n, nil, crit, col)) {
					b.Fatal("wrong order")
				}
				b.ReportAllocs()
				for b.Loop() {
					dst = Order(dst, n, nil, crit, col, sc)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/msg")
			})
		}
	}
}

func BenchmarkRanks(b *testing.B) {
	const n = 370_000
	_, subjects := list(n)
	prefixed := new(Arena)
	for i := range n {
		prefixed.Append(append(bytes.Repeat([]byte("QUINCE JAM "), 8), subjects.At(i)...))
	}
	equal := new(Arena)
	for range n {
		equal.Append(subjects.At(0))
	}
	for _, c := range []struct {
		name string
		a    *Arena
	}{{"subjects", subjects}, {"common-prefix", prefixed}, {"equal", equal}} {
		b.Run("shape="+c.name, func(b *testing.B) {
			sc := new(Scratch)
			dst := Ranks(nil, c.a, sc)
			b.ReportAllocs()
			for b.Loop() {
				dst = Ranks(dst, c.a, sc)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	const n = 370_000
	uids := make([]uint32, n)
	for i, p := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		uids[i] = uint32(p + 1)
	}
	var dst []byte
	for b.Loop() {
		dst = AppendIMAP(dst[:0], uids)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
}

// Groups too small for a radix pass are sorted by comparison, and that is counted.
func TestScratch_compares(t *testing.T) {
	var sc Scratch
	for _, of := range []struct {
		strings []string
		want    int64
	}{
		{[]string{"a"}, 0}, {[]string{"a", "b"}, 1}, {[]string{"b", "a"}, 1}, {[]string{"a", "b", "c"}, 2}, {[]string{"c", "b", "a"}, 3},
		{[]string{"same prefix 1", "same prefix 2"}, 2}, // seven bytes, then the next
	} {
		var a Arena
		for _, s := range of.strings {
			a.Append([]byte(s))
		}
		before := sc.Compares()
		Ranks(nil, &a, &sc)
		if n := sc.Compares() - before; n != of.want {
			t.Errorf("%q: %d comparisons, want %d", of.strings, n, of.want)
		}
	}
}
