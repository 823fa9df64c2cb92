package sort

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/internal/oracle"
)

func TestBaseSubject(t *testing.T) {
	for _, c := range []struct {
		in, want string
		reply    bool
	}{
		{"", "", false},
		{"quince", "quince", false},
		{"  quince \t jam ", "quince jam", false},
		{"quince\r\n jam", "quince jam", false},
		{"quince\n\t jam", "quince jam", false},
		// (2) trailers
		{"quince (fwd)", "quince", true},
		{"quince(FWD) (Fwd) ", "quince", true},
		{"quince (fwd) jam", "quince (fwd) jam", false},
		{"(fwd)", "", true},
		// (3) leaders
		{"Re: quince", "quince", true},
		{"RE:re:FW: Fwd:quince", "quince", true},
		{"Re : quince", "quince", true},
		{"Re[2]: quince", "quince", true},
		{"re [2] : quince", "quince", true},
		{"[jam] re: quince", "quince", true},
		{"[jam][list] fwd [x]: [y] quince", "quince", true},
		{"Re [2: quince", "Re [2: quince", false},
		{"Re[[2]]: quince", "Re[[2]]: quince", false},
		{"Re(2): quince", "Re(2): quince", false},
		{"Fwdd: quince", "Fwdd: quince", false},
		{"FWD[a][b]: quince", "FWD[a][b]: quince", false},
		{"AW: quince", "AW: quince", false},
		{"re", "re", false},
		{"re:", "", true},
		{"fw", "fw", false},
		{"fwd", "fwd", false},
		{"fwd:", "", true},
		{"Re: Re: Re:", "", true},
		// (4) blobs
		{"[jam] quince", "quince", false},
		{"[jam][list] [x]quince", "quince", false},
		{"[jam]", "[jam]", false},
		{"[jam] [list]", "[list]", false},
		{"Re: [jam]", "[jam]", true},
		{"[jam] [list", "[list", false},
		{"[jam[list]] quince", "[jam[list]] quince", false},
		{"[] quince", "quince", false},
		{"[jam] Re: [list] fwd: quince", "quince", true},
		{"[a] x [b]", "x [b]", false},
		// (6) forwarded
		{"[fwd: quince]", "quince", true},
		{"[Fwd: Re: [jam] quince (fwd)]", "quince", true},
		{"[fwd: [fwd: [fwd: quince]]]", "quince", true},
		{"Re: [list] [fwd: quince]", "quince", true},
		{"[fwd:]", "", true},
		{"[fwd: ]", "", true},
		{"[fwd: quince] jam", "jam", false},
		{"[fwd: quince", "[fwd: quince", false},
		{"[fwd:[jam]]", "[jam]", true},
		{"[fwd: quince](fwd)", "quince", true},
		// (1) encoded words come first
		{"=?utf-8?q?Re=3A?= quince", "quince", true},
		{"=?utf-8?b?UmU6?= quince", "quince", true},
		{"=?utf-8?q?a_?= =?utf-8?q?_b?=", "a b", false},
		{"=?utf-8?q?quince_=28fwd=29?=", "quince", true},
		{"caf\xc3\xa9 (fwd)", "caf\xc3\xa9", true},
	} {
		got, reply := BaseSubject(nil, []byte(c.in))
		if string(got) != c.want || reply != c.reply {
			t.Errorf("BaseSubject(%q) = %q, %v; want %q, %v", c.in, got, reply, c.want, c.reply)
		}
		if want, r := oracle.BaseSubject([]byte(c.in)); want != c.want || r != c.reply {
			t.Errorf("the oracle says of %q: %q, %v", c.in, want, r)
		}
		// Appended, to a dst with and without room.
		for _, room := range []int{0, 200} {
			dst := append(make([]byte, 0, 3+room), "pre"...)
			if got, _ := BaseSubject(dst, []byte(c.in)); string(got) != "pre"+c.want {
				t.Errorf("BaseSubject(%q) appended gives %q", c.in, got)
			}
		}
	}
}

func TestDovecotSubject(t *testing.T) {
	for _, c := range []struct{ in, rfc, dovecot string }{
		{"quince \n jam", "QUINCE JAM", "QUINCE  JAM"},
		{"quince\n jam \n x", "QUINCE JAM X", "QUINCE JAM X"},
		{"quince \t jam", "QUINCE JAM", "QUINCE JAM"},
		{"quince\u00a0 jam", "QUINCE  JAM", "QUINCE JAM"},
		{"\uff32\uff25: quince", "RE: QUINCE", "QUINCE"},
		{"\u01c5", "Dz\u030c", "\u01c5"},
		{"x=?utf-8?q?a?=", "X=?UTF-8?Q?A?=", "XA"},
	} {
		if got, _ := SubjectKey(nil, []byte(c.in)); string(got) != c.rfc {
			t.Errorf("SubjectKey(%q) = %q, want %q", c.in, got, c.rfc)
		}
		if got, _ := Dovecot.SubjectKey(nil, []byte(c.in)); string(got) != c.dovecot {
			t.Errorf("Dovecot.SubjectKey(%q) = %q, want %q", c.in, got, c.dovecot)
		}
	}
}

// The subject cases beside the project.
func TestSharedSubjects(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(shared(t, "cases"), "*", "expect.json"))
	checked := 0
	for _, file := range files {
		var c struct {
			ID     string
			Checks []struct {
				Op    string
				In    *string
				InB64 []byte `json:"in_b64"`
				Gen   *struct {
					Prefix, Repeat, Suffix string
					Times                  int
				}
				Expect      json.RawMessage
				ExpectReply *bool    `json:"expect_reply"`
				AlsoOK      []any    `json:"also_ok"`
				_           struct{} `json:"-"`
			}
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte(`"base-subject"`)) {
			continue
		}
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, k := range c.Checks {
			if k.Op != "base-subject" {
				continue
			}
			in := k.InB64
			switch {
			case k.In != nil:
				in = []byte(*k.In)
			case k.Gen != nil:
				in = []byte(k.Gen.Prefix + strings.Repeat(k.Gen.Repeat, k.Gen.Times) + k.Gen.Suffix)
			}
			var want string
			if err := json.Unmarshal(k.Expect, &want); err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			checked++
			got, reply := SubjectKey(nil, in)
			ok := bytes.Equal(got, Casemap(nil, []byte(want))) && (k.ExpectReply == nil || *k.ExpectReply == reply)
			for _, also := range k.AlsoOK {
				if s, is := also.(string); is && bytes.Equal(got, Casemap(nil, []byte(s))) {
					ok = true
				}
			}
			if !ok {
				t.Errorf("%s: %.80q gives %.80q, %v; want %.80q", c.ID, in, got, reply, want)
			}
		}
	}
	t.Logf("%d checks", checked)
}

// pieces are what base subject extraction looks at.
var pieces = []string{"re", "Re", "fw", "FWD", "fwd", ":", "[", "]", "[x]", " ", "  ", "\t", "\n ", "(fwd)", "[fwd:", "a", "B", "\u00e9", "\u00a0",
	" =?utf-8?q?a_b?= ", " =?utf-8?b?UmU6?= ", "?=", "=", "?", "(", ")", "\xff", "\u01c6"}

func TestBaseSubjectMatchesOracle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var dst []byte
	n := 60_000
	if testing.Short() {
		n = 6000
	}
	for range n {
		var in []byte
		for range r.IntN(12) {
			in = append(in, pieces[r.IntN(len(pieces))]...)
		}
		if !bytes.Contains(in, []byte("==?")) { // two words with nothing between: not ours to read
			compareBase(t, dst[:0], in)
		}
	}
}

func compareBase(t *testing.T, dst, in []byte) {
	t.Helper()
	got, reply := BaseSubject(dst, in)
	want, wantReply := oracle.BaseSubject(in)
	if string(got) != want || reply != wantReply {
		t.Fatalf("BaseSubject(%q) = %q, %v; the oracle says %q, %v", in, got, reply, want, wantReply)
	}
	if got := Casemap(nil, got); string(got) != oracle.Casemap(want) {
		t.Fatalf("Casemap(%q) = %q; the oracle says %q", want, got, oracle.Casemap(want))
	}
}

func FuzzBaseSubject(f *testing.F) {
	for _, s := range pieces {
		f.Add([]byte(s))
	}
	f.Add([]byte("[a] Re [b]: [fwd: x (fwd)] "))
	f.Fuzz(func(t *testing.T, in []byte) {
		// Odd encoded words are not this package's to read.
		if !bytes.Contains(in, []byte("=?")) {
			compareBase(t, nil, in)
		}
		SubjectKey(nil, in)
		Dovecot.SubjectKey(nil, in)
	})
}

// hostile subjects are those that make a literal extraction quadratic.
func hostile(n int) [][]byte {
	rep := func(pre, s, post string) []byte { return []byte(pre + strings.Repeat(s, n/len(s)) + post) }
	return [][]byte{
		rep("", "[a]", "x"), rep("", "[a]", ""), rep("", "[a] ", "re"), rep("", "[", ""), rep("", "[fwd:", ""),
		rep("", "re:", ""), rep("", "re[", ""), rep("", "(fwd)", ""), rep("", " ", ""), rep("", "\n ", "x"),
		[]byte(strings.Repeat("[fwd:", n/6) + "x" + strings.Repeat("]", n/6)),
		[]byte(strings.Repeat("[fwd: [a] ", n/11) + strings.Repeat("]", n/11)),
		rep("", "[a", "]"), rep("re ", "[a", "]:"), rep("", "re [x]: ", "[a"), rep("", "=?utf-8?q?a?= ", ""), rep("", "=?", ""),
		rep("", "\xff", ""), rep("", "\u00e9", ""),
	}
}

func TestBaseSubjectHostile(t *testing.T) {
	// The literal reading gives the same on short ones; the long ones end.
	for _, in := range hostile(300) {
		compareBase(t, nil, in)
	}
	long := 1 << 20
	if testing.Short() {
		long = 1 << 16
	}
	for _, in := range hostile(long) {
		BaseSubject(nil, in)
		Dovecot.BaseSubject(nil, in)
	}
}

func TestCasemap(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"abcXYZ019[{`", "ABCXYZ019[{`"},
		{"\u00e9t\u00e9", "E\u0301TE\u0301"},
		{"\u01c6", "Dz\u030c"},         // titlecase, then decomposed; the z stays
		{"\ufb01x", "fiX"},             // compatibility decomposition of a ligature
		{"stra\u00dfe", "STRA\u00dfE"}, // no simple titlecase
		{"\uac01", "\u1100\u1161\u11a8"}, {"\uac00", "\u1100\u1161"},
		{"\u10d0", "\u10d0"}, // Georgian: upper case differs from title case
		{"\U0001d5ba", "a"},  // mathematical: decomposed after titlecasing
		{"a\xff\xfeb", "A\ufffd\ufffdB"},
		{"q\u0323\u0307", "Q\u0323\u0307"}, {"q\u0307\u0323", "Q\u0307\u0323"}, // no reordering
	} {
		if got := Casemap(nil, []byte(c.in)); string(got) != c.want {
			t.Errorf("Casemap(%+q) = %+q, want %+q", c.in, got, c.want)
		}
		if want := oracle.Casemap(c.in); want != c.want {
			t.Errorf("the oracle says of %+q: %+q", c.in, want)
		}
	}
	if got := Dovecot.Casemap(nil, []byte("a\xff\xfeb")); string(got) != "A\ufffdB" {
		t.Errorf("Dovecot.Casemap gives %+q", got)
	}
	// Every byte at every place of a word.
	for c := range 256 {
		for at := range 17 {
			in := bytes.Repeat([]byte{'m'}, 17)
			in[at] = byte(c)
			if got, want := string(casemapTail(RFC, append([]byte("pre"), in...), 3)), "pre"+string(Casemap(nil, in)); got != want {
				t.Fatalf("casemapTail(%q) = %q, want %q", in, got, want)
			}
			got := bytes.Clone(in)
			if ascii := upperASCII(got); ascii != (c < 0x80) || (ascii && !bytes.Equal(got, bytes.ToUpper(in))) {
				t.Fatalf("upperASCII(%q) = %q, %v", in, got, ascii)
			}
		}
	}
	// Every character.
	for r := rune(0); r <= 0x10ffff; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		s := string(r)
		if got := Casemap(nil, []byte(s)); string(got) != oracle.Casemap(s) {
			t.Fatalf("Casemap(%+q) = %+q, the oracle says %+q", s, got, oracle.Casemap(s))
		}
	}
}

func TestSubjectAllocs(t *testing.T) {
	in := [][]byte{[]byte("Re: [list] quince jam (fwd)"), []byte("Re: caf\u00e9\n  \u01c6"), []byte("=?utf-8?q?Re=3A_caf=C3=A9?= x")}
	dst := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(200, func() {
		for _, s := range in {
			SubjectKey(dst, s)
			Dovecot.SubjectKey(dst, s)
		}
	}); n != 0 {
		t.Errorf("%v allocations for %d subjects", n, len(in))
	}
}

func BenchmarkSubjectKey(b *testing.B) {
	raw, _ := base64.StdEncoding.DecodeString("UmU6IFtQQVRDSCB2MyAyLzldIHF1aW5jZTogYm9pbCBpdCBmb3IgbG9uZ2VyIHRoYW4gdGhlIGphbSBvZiBsYXN0IHllYXI=")
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		dst, _ = SubjectKey(dst[:0], raw)
	}
}
