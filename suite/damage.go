package suite

import (
	"fmt"

	"mailbench/index"
	"mailbench/index/indextest"
)

// damageSeed draws the mail of the small index and what is damaged in it.
const damageSeed = 1

// damageRows are no matter of time: what each design answers from a small
// index of which one bit has been turned over (op=flip) or one file cut off
// (op=cut), a thousand times or so, and how often that is wrong without a word.
func damageRows(designs []index.Design) []Row {
	var rows []Row
	for _, d := range designs {
		for _, op := range []struct {
			name string
			try  func(index.Design, indextest.Options) (indextest.Damage, error)
		}{{"cut", indextest.Cuts}, {"flip", indextest.Flips}} {
			rows = append(rows, Row{"Damage", params("design", d.Name(), "op", op.name), false, damaged(d, op.name, op.try)})
		}
	}
	return rows
}

func damaged(d index.Design, op string, try func(index.Design, indextest.Options) (indextest.Damage, error)) func(*Runner, *fixture) (*job, error) {
	return func(*Runner, *fixture) (*job, error) {
		var got indextest.Damage
		return &job{
			design: d.Name(), op: "damage-" + op,
			run: func() (err error) {
				got, err = try(d, indextest.Options{Seed: damageSeed})
				return err
			},
			check:   func() error { return damageWrong(d, got) },
			metrics: func(*result) []metric { return damageMetrics(got) },
		}, nil
	}
}

// damageWrong is an error if there is nothing to count, or if a design is
// wrong without a word that says it notices damage.
func damageWrong(d index.Design, got indextest.Damage) error {
	if got.Tried == 0 {
		return fmt.Errorf("no file of the index to damage")
	}
	if bad := got.Wrong + got.Panics; bad > 0 && d.Integrity() == index.DetectsDamage {
		return fmt.Errorf("it says that it detects damage, and %d of %d damaged indexes gave wrong answers without a word: %s", bad, got.Tried, got.First)
	}
	return nil
}

func damageMetrics(got indextest.Damage) []metric {
	pct := func(n int) float64 { return 100 * float64(n) / float64(max(1, got.Tried)) }
	return []metric{
		{"silent-wrong-pct", got.SilentWrongPct()},
		{"error-pct", pct(got.Errors + got.Panics)},
		{"right-pct", pct(got.Right)},
		{"tried", float64(got.Tried)},
	}
}
