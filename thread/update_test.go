package thread

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw changes the set of rows: some of those that are there go, some others
// come (old ones again, too: nothing says that new rows are the highest).
func draw(r *rand.Rand, there []bool, most int) (gone, fresh []int32) {
	for range 1 + r.IntN(most) {
		if len(there) == 0 {
			break
		}
		row := int32(r.IntN(len(there)))
		if there[row] && !slices.Contains(gone, row) {
			gone = append(gone, row)
		} else if !there[row] && !slices.Contains(fresh, row) {
			fresh = append(fresh, row)
		}
	}
	slices.Sort(gone)
	slices.Sort(fresh)
	for _, row := range gone {
		there[row] = false
	}
	for _, row := range fresh {
		there[row] = true
	}
	return gone, fresh
}

func present(there []bool) []int32 {
	rows := []int32{}
	for i, ok := range there {
		if ok {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// follow keeps a forest up to date over random histories and compares it with
// Build after each step. It returns how often Update did and did not do it.
func follow(t *testing.T, r *rand.Rand, alg Alg, msgs []tmsg, steps, most int, sc, sc2 *Scratch) (done, left int) {
	t.Helper()
	in := input(msgs)
	uid := identity(in.N)
	there := make([]bool, in.N)
	for i := range there {
		there[i] = r.IntN(4) > 0
	}
	var f, want, next Forest
	Build(alg, in, present(there), &f, sc)
	for step := range steps {
		before := present(there)
		gone, fresh := draw(r, there, most)
		Build(alg, in, present(there), &want, sc2)
		if !Update(alg, in, &f, gone, fresh, &next, sc) {
			left++
			next.Row, next.Kids = append(next.Row[:0], want.Row...), append(next.Kids[:0], want.Kids...)
		} else {
			done++
		}
		if !slices.Equal(next.Row, want.Row) || !slices.Equal(next.Kids, want.Kids) {
			if in.N > 40 {
				msgs, before = nil, nil
			}
			t.Fatalf("step %d, %v of %+v with %v: gone %v, fresh %v:\n from %.500s\n  got %.500s\n want %.500s", step, alg, msgs, before, gone, fresh,
				f.AppendIMAP(nil, uid), next.AppendIMAP(nil, uid), want.AppendIMAP(nil, uid))
		}
		f, next = next, f
	}
	return done, left
}

func TestUpdateMatchesBuild(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sc, sc2 := &Scratch{epoch: 1<<32 - 3000}, new(Scratch)
	for alg := range NumAlgs {
		done, left := 0, 0
		for range rounds(6000) {
			d, l := follow(t, r, alg, random(r), 4, 1+r.IntN(4), sc, sc2)
			done, left = done+d, left+l
		}
		t.Logf("%v: %d updated, %d left to Build", alg, done, left)
		if done < 3*left {
			t.Errorf("%v: %d updated, %d left to Build", alg, done, left)
		}
	}
}

// More threads, so that most stay as they are; subjects that meet; few dates, so
// that orders are full of ties.
func TestUpdateMatchesBuild_lists(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	sc, sc2 := new(Scratch), new(Scratch)
	for alg := range NumAlgs {
		done, left := 0, 0
		for round := range rounds(200) {
			msgs := listShape(200 + r.IntN(800))
			for i := range msgs {
				m := &msgs[i]
				switch r.IntN(12) {
				case 0:
					m.subject, m.reply = 0, false
				case 1:
					m.id = -1
				case 2:
					m.refs = []int32{int32(len(msgs) + r.IntN(40))} // a parent that is nowhere
				case 3:
					m.id = int32(r.IntN(len(msgs)))
				case 4:
					m.subject = int32(1 + r.IntN(30))
				case 5:
					m.refs, m.reply = nil, false
				}
				switch round % 4 {
				case 0:
					m.date = m.date % 50
				case 1:
					m.date = -m.date
				}
			}
			d, l := follow(t, r, alg, msgs, 6, 1+r.IntN(20), sc, sc2)
			done, left = done+d, left+l
		}
		t.Logf("%v: %d updated, %d left to Build", alg, done, left)
		if done == 0 {
			t.Errorf("%v: never updated", alg)
		}
	}
}

func TestUpdateMatchesBuild_shapes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	sc, sc2 := new(Scratch), new(Scratch)
	for _, s := range shapes {
		for alg := range NumAlgs {
			for _, n := range []int{1, 2, 3, 10, 25, 300} {
				t.Run(fmt.Sprintf("%s/%v/%d", s.name, alg, n), func(t *testing.T) {
					follow(t, r, alg, s.make(n), 8, 1+n/20, sc, sc2)
				})
			}
		}
	}
}

// A forest that is not what it should be is refused, not made worse.
func TestUpdate_wrongForest(t *testing.T) {
	in := input([]tmsg{{id: 0}, {id: 1, refs: []int32{0}}, {id: 2}})
	var f, dst Forest
	Build(References, in, []int32{0, 1}, &f, new(Scratch))
	if Update(References, in, &f, []int32{2}, nil, &dst, new(Scratch)) {
		t.Error("a row that is not there went")
	}
	if Update(References, in, &f, nil, []int32{1}, &dst, new(Scratch)) {
		t.Error("a row came that was there")
	}
}

func TestUpdateAllocs(t *testing.T) {
	const n = 20_000
	in := input(listShape(n))
	rows := make([]int32, n-10)
	for i := range rows {
		rows[i] = int32(i)
	}
	fresh := []int32{n - 10, n - 9, n - 8, n - 7, n - 6, n - 5, n - 4, n - 3, n - 2, n - 1}
	gone := []int32{5, 700, 9000}
	for alg := range NumAlgs {
		sc := new(Scratch)
		var old, dst Forest
		Build(alg, in, rows, &old, sc)
		op := func() {
			if !Update(alg, in, &old, gone, fresh, &dst, sc) {
				t.Errorf("%v: not updated", alg)
			}
		}
		op()
		if a := testing.AllocsPerRun(3, op); a > 4 {
			t.Errorf("%v: %v allocations", alg, a)
		}
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(uint64(1), uint8(3))
	f.Fuzz(func(t *testing.T, seed uint64, most uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		for alg := range NumAlgs {
			follow(t, r, alg, random(r), 6, 1+int(most%16), new(Scratch), new(Scratch))
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	const n = 370_000
	in := input(listShape(n))
	var fresh, before []int32
	for i := range int32(n) {
		if i < n-100 {
			before = append(before, i)
		} else {
			fresh = append(fresh, i)
		}
	}
	for alg := range NumAlgs {
		sc := new(Scratch)
		var old, dst, want Forest
		Build(alg, in, before, &old, sc)
		Build(alg, in, nil, &want, sc)
		check := func(b *testing.B) {
			if !slices.Equal(dst.Row, want.Row) || !slices.Equal(dst.Kids, want.Kids) {
				b.Fatal("another forest than Build's")
			}
		}
		b.Run(fmt.Sprintf("alg=%v/way=update", alg), func(b *testing.B) {
			for b.Loop() {
				if !Update(alg, in, &old, nil, fresh, &dst, sc) {
					b.Fatal("not updated")
				}
			}
			check(b)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
		})
		b.Run(fmt.Sprintf("alg=%v/way=build", alg), func(b *testing.B) {
			for b.Loop() {
				Build(alg, in, nil, &dst, sc)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/msg")
		})
	}
}
