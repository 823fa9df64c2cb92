package suite

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Run measures what cfg says, each benchmark as a sub-benchmark of b. It is
// all that a bench_test.go has to call, in this module or another:
//
//	func BenchmarkMailbench(b *testing.B) {
//		suite.Run(b, suite.Config{Designs: []index.Design{mine.Design}})
//	}
//
// What cfg leaves empty is taken from the MAILBENCH_... variables, as Flags
// does. Before the rows stand the corpus's identity and the machine, behind
// them what could not be measured and why. Two of Main's proofs are missing: a
// process of its own for one more sample of each row, and a second run on a
// corpus that is drawn then; for these use Flags, Main and Runner.All.
func Run(b *testing.B, cfg Config) {
	b.Helper()
	env := Flags(flag.NewFlagSet("mailbench", flag.ContinueOnError))
	r := New(cfg.or(env.cfg))
	r.problem = env.problem
	f, err := r.start()
	if err != nil {
		r.cleanup()
		b.Fatal(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	defer r.cleanOnSignal()()
	r.introduce(f)
	r.All(b)
	r.cleanup()
	for _, notes := range [][]note{r.cold, r.skipped, r.doubts} {
		for i := range notes { // rows have other names here
			if rest, ok := strings.CutPrefix(notes[i].name, "Benchmark"); ok {
				notes[i].name = b.Name() + "/bench=" + rest
			}
		}
	}
	r.notes()
	r.skips()
}

// start checks the configuration and opens the corpus.
func (r *Runner) start() (*fixture, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return r.open()
}

// introduce prints what stands before the rows.
func (r *Runner) introduce(f *fixture) {
	fmt.Printf("corpus: %s\ncorpus-digest: %s\ncorpus-messages: %d\n", f.name, f.digest, f.messages)
	fmt.Println(strings.Join(units, "\n"))
	r.describe(f)
}

// All runs every benchmark that has rows as a sub-benchmark of b, for a
// bench_test.go that does not want a function for each:
//
//	var run = suite.Flags(flag.CommandLine, mine.Design)
//
//	func TestMain(m *testing.M)            { os.Exit(run.Main(m)) }
//	func BenchmarkMailbench(b *testing.B) { run.All(b) }
func (r *Runner) All(b *testing.B) {
	rows := r.Rows()
	for _, name := range benchmarks {
		if slices.ContainsFunc(rows, func(row Row) bool { return row.Bench == name && (row.Default || r.cfg.Rows != "default") }) {
			b.Run("bench="+name, func(b *testing.B) { r.bench(b, name) })
		}
	}
}

// or is c with its empty fields taken from other.
func (c Config) or(other Config) Config {
	mine, theirs := reflect.ValueOf(&c).Elem(), reflect.ValueOf(other)
	for i := range mine.NumField() {
		if mine.Field(i).IsZero() {
			mine.Field(i).Set(theirs.Field(i))
		}
	}
	return c
}
