package thread

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// shapes are mailboxes of about n messages that hurt somebody's threading once,
// and those that a loop check which walks would take n*n steps for.
var shapes = []struct {
	name string
	make func(n int) []tmsg
}{
	{"list", listShape},
	{"deep", func(n int) (msgs []tmsg) { // a chain, each message naming its parent
		for i := range int32(n) {
			m := tmsg{id: i}
			if i > 0 {
				m.refs = []int32{i - 1}
			}
			msgs = append(msgs, m)
		}
		return msgs
	}},
	{"deep-reversed", func(n int) (msgs []tmsg) { // the youngest first
		for i := int32(n); i > 0; i-- {
			msgs = append(msgs, tmsg{id: i, refs: []int32{i - 1}})
		}
		return msgs
	}},
	{"deep-dummies", func(n int) (msgs []tmsg) { // a chain of n missing ids with a message on every other
		var refs []int32
		for i := range int32(n) {
			refs = append(refs, i)
		}
		msgs = append(msgs, tmsg{id: -1, refs: refs})
		for i := int32(0); i < int32(n); i += 2 {
			msgs = append(msgs, tmsg{id: -1, refs: refs[i : i+1 : i+1]})
		}
		return msgs
	}},
	{"wide", func(n int) (msgs []tmsg) { // children of one parent, dates backwards
		msgs = append(msgs, tmsg{id: 0})
		for i := int32(1); i < int32(n); i++ {
			msgs = append(msgs, tmsg{id: i, refs: []int32{0}, date: int64(n) - int64(i)})
		}
		return msgs
	}},
	{"wide-dummy", func(n int) (msgs []tmsg) {
		for i := int32(1); i < int32(n); i++ {
			msgs = append(msgs, tmsg{id: i, refs: []int32{0}, date: int64(i) * 7919 % int64(n)})
		}
		return msgs
	}},
	{"duplicates", func(n int) (msgs []tmsg) { // one id
		for range n {
			msgs = append(msgs, tmsg{id: 0, refs: []int32{0, 1}})
		}
		return msgs
	}},
	{"one-subject", func(n int) (msgs []tmsg) {
		for i := range int32(n) {
			msgs = append(msgs, tmsg{id: i, subject: 1, reply: i%2 == 0, date: int64(i) * 7919 % int64(n)})
		}
		return msgs
	}},
	{"one-subject-dummies", func(n int) (msgs []tmsg) { // pairs under a missing parent
		for i := range int32(n) {
			msgs = append(msgs, tmsg{id: -1, refs: []int32{i / 2}, subject: 1, date: int64(i) * 7919 % int64(n)})
		}
		return msgs
	}},
	{"one-header", func(n int) (msgs []tmsg) { // all references in one message
		m := tmsg{id: int32(n)}
		for i := range int32(n) {
			m.refs = append(m.refs, i)
		}
		return []tmsg{m}
	}},
	{"cycles", func(n int) (msgs []tmsg) { // each names the next, the last the first
		for i := range int32(n) {
			msgs = append(msgs, tmsg{id: i, refs: []int32{(i + 1) % int32(n)}})
		}
		return msgs
	}},
	{"loop-again", func(n int) (msgs []tmsg) { // the bottom of a chain as parent of its top, n times
		m := tmsg{id: int32(n)}
		for i := range int32(n) {
			m.refs = append(m.refs, i)
		}
		msgs = append(msgs, m)
		for range n {
			msgs = append(msgs, tmsg{id: -1, refs: []int32{int32(n), 0}})
		}
		return msgs
	}},
	{"graft", func(n int) (msgs []tmsg) { // small trees under the bottom of a chain
		m := tmsg{id: -1}
		for i := range int32(n) {
			m.refs = append(m.refs, i)
		}
		msgs = append(msgs, m)
		for i := range int32(n) {
			a := int32(n) + 2*i
			msgs = append(msgs, tmsg{id: -1, refs: []int32{a, a + 1}}, tmsg{id: -1, refs: []int32{int32(n) - 1, a}})
		}
		return msgs
	}},
	{"cut-and-graft", func(n int) (msgs []tmsg) { // each child of the top is cut and hung on the bottom, with its child
		m := tmsg{id: -1}
		for i := range int32(n) {
			m.refs = append(m.refs, i)
		}
		msgs = append(msgs, m)
		for i := range int32(n) {
			msgs = append(msgs, tmsg{id: -1, refs: []int32{0, int32(n) + 2*i, int32(n) + 2*i + 1}})
		}
		for i := range int32(n) {
			msgs = append(msgs, tmsg{id: int32(n) + 2*i, refs: []int32{int32(n) - 1}})
		}
		return msgs
	}},
	{"cut-the-middle", func(n int) (msgs []tmsg) { // nodes of a chain, cut and hung on its end one after the other
		m := tmsg{id: -1}
		for i := range int32(3 * n) {
			m.refs = append(m.refs, i)
		}
		msgs = append(msgs, m)
		for i := range int32(n) {
			c := int32(n) + i
			msgs = append(msgs, tmsg{id: c, refs: []int32{i % int32(n)}}, tmsg{id: -1, refs: []int32{int32(3*n) - 1, c}}, tmsg{id: -1, refs: []int32{int32(3*n) - 1, 0}})
		}
		return msgs
	}},
	{"random-cuts", func(n int) (msgs []tmsg) {
		r := rand.New(rand.NewPCG(3, 4))
		for i := range n {
			m := tmsg{id: int32(i), date: r.Int64N(int64(n))}
			for range 1 + r.IntN(5) {
				m.refs = append(m.refs, r.Int32N(int32(n)))
			}
			msgs = append(msgs, m)
		}
		return msgs
	}},
}

// listShape is a mailing list: threads of a few messages, replies to recent
// messages, 3% of them before their parent, 5% to a missing one.
func listShape(n int) []tmsg {
	r := rand.New(rand.NewPCG(1, 2))
	msgs := make([]tmsg, n)
	for i := range msgs {
		m := &msgs[i]
		m.id = int32(i)
		m.date = int64(1.5e9) + int64(i)*600 - int64(r.ExpFloat64()*3000)
		m.subject = int32(1 + r.IntN(n/3+1))
		if i > 0 && r.IntN(10) < 6 {
			parent := max(0, i-1-int(r.ExpFloat64()*40))
			m.subject, m.reply = msgs[parent].subject, true
			refs := msgs[parent].refs
			if len(refs) > 30 {
				refs = refs[len(refs)-30:]
			}
			m.refs = append(append(m.refs, refs...), int32(parent))
			if r.IntN(20) == 0 {
				m.refs[len(m.refs)-1] = int32(n + i)
			}
		}
	}
	for i := 1; i < n; i++ {
		if r.IntN(33) == 0 {
			msgs[i], msgs[i-1] = msgs[i-1], msgs[i]
		}
	}
	return msgs
}

func TestShapesMatchNaive(t *testing.T) {
	sc := new(Scratch)
	for _, s := range shapes {
		for _, n := range []int{1, 2, 3, 10, 60, 300} {
			in := input(s.make(n))
			for alg := range NumAlgs {
				if got, want := build(t, alg, in, nil, sc), naiveThread(alg, in, nil); got != want {
					t.Errorf("%s of %d, %v: got %.300s, want %.300s", s.name, n, alg, got, want)
				}
			}
		}
	}
}

// Four times the messages may take little more than four times the steps.
func TestShapesScale(t *testing.T) {
	sc := new(Scratch)
	for _, s := range shapes {
		var perUnit [2]float64
		for i, n := range []int{rounds(25_000), rounds(100_000)} {
			in := input(s.make(n))
			build(t, References, in, nil, sc)
			units := float64(in.N + len(in.Ref))
			perUnit[i] = float64(sc.Steps()) / units
			if perUnit[i] > 200 {
				t.Errorf("%s: %.1f steps per message and reference", s.name, perUnit[i])
			}
		}
		t.Logf("%-20s steps per message and reference: %.2f, %.2f; link-cut trees: %v", s.name, perUnit[0], perUnit[1], sc.lct.on)
		if perUnit[1] > 1.5*perUnit[0]+1 {
			t.Errorf("%s: %.2f steps per unit grew to %.2f with four times the messages", s.name, perUnit[0], perUnit[1])
		}
	}
}

func TestBuildAllocs(t *testing.T) {
	const n = 20_000
	text := make([]byte, 0, 1<<20)
	for _, s := range shapes {
		in := input(s.make(n))
		uid := identity(in.N)
		rows := make([]int32, 0, n)
		for i := range in.N {
			if i%3 > 0 {
				rows = append(rows, int32(i))
			}
		}
		sc, f := new(Scratch), new(Forest)
		for alg := range NumAlgs {
			for name, op := range map[string]func(){
				"all":    func() { Build(alg, in, nil, f, sc) },
				"subset": func() { Build(alg, in, rows, f, sc) },
				"format": func() { text = f.AppendIMAP(text[:0], uid) },
			} {
				op()
				if a := testing.AllocsPerRun(1, op); a > 0.01*float64(in.N) || a > 2 && in.N > 200 {
					t.Errorf("%s, %v, %s: %v allocations for %d messages", s.name, alg, name, a, in.N)
				}
			}
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	const n = 100_000
	for alg := range NumAlgs {
		for _, s := range shapes {
			if alg != References && s.name != "list" && s.name != "one-subject" {
				continue
			}
			b.Run(fmt.Sprintf("alg=%v/shape=%s", alg, s.name), func(b *testing.B) {
				in := input(s.make(n))
				sc, f := new(Scratch), new(Forest)
				b.ReportAllocs()
				for b.Loop() {
					Build(alg, in, nil, f, sc)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/msg")
			})
		}
	}
	b.Run("alg=references/shape=list/search=recent", func(b *testing.B) {
		in := input(listShape(n))
		rows := make([]int32, 1000)
		for i := range rows {
			rows[i] = int32(n - 1000 + i)
		}
		sc, f := new(Scratch), new(Forest)
		for b.Loop() {
			Build(References, in, rows, f, sc)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/msg")
	})
}

func BenchmarkFormat(b *testing.B) {
	const n = 370_000
	in := input(listShape(n))
	f := new(Forest)
	Build(References, in, nil, f, new(Scratch))
	uid := identity(n)
	dst := f.AppendIMAP(nil, uid)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		dst = f.AppendIMAP(dst[:0], uid)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
}
