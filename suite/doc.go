// Package suite holds the bodies of all benchmarks, so that a bench_test.go,
// ours or a stranger's, is a few lines:
//
//	var run = suite.Flags(flag.CommandLine)
//
//	func TestMain(m *testing.M) { os.Exit(run.Main(m)) }
//
//	func BenchmarkThreadAgain(b *testing.B) { run.ThreadAgain(b) }
//
// A row is one benchmark with one value for each axis that applies. For each
// sample of a row the suite brings index and mail into the state the row
// names, proves it, times the operation alone, proves again, and compares the
// answer with a truth that was not made by the code under test. A wrong
// answer fails the row. A temperature that cannot be had skips it, with the
// reason printed after the run.
//
// Rows whose samples need preparation never stop the benchmark's clock: they
// keep their own (see docs/METHODOLOGY.md), and report the median of their
// samples as ns/op with the smallest and largest beside it.
//
// Rows that write (Append, Deliver, Mix) do a fixed amount of work in each
// sample, on a mailbox of their own: an empty one, or a copy of one that has
// grown by appends. What made it is on the device before the clock starts.
// After the sample the mailbox is closed, opened again and compared with what
// was written, message by message; in BenchmarkMix every answer is compared
// with a model of what the clients have done, while they do it.
package suite
