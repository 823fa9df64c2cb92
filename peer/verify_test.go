package peer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func threads(t *testing.T, s string) answer {
	t.Helper()
	a, err := threadAnswer([]byte("THREAD " + s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return a
}

func TestThreadAnswer(t *testing.T) {
	for _, c := range []struct {
		line, uids, depth, parent string
	}{
		{"(1)(2)", "[1 2]", "[0 0]", "[-1 -1]"},
		{"(1 2 3)", "[1 2 3]", "[0 1 2]", "[-1 0 1]"},
		{"(1 2 (3)(4 5))(6)", "[1 2 3 4 5 6]", "[0 1 2 2 3 0]", "[-1 0 1 1 3 -1]"},
		{"((1)(2 3))(4)", "[0 1 2 3 4]", "[0 1 1 2 0]", "[-1 0 0 2 -1]"},
	} {
		a := threads(t, c.line)
		if fmt.Sprint(a.uids) != c.uids || fmt.Sprint(a.depth) != c.depth || fmt.Sprint(a.parent) != c.parent {
			t.Errorf("%s: %v %v %v", c.line, a.uids, a.depth, a.parent)
		}
	}
}

func TestAnswerEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"(1 2)(3)", "(1 2)(3)", true},
		{"(1 2)(3)", "(1 2)(3)(4)", false},
		{"(1 2)(3)", "(1 3)(2)", false},
		{"(1 2 3)", "(1 (2)(3))", false},
		{"((1)(2))", "(1 2)", false},
		{"(1)(2)", "(2)(1)", false},
	} {
		a, b := threads(t, c.a), threads(t, c.b)
		if a.equal(b) != c.same || b.equal(a) != c.same {
			t.Errorf("%s and %s", c.a, c.b)
		}
	}
}

// TestAnswerFirst holds what is named: both messages at the place, their
// parents and the one before.
func TestAnswerFirst(t *testing.T) {
	for _, c := range []struct {
		ours, theirs, text string
		uids               []uint32
	}{
		{"(1 2)(3 4)(5)", "(1 2)(5)(3 4)", "place 3: theirs has UID 5 at the top of a thread, ours UID 3 at the top of a thread", []uint32{2, 3, 5}},
		{"(1 2 3)", "(1 (2)(3))", "place 3: theirs has UID 3 below UID 1, ours UID 3 below UID 2", []uint32{1, 2, 3}},
		{"(1)(2 3)", "(1)((2)(3))", "place 2: theirs has a parent that is not there at the top of a thread, ours UID 2", []uint32{1, 2}},
		{"(1)(2)", "(1)", "place 2: theirs has nothing, ours UID 2", []uint32{1, 2}},
	} {
		text, uids := threads(t, c.ours).first(threads(t, c.theirs))
		if !strings.Contains(text, c.text) || !slices.Equal(uids, c.uids) {
			t.Errorf("%s, %s: %s %v", c.ours, c.theirs, text, uids)
		}
	}
	text, uids := answer{uids: []uint32{4, 2, 3, 1}}.first(answer{uids: []uint32{4, 2, 1, 3}})
	if text != "at place 3: theirs has UID 1, ours UID 3" || !slices.Equal(uids, []uint32{1, 2, 3}) {
		t.Errorf("%s %v", text, uids)
	}
}

func TestAnswerMoved(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"(1 2)(3)", "(1 2 3)", 1},
		{"(1)(2)(3)", "(3)(1)(2)", 1}, // no other parents, one moved
		{"((1)(2))(3)", "(1 2)(3)", 2},
		{"(1 2)", "(1 2)", 0},
	} {
		if got := threads(t, c.a).moved(threads(t, c.b)); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestLongestKept compares with the table of quadratic size, on orders from
// which some elements were moved: no more than those can count as moved.
func TestLongestKept(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		n := rng.IntN(30)
		a := make([]uint32, n)
		for i := range a {
			a[i] = uint32(i + 1)
		}
		rng.Shuffle(n, func(i, j int) { a[i], a[j] = a[j], a[i] })
		b := slices.Clone(a)
		moves := rng.IntN(4)
		for range moves {
			if n == 0 {
				break
			}
			from := rng.IntN(n)
			x := b[from]
			b = slices.Delete(b, from, from+1)
			b = slices.Insert(b, rng.IntN(n), x)
		}
		table := make([][]int, n+1)
		for i := range table {
			table[i] = make([]int, n+1)
		}
		for i := range n {
			for j := range n {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
				if a[i] == b[j] {
					table[i+1][j+1] = table[i][j] + 1
				}
			}
		}
		kept := keptOf(a, b)
		if len(kept) != table[n][n] || n-len(kept) > moves {
			t.Fatalf("seed %d: %v %v: %d kept, want %d", seed, a, b, len(kept), table[n][n])
		}
		still := func(x []uint32) []uint32 {
			return slices.DeleteFunc(slices.Clone(x), func(uid uint32) bool { return !kept[uid] })
		}
		if !slices.Equal(still(a), still(b)) {
			t.Fatalf("seed %d: %v %v: %v do not stand alike", seed, a, b, kept)
		}
	}
}

func TestFetched(t *testing.T) {
	const date = 1714656730
	for _, c := range []struct {
		line string
		ok   bool
	}{
		{`1 FETCH (UID 7 RFC822.SIZE 90 INTERNALDATE "02-May-2024 13:32:10 +0000")`, true},
		{`1 FETCH (INTERNALDATE " 2-May-2024 15:32:10 +0200" UID 7 RFC822.SIZE 90)`, true},
		{`1 fetch (FLAGS (\Seen \Recent) UID 7 RFC822.SIZE 90 INTERNALDATE "02-May-2024 13:32:10 +0000" MODSEQ (3))`, true},
		{`1 FETCH (UID 7 RFC822.SIZE 90)`, false},
		{`1 FETCH (UID x RFC822.SIZE 90 INTERNALDATE "02-May-2024 13:32:10 +0000")`, false},
		{`1 FETCH (UID 7 RFC822.SIZE 90 INTERNALDATE "yesterday")`, false},
		{`1 EXISTS`, false},
		{`OK [UIDNEXT 4] FETCH`, false},
		{`1 FETCH ()`, false},
		{``, false},
	} {
		uid, size, at, ok := fetched([]byte(c.line))
		if ok != c.ok || ok && (uid != 7 || size != 90 || at != date) {
			t.Errorf("%s: %d %d %d %v", c.line, uid, size, at, ok)
		}
	}
}

func FuzzFetched(f *testing.F) {
	f.Add([]byte(`1 FETCH (FLAGS () UID 7 RFC822.SIZE 90 INTERNALDATE "02-May-2024 13:32:10 +0000")`))
	f.Add([]byte(`1 FETCH (UID "`))
	f.Fuzz(func(t *testing.T, line []byte) {
		uid, size, date, ok := fetched(line)
		if !ok {
			return
		}
		again := fmt.Sprintf(`1 FETCH (UID %d RFC822.SIZE %d INTERNALDATE %q)`, uid, size, time.Unix(date, 0).UTC().Format("02-Jan-2006 15:04:05 -0700"))
		if u, s, d, ok := fetched([]byte(again)); !ok || u != uid || s != size || d != date {
			t.Errorf("%q is %s, and that is %d %d %d %v", line, again, u, s, d, ok)
		}
	})
}

func TestVerdictText(t *testing.T) {
	v := Verdict{System: "dovecot", Version: "2.3", Messages: 3, Questions: []Checked{
		{Question: "THREAD REFS", Result: Same},
		{Question: "SORT (SUBJECT)", Result: Known, Why: "as ours with -compat dovecot", Moved: 1, UIDs: []uint32{3}, Sections: []string{"subjects"}, First: "at place 1: x"},
		{Question: "SORT (CC)", Result: NotAsked, Why: "the server has no SORT"},
	}}
	var b strings.Builder
	if err := v.WriteText(&b); err != nil || v.Failed() {
		t.Fatal(err)
	}
	for _, want := range []string{"dovecot 2.3: 3 messages", "THREAD REFS: same\n", "1 message stands elsewhere", "  docs/DIFFERENCES.md: subjects\n", "read differently: UID 3\n", "3 questions: 1 same, 1 known difference, 1 not asked\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, &b)
		}
	}
	v.Questions[0].Result = Differs
	if !v.Failed() {
		t.Error("a difference does not fail")
	}
}
