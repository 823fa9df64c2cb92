package corpus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// golden holds the digests of some specs. They must never change: if one does,
// either a bug crept in or Version must grow.
var golden = []struct{ spec, digest, thread string }{
	{"synthetic:2000", "6fbcfbdb157b2556", "413dee0231228738bbe6f403e0c13542"},
	{"synthetic:500,seed=7", "9cb6e4f9bbb94b94", "e8e981cedfd2765dd5a75354cdd837fd"},
	{"synthetic:300,seed=18446744073709551615,body=real", "39ffc3240ba82bf5", "a92c4b375620959665e1e4ad5f6fe815"},
	{"synthetic:300,clean,new=0", "a9d5558335cd444d", "860acca2a8c3635edb07f8a84736dce3"},
	{"synthetic:300,shape=deep", "9baf72cdcc26bb87", "9560bb645aa5922bafe426ef2641fa3d"},
	{"synthetic:300,shape=wide", "7ad4797b66c8d78e", "9fce5df3f6ab784103584b79b171a9c9"},
	{"synthetic:300,shape=duplicates", "177fd7e6c9013708", "fac2fc117e5d96475dd6dd76a86a5082"},
	{"synthetic:300,shape=one-subject", "cfc001a5ddda6b10", "a32ae3fba6619e29fd4f4cb93afa449d"},
	{"synthetic:300,shape=cycles", "693ebab3c98a5358", "86505f22da4b38b2f9f472569e03eaf0"},
	{"synthetic:600,shape=many-refs", "0d1c83a9d452a826", "78f1b3bae2c36cc493091d0fb72a0702"},
	{"synthetic:300,shape=absent", "00f1cfac87f549e1", "53c7a08b513a024685a0643ae012127b"},
	{"synthetic:0", "ef46db3751d8e999", "5d00cd161f9f43faff960ef560e76bcd"},
}

func TestGolden(t *testing.T) {
	for _, c := range golden {
		spec, err := Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		truth, err := NewTruth(spec)
		if err != nil {
			t.Fatal(err)
		}
		thread, err := truth.Digest("thread references")
		if err != nil {
			t.Fatal(err)
		}
		if truth.Info.Digest != c.digest || thread != c.thread {
			t.Errorf("the bytes or answers of a spec changed:\n\t{%q, %q, %q},", c.spec, truth.Info.Digest, thread)
		}
	}
}

func TestGenerate_prefix(t *testing.T) {
	// A corpus is the beginning of every larger one, save for new/ and flags.
	small, large := Generate(Spec{Messages: 200, New: -1}), Generate(Spec{Messages: 3000, New: -1})
	var a, b Message
	for small.Next(&a) {
		if !large.Next(&b) || a.File != b.File || !bytes.Equal(a.Data, b.Data) {
			t.Fatalf("message %d differs", a.N)
		}
	}
}

func TestGenerate_eachMessage(t *testing.T) {
	seed := freshSeed(t)
	for _, shape := range Shapes() {
		spec := Spec{Seed: seed, Messages: 4000, Shape: shape}
		g := Generate(spec)
		var m Message
		names := map[string]bool{}
		last := ""
		for g.Next(&m) {
			base, flags, _ := strings.Cut(m.File, ":2,")
			switch {
			case names[base]:
				t.Fatalf("%s: name %s twice", spec, base)
			case base <= last:
				t.Fatalf("%s: %s after %s", spec, base, last)
			case m.Dir == "new" && strings.Contains(m.File, ":"):
				t.Fatalf("%s: %s in new/", spec, m.File)
			case flags != m.Flags, !slices.IsSorted([]byte(flags)):
				t.Fatalf("%s: flags %q of %s", spec, m.Flags, m.File)
			case !bytes.HasSuffix(m.Data, []byte("\n")), !bytes.Contains(m.Data, []byte("\n\n")), bytes.Contains(m.Data, []byte("\r\n")):
				t.Fatalf("%s: message %d breaks the rules of line ends", spec, m.N)
			case m.VSize != int64(len(m.Data)+bytes.Count(m.Data, []byte("\n"))):
				t.Fatalf("%s: message %d: VSize %d", spec, m.N, m.VSize)
			}
			if _, s, ok := strings.Cut(base, ",S="); ok {
				s, w, hasW := strings.Cut(s, ",W=")
				if s != fmt.Sprint(len(m.Data)) || hasW && w != fmt.Sprint(m.VSize) {
					t.Fatalf("%s: %s of %d octets", spec, base, len(m.Data))
				}
			}
			names[base] = true
			last = base
		}
		if info := g.Info(); info.Messages != 4000 || len(names) != 4000 {
			t.Errorf("%s: %d messages, %d names", spec, info.Messages, len(names))
		}
	}
}

func TestMessageIDsDiffer(t *testing.T) {
	w := newWorld(Spec{Seed: freshSeed(t)})
	seen := map[string]bool{}
	for sid := range int32(200_000) {
		id := string(w.appendID(nil, sid))
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		seen[id] = true
	}
}

func TestSpec(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Spec
		name string
	}{
		{"synthetic", Spec{}, "synthetic.v1.n20000.seed0.list"},
		{"synthetic:367918", Spec{Messages: 367918}, "synthetic.v1.n367918.seed0.list"},
		{"synthetic:20000,seed=7,shape=deep", Spec{Messages: 20000, Seed: 7, Shape: Deep}, "synthetic.v1.n20000.seed7.deep"},
		{"synthetic:seed=7,messages=5", Spec{Messages: 5, Seed: 7}, "synthetic.v1.n5.seed7.list"},
		{"synthetic:0", Spec{Messages: Empty}, "synthetic.v1.n0.seed0.list"},
		{"synthetic:9,shape=onesubject,clean,new=0", Spec{Messages: 9, Shape: OneSubject, Clean: true, New: -1}, "synthetic.v1.n9.seed0.new0.clean.one-subject"},
		{"synthetic:9,body=real,new=500", Spec{Messages: 9, Body: BodyReal, New: 500}, "synthetic.v1.n9.seed0.new500.bodyreal.list"},
	} {
		got, err := Parse(c.in)
		if err != nil || got != c.want || got.Name() != c.name {
			t.Errorf("Parse(%q) = %+v, %v, named %s", c.in, got, err, got.Name())
		}
		again, err := Parse(got.String())
		if err != nil || again.Name() != c.name {
			t.Errorf("Parse(%q) = %+v, %v", got.String(), again, err)
		}
	}
	for _, in := range []string{"", "x", "synthetic:", "synthetic:-1", "synthetic:1,seed", "synthetic:1,shape=round", "synthetic:1,2", "synthetic:1,new=1001",
		"synthetic:1,clean=yes", "synthetic:100000001", "synthetic:99999999999999999999"} {
		if s, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %+v", in, s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range golden {
		f.Add(c.spec)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Parse(in)
		if err != nil {
			return
		}
		name := s.Name()
		if strings.ContainsAny(name, ",/ ") || name[len(name)-1] >= '0' && name[len(name)-1] <= '9' {
			t.Errorf("name %q", name)
		}
		if again, err := Parse(s.String()); err != nil || again.Name() != name {
			t.Errorf("%q and %q differ: %v", in, s, err)
		}
	})
}

func TestDates(t *testing.T) {
	r := rand.New(rand.NewPCG(freshSeed(t), 0))
	for range 20_000 {
		unix := r.Int64N(1 << 33)
		got := civilOf(unix)
		// An independent walk over the years.
		days, year := unix/86400, 1970
		length := func(y int) int64 {
			if y%4 == 0 && y%100 != 0 || y%400 == 0 {
				return 366
			}
			return 365
		}
		for days >= length(year) {
			days -= length(year)
			year++
		}
		feb := int64(28)
		if length(year) == 366 {
			feb = 29
		}
		month := 1
		for _, n := range []int64{31, feb, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31} {
			if days < n {
				break
			}
			days -= n
			month++
		}
		want := civil{year, month, int(days) + 1, int(unix / 3600 % 24), int(unix / 60 % 60), int(unix % 60), int((unix/86400 + 4) % 7)}
		if got != want {
			t.Fatalf("%d: %+v, want %+v", unix, got, want)
		}
	}
}

func BenchmarkGenerate(b *testing.B) {
	g := Generate(Spec{Messages: MaxMessages})
	var m Message
	var n int64
	b.ReportAllocs()
	for b.Loop() {
		g.Next(&m)
		n += int64(len(m.Data))
	}
	b.ReportMetric(float64(n)/float64(b.N), "B/msg")
}

func BenchmarkTruth(b *testing.B) {
	for _, n := range []int{20_000, 367_918} {
		truth, err := NewTruth(Spec{Messages: n, Body: BodyNone})
		if err != nil {
			b.Fatal(err)
		}
		for _, q := range Questions {
			b.Run(fmt.Sprintf("msgs=%dk/%s", n/1000, strings.ReplaceAll(q, " ", "=")), func(b *testing.B) {
				for b.Loop() {
					if _, err := truth.Digest(q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
