package thread

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mailbench/internal/oracle"
)

// A tmsg is a message in tests. Ids are small numbers, -1 none.
type tmsg struct {
	id      int32
	refs    []int32
	subject int32 // 0 empty
	reply   bool
	date    int64
}

func input(msgs []tmsg) *Input {
	in := &Input{N: len(msgs), RefOff: []uint32{0}}
	for _, m := range msgs {
		in.ID = append(in.ID, m.id)
		in.Ref = append(in.Ref, m.refs...)
		in.RefOff = append(in.RefOff, uint32(len(in.Ref)))
		in.Subject = append(in.Subject, m.subject)
		in.Reply = append(in.Reply, map[bool]uint8{true: 1}[m.reply])
		in.Date = append(in.Date, m.date)
		for _, id := range append(m.refs, m.id) {
			in.NumIDs = max(in.NumIDs, int(id)+1)
		}
	}
	return in
}

// identity gives row r UID r+1.
func identity(n int) []uint32 {
	uid := make([]uint32, n)
	for i := range uid {
		uid[i] = uint32(i + 1)
	}
	return uid
}

func build(t testing.TB, alg Alg, in *Input, rows []int32, sc *Scratch) string {
	t.Helper()
	var f Forest
	Build(alg, in, rows, &f, sc)
	checkForest(t, &f, in, rows)
	return string(f.AppendIMAP(nil, identity(in.N)))
}

// checkForest holds the invariants I1 and I2.
func checkForest(t testing.TB, f *Forest, in *Input, rows []int32) {
	t.Helper()
	if err := f.Check(in.N); err != nil {
		t.Fatal(err)
	}
	var got []int32
	for _, r := range f.Row {
		if r >= 0 {
			got = append(got, r)
		}
	}
	slices.Sort(got)
	want := rows
	if rows == nil {
		for i := range in.N {
			want = append(want, int32(i))
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("rows in the forest: %v, want %v", got, want)
	}
}

// The shapes of the cases T*, and what else the RFC's text decides.
func TestReferences(t *testing.T) {
	for _, c := range []struct {
		name string
		msgs []tmsg
		want string
	}{
		{"nothing", nil, "* THREAD"},
		{"one", []tmsg{{id: 1}}, "(1)"},
		{"chain", []tmsg{{id: 1}, {id: 2, refs: []int32{1}}, {id: 3, refs: []int32{1, 2}}}, "(1 2 3)"},
		{"T01 mutual loop", []tmsg{{id: 1, refs: []int32{2}}, {id: 2, refs: []int32{1}}}, "(2 1)"},
		{"loop of three", []tmsg{{id: 1, refs: []int32{3}}, {id: 2, refs: []int32{1}}, {id: 3, refs: []int32{2}}}, "(3 1 2)"},
		{"T04 self reference", []tmsg{{id: 1, refs: []int32{1}}, {id: 2, refs: []int32{1, 2}}}, "(1)(2)"},
		{"T05 duplicate id", []tmsg{{id: 1}, {id: 1, refs: []int32{2}}, {id: 2}, {id: 3, refs: []int32{1}}}, "(1 4)(3 2)"},
		{"T07 orphan", []tmsg{{id: 1, refs: []int32{9}}}, "(1)"},
		{"missing parent", []tmsg{{id: 1, refs: []int32{9}}, {id: 2, refs: []int32{9}}}, "((1)(2))"},
		{"T08 missing parent, subject", []tmsg{{id: 1, refs: []int32{9}, subject: 1}, {id: 2, refs: []int32{9}, subject: 2}, {id: 3, subject: 1}}, "((1)(2)(3))"},
		{"T09 dummy replaces", []tmsg{{id: 3, subject: 1}, {id: 1, refs: []int32{9}, subject: 1}, {id: 2, refs: []int32{9}}}, "((1)(2)(3))"},
		{"T15 existing parent stays", []tmsg{{id: 1}, {id: 2, refs: []int32{1}}, {id: 3, refs: []int32{2}}, {id: 4, refs: []int32{1, 3}}}, "(1 2 3 4)"},
		{"T16 own references override", []tmsg{{id: 4, refs: []int32{1, 3}}, {id: 1}, {id: 2, refs: []int32{1}}, {id: 3, refs: []int32{1, 2}}}, "(2 3 4 1)"},
		{"no references, no parent", []tmsg{{id: 2, refs: []int32{9, 1}}, {id: 1}}, "(2 1)"},
		{"T18 reply first", []tmsg{{id: 2, refs: []int32{1}}, {id: 1}}, "(2 1)"},
		{"T33 nested dummies", []tmsg{{id: 1, refs: []int32{7, 8, 9}}, {id: 2, refs: []int32{7, 8}}}, "((1)(2))"},
		{"dummy between", []tmsg{{id: 1}, {id: 2, refs: []int32{1, 8, 9}}, {id: 3, refs: []int32{1, 8}}}, "(1 (2)(3))"},
		{"childless dummies", []tmsg{{id: 1}, {id: 2, refs: []int32{1, 9, 2}}}, "(1)(2)"},
		{"dummy beside a child", []tmsg{{id: 1, refs: []int32{8}}, {id: 2, refs: []int32{8, 9, 2}}}, "(1)(2)"},
		{"T23 siblings by date", []tmsg{{id: 1}, {id: 2, refs: []int32{1}, date: 3}, {id: 3, refs: []int32{1}, date: -2}, {id: 4, refs: []int32{1}, date: 1}}, "(1 (3)(4)(2))"},
		{"T24 ties by row", []tmsg{{id: 3, date: 1}, {id: 2, date: 1}, {id: 1, date: 1}}, "(1)(2)(3)"},
		{"T29 two dummies", []tmsg{{id: 1, refs: []int32{8}, subject: 1}, {id: 2, refs: []int32{8}}, {id: 3, refs: []int32{9}, subject: 1, date: 1}, {id: 4, refs: []int32{9}, date: -1, subject: 1}}, "((4)(1)(2)(3))"},
		{"T31 subject changed", []tmsg{{id: 1, subject: 1}, {id: 2, refs: []int32{1}, subject: 2}}, "(1 2)"},
		{"T34 roots after the merge", []tmsg{{id: 1, subject: 1, date: 5}, {id: 2, subject: 1, reply: true, date: 1}, {id: 3, date: 3}}, "(3)(1 2)"},
		{"T35 youngest grandchild", []tmsg{{id: 1}, {id: 2, refs: []int32{1}, date: 1}, {id: 3, refs: []int32{1}, date: 2}, {id: 4, refs: []int32{2}, date: 9}}, "(1 (2 4)(3))"},
		{"reply and reply", []tmsg{{id: 1, subject: 1, reply: true}, {id: 2, subject: 1, reply: true}}, "((1)(2))"},
		{"three originals", []tmsg{{id: 1, subject: 1}, {id: 2, subject: 1}, {id: 3, subject: 1}}, "((1)(2)(3))"},
		{"original after replies", []tmsg{{id: 1, subject: 1, reply: true}, {id: 2, subject: 1, reply: true}, {id: 3, subject: 1}, {id: 4, subject: 1}}, "((3 (1)(2))(4))"},
		{"empty subjects stay apart", []tmsg{{id: 1}, {id: 2}, {id: 3, reply: true}}, "(1)(2)(3)"},
		{"no id", []tmsg{{id: -1, refs: []int32{2}}, {id: 2}, {id: -1}}, "(2 1)(3)"},
	} {
		in := input(c.msgs)
		want := c.want
		if len(c.msgs) > 0 {
			want = "* THREAD " + want
		}
		if got := build(t, References, in, nil, new(Scratch)); got != want {
			t.Errorf("%s: got %s, want %s", c.name, got, want)
		}
		if got := naiveThread(References, in, nil); got != want {
			t.Errorf("%s: the literal reading gives %s", c.name, got)
		}
	}
}

func TestOtherAlgs(t *testing.T) {
	in := input([]tmsg{
		{id: 1, subject: 1, date: 10}, {id: 2, refs: []int32{1}, subject: 1, reply: true, date: 90},
		{id: 3, subject: 2, date: 20}, {id: 4, subject: 0, date: 30}, {id: 5, subject: 0, date: 25},
		{id: 6, subject: 1, refs: []int32{9}, date: 40}, {id: 7, subject: 2, refs: []int32{9}, date: 39},
	})
	for _, c := range []struct {
		alg  Alg
		rows []int32
		want string
	}{
		{References, nil, "* THREAD (1 2)(3 (7)(6))(5)(4)"},
		{Refs, nil, "* THREAD (3)(5)(4)((7)(6))(1 2)"},
		{OrderedSubject, nil, "* THREAD (1 (6)(2))(3 7)(5 4)"}, // T47: the empty subject is one
		{References, []int32{}, "* THREAD"},
		{References, []int32{1}, "* THREAD (2)"},
		{Refs, []int32{1, 5, 6}, "* THREAD ((7)(6))(2)"},
		{OrderedSubject, []int32{1, 5, 6}, "* THREAD (7)(6 2)"},
	} {
		got := build(t, c.alg, in, c.rows, new(Scratch))
		want := naiveThread(c.alg, in, c.rows)
		if got != want {
			t.Errorf("%v of %v: got %s, the literal reading gives %s", c.alg, c.rows, got, want)
		}
		if c.alg != References && got != c.want {
			t.Errorf("%v of %v: got %s, want %s", c.alg, c.rows, got, c.want)
		}
	}
}

// random makes a small mailbox in which everything collides.
func random(r *rand.Rand) []tmsg {
	n := r.IntN(14)
	if r.IntN(20) == 0 {
		n = r.IntN(120)
	}
	ids := int32(1 + r.IntN(n+4))
	subjects := int32(1 + r.IntN(6))
	dates := int64(1 + r.IntN(n+2))
	long := 1 + r.IntN(5)
	msgs := make([]tmsg, n)
	for i := range msgs {
		m := &msgs[i]
		m.id = r.Int32N(ids)
		if r.IntN(8) == 0 {
			m.id = -1
		}
		for range r.IntN(long + 1) {
			m.refs = append(m.refs, r.Int32N(ids))
		}
		m.subject = r.Int32N(subjects)
		m.reply = m.subject > 0 && r.IntN(2) == 0
		m.date = 1_000_000_000 + 60*(r.Int64N(dates)-dates/2)
	}
	return msgs
}

// message gives m the headers that say the same.
func (m *tmsg) message(uid int) oracle.Message {
	var b strings.Builder
	if m.id >= 0 {
		fmt.Fprintf(&b, "Message-ID: <%d@quince.example>\n", m.id)
	}
	if len(m.refs) > 0 {
		b.WriteString("References:")
		for _, id := range m.refs {
			fmt.Fprintf(&b, "\n <%d@quince.example>", id)
		}
		b.WriteString("\n")
	}
	if m.subject > 0 {
		re := ""
		if m.reply {
			re = "Re: "
		}
		fmt.Fprintf(&b, "Subject: %sjam %d\n", re, m.subject)
	}
	fmt.Fprintf(&b, "Date: %s\n\n", time.Unix(m.date, 0).UTC().Format(time.RFC1123Z))
	return oracle.Message{UID: uint32(uid), Header: []byte(b.String()), InternalDate: m.date}
}

// rounds is n, less under -short.
func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestBuildMatchesNaiveAndOracle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sc := &Scratch{epoch: 1<<32 - 3000} // it wraps on the way
	for i := range rounds(20_000) {
		msgs := random(r)
		in := input(msgs)
		for alg := range NumAlgs {
			if err := in.Check(alg); err != nil {
				t.Fatal(err)
			}
		}
		for alg := range NumAlgs {
			got, want := build(t, alg, in, nil, sc), naiveThread(alg, in, nil)
			if got != want {
				t.Fatalf("mailbox %d, %v of %+v:\n got %s\nwant %s", i, alg, msgs, got, want)
			}
			if i%4 == 0 && len(msgs) > 0 {
				box := make([]oracle.Message, len(msgs))
				for i := range msgs {
					box[i] = msgs[i].message(i + 1)
				}
				switch alg {
				case References:
					want = oracle.References(box)
				case OrderedSubject:
					want = oracle.OrderedSubject(box)
				case Refs:
					want = oracle.New(box, oracle.RFC).Refs()
				}
				if got != "* THREAD "+want {
					t.Fatalf("mailbox %d, %v of %+v:\n   got %s\noracle %s", i, alg, msgs, got, want)
				}
			}
		}
		// A search result is threaded as if the others were absent.
		rows := []int32{}
		for row := range in.N {
			if r.IntN(3) > 0 {
				rows = append(rows, int32(row))
			}
		}
		for alg := range NumAlgs {
			got, want := build(t, alg, in, rows, sc), naiveThread(alg, in, rows)
			if got != want {
				t.Fatalf("mailbox %d, %v of %v in %+v:\n got %s\nwant %s", i, alg, rows, msgs, got, want)
			}
		}
	}
}

// The same with link-cut trees from the first walk on.
func TestLinkCutMatchesNaive(t *testing.T) {
	for _, budget := range []int64{1, 3, 20} {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		sc := &Scratch{testBudget: budget}
		used := 0
		for i := range rounds(8000) {
			msgs := random(r)
			in := input(msgs)
			got, want := build(t, References, in, nil, sc), naiveThread(References, in, nil)
			if got != want {
				t.Fatalf("mailbox %d of %+v:\n got %s\nwant %s", i, msgs, got, want)
			}
			if sc.lct.on {
				used++
			}
		}
		if used == 0 {
			t.Error("link-cut trees were never used")
		}
	}
}

func FuzzBuild(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, uint8(3))
	f.Add([]byte("the quince said to the medlar"), uint8(200))
	f.Fuzz(func(t *testing.T, b []byte, mod uint8) {
		if len(b) > 2000 {
			return
		}
		ids := int32(mod%40) + 1
		var msgs []tmsg
		for len(b) >= 4 {
			m := tmsg{id: int32(b[0])%(ids+1) - 1, subject: int32(b[1] % 4), reply: b[1]&16 != 0, date: int64(b[2] % 8)}
			n := min(int(b[3]%6), len(b)-4)
			for _, c := range b[4 : 4+n] {
				m.refs = append(m.refs, int32(c)%ids)
			}
			b = b[4+n:]
			msgs = append(msgs, m)
		}
		in := input(msgs)
		for alg := range NumAlgs {
			if got, want := build(t, alg, in, nil, new(Scratch)), naiveThread(alg, in, nil); got != want {
				t.Fatalf("%v of %+v:\n got %s\nwant %s", alg, msgs, got, want)
			}
		}
	})
}

func TestParseAlg(t *testing.T) {
	for alg := range NumAlgs {
		if got, err := ParseAlg(strings.ToUpper(alg.String())); err != nil || got != alg {
			t.Errorf("ParseAlg(%v) = %v, %v", alg, got, err)
		}
	}
	for _, s := range []string{"", "reference", strconv.Itoa(0)} {
		if _, err := ParseAlg(s); err == nil {
			t.Errorf("ParseAlg(%q) gives no error", s)
		}
	}
}

func TestInputCheck(t *testing.T) {
	for name, spoil := range map[string]func(in *Input){
		"rows":          func(in *Input) { in.N++ },
		"negative rows": func(in *Input) { in.N = -1 },
		"id too large":  func(in *Input) { in.ID[1] = int32(in.NumIDs) },
		"id below -1":   func(in *Input) { in.ID[1] = -2 },
		"reference":     func(in *Input) { in.Ref[0] = int32(in.NumIDs) },
		"no reference":  func(in *Input) { in.Ref[0] = -1 },
		"offset":        func(in *Input) { in.RefOff[1] = 7 },
		"last offset":   func(in *Input) { in.RefOff[2] = 7 },
		"subject":       func(in *Input) { in.Subject[0] = -1 },
		"dates":         func(in *Input) { in.Date = in.Date[:1] },
	} {
		in := input([]tmsg{{id: 1}, {id: 2, refs: []int32{1}}})
		spoil(in)
		if err := in.Check(References); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
