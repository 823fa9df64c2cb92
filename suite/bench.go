package suite

import "testing"

// The benchmarks, one method each, for the one-line functions of a
// bench_test.go. Their names are the benchmarks' names.

// SelectFirst: no index files; scan, assign UIDs, write the index.
func (r *Runner) SelectFirst(b *testing.B) { r.bench(b, "SelectFirst") }

// SelectAgain: open an existing index, nothing has changed.
func (r *Runner) SelectAgain(b *testing.B) { r.bench(b, "SelectAgain") }

// Resync: cur/ was touched; scan and reconcile.
func (r *Runner) Resync(b *testing.B) { r.bench(b, "Resync") }

// ThreadFirst: UID THREAD REFERENCES with nothing cached.
func (r *Runner) ThreadFirst(b *testing.B) { r.bench(b, "ThreadFirst") }

// ThreadAgain: the same from index and cache.
func (r *Runner) ThreadAgain(b *testing.B) { r.bench(b, "ThreadAgain") }

// SortDate: UID SORT (DATE) from what threading cached.
func (r *Runner) SortDate(b *testing.B) { r.bench(b, "SortDate") }

// SortSubject: UID SORT (SUBJECT) from what threading cached.
func (r *Runner) SortSubject(b *testing.B) { r.bench(b, "SortSubject") }

// Compact: rewrite the cache without the dead records.
func (r *Runner) Compact(b *testing.B) { r.bench(b, "Compact") }

// Fetch: header fields of some messages, as clients ask for them.
func (r *Runner) Fetch(b *testing.B) { r.bench(b, "Fetch") }

// Changes: what has happened since a MODSEQ.
func (r *Runner) Changes(b *testing.B) { r.bench(b, "Changes") }

// Append: clients append to one mailbox.
func (r *Runner) Append(b *testing.B) { r.bench(b, "Append") }

// Deliver: writers deliver to one recipient.
func (r *Runner) Deliver(b *testing.B) { r.bench(b, "Deliver") }

// Mix: clients with the commands of imaptest.
func (r *Runner) Mix(b *testing.B) { r.bench(b, "Mix") }

// Many: STATUS and a delivery in many mailboxes, most of them small.
func (r *Runner) Many(b *testing.B) { r.bench(b, "Many") }

// Options: the values of a design's own options, one at a time.
func (r *Runner) Options(b *testing.B) { r.bench(b, "Options") }

// Grow: what a message costs in mailboxes of growing size.
func (r *Runner) Grow(b *testing.B) { r.bench(b, "Grow") }

// Sort: every SORT key of RFC 5256.
func (r *Runner) Sort(b *testing.B) { r.bench(b, "Sort") }

// Thread: every algorithm on shapes that hurt, from columns in memory.
func (r *Runner) Thread(b *testing.B) { r.bench(b, "Thread") }

// HeaderScan: the header scanner on the corpus's headers in memory.
func (r *Runner) HeaderScan(b *testing.B) { r.bench(b, "HeaderScan") }

// Damage: what designs answer from a damaged index.
func (r *Runner) Damage(b *testing.B) { r.bench(b, "Damage") }

// Floor: what the kernel and memory allow.
func (r *Runner) Floor(b *testing.B) { r.bench(b, "Floor") }
