package suite

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"mailbench/internal/floor"
	"mailbench/store"
	"mailbench/store/box"
)

// appends is how many messages a sample of BenchmarkAppend writes: a fixed
// number for each row, so that a sample takes about a second on a disk that
// syncs in a millisecond or two. Where few messages wait for the disk it is
// large enough for what a design does once in some thousand appends.
func (s setting) appends() int {
	n := min(max(200, 30*s.clients), letterPool)
	if s.fsync == box.Never || s.fsync == box.Group && s.clients >= clientBase && store.Packs(s.store.format) {
		n = letterPool
	}
	if smallWork {
		n = max(n/10, s.clients)
	}
	return n
}

// smallWork makes the samples of the rows that write small, and does not wait
// for the disk before them: in the fresh process, which shows that the answers
// are right and prints no time, and in tests of what is printed.
var smallWork = isFresh() || os.Getenv(smallEnv) != ""

const smallEnv = "MAILBENCH_SMALL_WORK"

// delivered is how many messages a sample of BenchmarkDeliver writes in all, as
// in the post that compared MySQL with PostgreSQL below dbmail.
const delivered = 100

// latencies keeps how long calls took, to three digits, from a microsecond to
// ten minutes.
type latencies struct {
	mu sync.Mutex
	h  *hdrhistogram.Histogram
}

func newLatencies() *latencies {
	return &latencies{h: hdrhistogram.New(int64(time.Microsecond), int64(10*time.Minute), 3)}
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	_ = l.h.RecordValue(min(int64(d), int64(10*time.Minute))) // within its bounds
	l.mu.Unlock()
}

func (l *latencies) at(percent float64) float64 { return float64(l.h.ValueAtPercentile(percent)) }

// A tally keeps the numbers that samples gave, unit by unit, in order.
type tally struct {
	units  []string
	values map[string][]float64
}

func (t *tally) add(unit string, v float64) {
	if t.values == nil {
		t.values = map[string][]float64{}
	}
	if t.values[unit] == nil {
		t.units = append(t.units, unit)
	}
	t.values[unit] = append(t.values[unit], v)
}

// metrics are the medians; of the worst cases, whose units begin with max or
// stall, the greatest.
func (t *tally) metrics() []metric {
	var out []metric
	for _, unit := range t.units {
		v := slices.Sorted(slices.Values(t.values[unit]))
		m := metric{unit, v[(len(v)-1)/2]}
		if worst(unit) {
			m.value = v[len(v)-1]
		}
		out = append(out, m)
	}
	return out
}

func worst(unit string) bool {
	return unit == "stall-ns" || len(unit) > 4 && unit[:4] == "max-"
}

// writing is a row whose clients append list to one mailbox, each its share,
// one message after the other. The run ends when the last is acknowledged.
// Every sample begins with a mailbox of its own, and afterwards that is opened
// again and read back.
func (r *Runner) writing(op string, s setting, list []letter) (*job, error) {
	from, err := r.grownBox(s)
	if err != nil {
		return nil, err
	}
	st, err := r.newStand(s)
	if err != nil {
		return nil, err
	}
	start, grown := "", 0
	if from != nil {
		start, grown = from.dir, len(from.held)
	}
	n := float64(len(list))
	var numbers tally
	var took *latencies
	var stall stallClock
	var book uidBook
	j := &job{design: s.design.Name(), op: op, messages: grown + len(list), works: len(list), ops: len(list), own: true}
	j.reset = func() error {
		book = uidBook{uids: make([]uint32, len(list)), last: make([]uint32, s.clients)}
		took = newLatencies()
		return st.renew(start)
	}
	j.run = func() error {
		before := st.files.Counts()
		stall.start(time.Now())
		err := inParallel(s.clients, func(client int) error {
			for i := client; i < len(list); i += s.clients {
				begin := time.Now()
				uid, err := st.box.Append(list[i].Message)
				end := time.Now()
				if err != nil {
					return err
				}
				took.add(end.Sub(begin))
				stall.done(end)
				if err := book.note(client, i, uid); err != nil {
					return err
				}
			}
			return nil
		})
		if c := st.files.Counts().Sub(before); err == nil && s.countsFiles() {
			numbers.add("fsyncs/msg", float64(c.Syncs+c.SyncDirs)/n)
			numbers.add("written-B/msg", float64(c.BytesWritten)/n)
		}
		return err
	}
	j.check = func() error {
		held := ledger{}
		if from != nil {
			held = maps.Clone(from.held)
		}
		if err := book.enter(held, list); err != nil {
			return err
		}
		bytes, err := st.verify(held)
		if err != nil {
			return fmt.Errorf("%s: %w: refusing to print a time", op, err)
		}
		numbers.add("p50-ns/append", took.at(50))
		numbers.add("p99-ns/append", took.at(99))
		numbers.add("max-ns/append", took.at(100))
		numbers.add("stall-ns", float64(stall.longest))
		numbers.add("index-disk-B/msg", float64(bytes)/float64(len(held)))
		return nil
	}
	j.close = st.remove
	j.metrics = func(res *result) []metric {
		if op == "append" {
			r.notePoint(s, float64(median(wallsOf(res)).Nanoseconds())/n)
		}
		return append(numbers.metrics(), metric{"msgs/s", n / median(wallsOf(res)).Seconds()})
	}
	return j, nil
}

// inParallel runs fn for each of n clients and returns the first error.
func inParallel(n int, fn func(client int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for c := range n {
		wg.Go(func() { errs[c] = fn(c) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// doubtSync marks a row that waits for the disk where that is no disk: 4 KiB
// and fdatasync take less than any device needs.
func (r *Runner) doubtSync(name string, s setting) error {
	if s.fsync == box.Never {
		return nil
	}
	took, known := r.syncs[s.ground.base]
	if !known {
		all, _, err := floor.Sync4K(s.ground.dir, 20)
		if err != nil {
			return err
		}
		if r.syncs == nil {
			r.syncs = map[string]time.Duration{}
		}
		took = median(all)
		r.syncs[s.ground.base] = took
	}
	if took < plausible {
		r.doubts = append(r.doubts, note{name, fmt.Sprintf("4 KiB and fdatasync take %v on %s: nothing is waited for", took, s.ground.fs)})
	}
	return nil
}

// plausible is the least that a sync of 4 KiB takes on a device.
const plausible = 10 * time.Microsecond
