package indextest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/designs"
	"mailbench/index/indextest"
)

// BenchmarkDamage is no matter of time: what a design answers from an index
// with one bit turned over, or with the end of a file cut off, and how often
// that is wrong without a word. MAILBENCH_EXHAUSTIVE=1 tries every byte.
//
//	go test -run '^$' -bench Damage ./index/indextest
func BenchmarkDamage(b *testing.B) {
	names := os.Getenv("MAILBENCH_DESIGNS")
	for _, d := range designs.All {
		if names != "" && !slices.Contains(strings.Split(names, ","), d.Name()) {
			continue
		}
		for _, of := range []struct {
			kind string
			try  func(index.Design, indextest.Options) (indextest.Damage, error)
		}{{"cut", indextest.Cuts}, {"flip", indextest.Flips}} {
			b.Run("design="+d.Name()+"/op="+of.kind, func(b *testing.B) {
				var got indextest.Damage
				for b.Loop() {
					var err error
					if got, err = of.try(d, indextest.Options{Seed: 1}); err != nil {
						b.Fatal(err)
					}
				}
				pct := func(n int) float64 { return 100 * float64(n) / float64(got.Tried) }
				b.ReportMetric(got.SilentWrongPct(), "silent-wrong-pct")
				b.ReportMetric(pct(got.Errors+got.Panics), "error-pct")
				b.ReportMetric(pct(got.Right), "right-pct")
				b.ReportMetric(float64(got.Tried), "tried")
			})
		}
	}
}
