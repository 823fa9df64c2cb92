package suite

import (
	"math/rand/v2"
	"testing"
	"time"

	"mailbench/internal/floor"
	"mailbench/internal/meter"
)

// TestFloor_doubted holds that a row below its floor is only called so when
// the floor stays above it in many more runs.
func TestFloor_doubted(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name string
		slow int // runs of the floor that take long
		fast bool
	}{{"a busy moment", 3, false}, {"another", 10, false}, {"a wrong floor", 1000, true}} {
		runs := 0
		j := &job{floor: func() (floor.Work, error) {
			if runs++; runs <= c.slow {
				time.Sleep(20 * ms)
			}
			return floor.Work{}, nil
		}}
		var res result
		for range 3 {
			res.samples = append(res.samples, meter.Sample{Wall: 10 * ms})
			if err := j.measureFloor(&res, rand.New(rand.NewPCG(1, 1))); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, fast := res.belowFloor(); !fast {
			t.Errorf("%s: three slow floors and a fast row are no cause for doubt", c.name)
		}
		if err := j.doubtFloor(&res, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Fatal(err)
		}
		if mid, least, fast := res.belowFloor(); fast != c.fast {
			t.Errorf("%s: median %v, fastest floor %v: below it %v, want %v", c.name, mid, least, fast, c.fast)
		}
	}
	one := result{samples: []meter.Sample{{Wall: ms}}, floors: []time.Duration{20 * ms}}
	if _, _, fast := one.belowFloor(); fast {
		t.Error("one sample convicts a floor")
	}
}
