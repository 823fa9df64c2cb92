// The benchmarks of mailbench. Their bodies are package suite's; see README.md
// for how to run them and docs/METHODOLOGY.md for what a number means.
package mailbench_test

import (
	"flag"
	"os"
	"testing"

	"mailbench/suite"
)

var run = suite.Flags(flag.CommandLine)

func TestMain(m *testing.M) { os.Exit(run.Main(m)) }

// The eight operations of the 2003 benchmark.

func BenchmarkSelectFirst(b *testing.B) { run.SelectFirst(b) }
func BenchmarkSelectAgain(b *testing.B) { run.SelectAgain(b) }
func BenchmarkResync(b *testing.B)      { run.Resync(b) }
func BenchmarkThreadFirst(b *testing.B) { run.ThreadFirst(b) }
func BenchmarkThreadAgain(b *testing.B) { run.ThreadAgain(b) }
func BenchmarkSortDate(b *testing.B)    { run.SortDate(b) }
func BenchmarkSortSubject(b *testing.B) { run.SortSubject(b) }
func BenchmarkCompact(b *testing.B)     { run.Compact(b) }

// Many mailboxes, growing ones, and the tuning of designs.

func BenchmarkMany(b *testing.B)    { run.Many(b) }
func BenchmarkGrow(b *testing.B)    { run.Grow(b) }
func BenchmarkOptions(b *testing.B) { run.Options(b) }

// What clients write, and all that they do.

func BenchmarkAppend(b *testing.B)  { run.Append(b) }
func BenchmarkDeliver(b *testing.B) { run.Deliver(b) }
func BenchmarkMix(b *testing.B)     { run.Mix(b) }

// What clients ask of messages.

func BenchmarkFetch(b *testing.B)   { run.Fetch(b) }
func BenchmarkChanges(b *testing.B) { run.Changes(b) }

// The parts, and what this machine allows.

func BenchmarkSort(b *testing.B)       { run.Sort(b) }
func BenchmarkThread(b *testing.B)     { run.Thread(b) }
func BenchmarkHeaderScan(b *testing.B) { run.HeaderScan(b) }
func BenchmarkDamage(b *testing.B)     { run.Damage(b) }
func BenchmarkFloor(b *testing.B)      { run.Floor(b) }
