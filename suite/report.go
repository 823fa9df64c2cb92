package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"mailbench/internal/meter"
	"mailbench/internal/temp"
)

// units are the metrics' Unit lines: which way is better, and which repeat
// exactly.
var units = []string{
	"Unit ns/op better=lower",
	"Unit min-ns/op better=lower",
	"Unit max-ns/op better=lower",
	"Unit cpu-ns/msg better=lower",
	"Unit device-B/op better=lower",
	"Unit index-B/msg better=lower assume=exact",
	"Unit resident-pct better=higher",
	"Unit msgs/s better=higher",
	"Unit dirtied-B/op better=lower",
	"Unit x-floor better=lower",
	"Unit peak-anon-B/msg better=lower",
	"Unit peak-file-B/msg better=lower",
	"Unit p90-ns/op better=lower",
	"Unit p99-ns/op better=lower",
	"Unit scan-ns/op better=lower",
	"Unit read-ns/op better=lower",
	"Unit parse-ns/op better=lower",
	"Unit load-ns/op better=lower",
	"Unit link-ns/op better=lower",
	"Unit sort-ns/op better=lower",
	"Unit format-ns/op better=lower",
	"Unit write-ns/op better=lower",
	"Unit opens/op better=lower",
	"Unit reads/op better=lower",
	"Unit writes/op better=lower",
	"Unit syncs/op better=lower",
	"Unit maps/op better=lower",
	"Unit renames/op better=lower",
	"Unit read-B/op better=lower",
	"Unit mapped-B/op better=lower",
	"Unit written-B/op better=lower",
	"Unit mail-B/op better=lower",
	"Unit mails-opened/op better=lower",
	"Unit ns/msg better=lower",
	"Unit B/msg better=lower",
	"Unit growth better=lower",
	"Unit ns/mailbox better=lower",
	"Unit index-B/mailbox better=lower",
	"Unit empty-B better=lower",
	"Unit empty-files better=lower",
	"Unit written-B/delivered better=lower",
	"Unit dirtied-B/delivered better=lower",
	"Unit mean-disk-B/msg better=lower",
	"Unit peak-disk-B/msg better=lower",
	"Unit rewrites better=lower",
	"Unit hit-pct better=higher",
	"Unit hit-bound-pct better=higher",
	"Unit p50-ns/fetch better=lower",
	"Unit p99-ns/fetch better=lower",
	"Unit p50-ns/append better=lower",
	"Unit p99-ns/append better=lower",
	"Unit max-ns/append better=lower",
	"Unit p50-ns/command better=lower",
	"Unit p99-ns/command better=lower",
	"Unit max-ns/command better=lower",
	"Unit stall-ns better=lower",
	"Unit fsyncs/msg better=lower",
	"Unit written-B/msg better=lower",
	"Unit index-disk-B/msg better=lower",
	"Unit commands/s better=higher",
	"Unit late-pct better=lower",
	"Unit silent-wrong-pct better=lower",
	"Unit error-pct better=lower",
	"Unit right-pct better=higher",
	"Unit tried better=higher",
}

// report prints the row: medians of its samples as the benchmark's own
// metrics, in place of what the clock of b counted with the preparation.
func (r *Runner) report(b *testing.B, row Row, j *job, res *result) {
	r.ran = true
	walls := wallsOf(res)
	all := r.cfg.Metrics == "all"
	mid := median(walls)
	lo, hi := slices.Min(walls), slices.Max(walls)
	b.ReportAllocs()
	ops := float64(max(j.ops, 1))
	b.ReportMetric(float64(mid.Nanoseconds())/ops, "ns/op")
	b.ReportMetric(float64(lo.Nanoseconds())/ops, "min-ns/op")
	b.ReportMetric(float64(hi.Nanoseconds())/ops, "max-ns/op")
	mids := func(value func(meter.Sample) int64) float64 { return float64(medianOf(res.samples, value)) / ops }
	b.ReportMetric(mids(func(s meter.Sample) int64 { return int64(s.Allocs) }), "allocs/op")
	b.ReportMetric(mids(heapBytes), "B/op")
	work := cmp.Or(j.works, j.messages)
	if work > 0 {
		b.ReportMetric(mids(func(s meter.Sample) int64 { return int64(s.CPU()) })*ops/float64(work), "cpu-ns/msg")
	}
	if res.samples[0].IOKnown {
		b.ReportMetric(mids(func(s meter.Sample) int64 { return s.Read }), "device-B/op")
		if all {
			b.ReportMetric(mids(func(s meter.Sample) int64 { return s.Dirtied }), "dirtied-B/op")
		}
	}
	if j.dir != "" && j.messages > 0 {
		n, err := dirBytes(j.dir)
		if err != nil {
			b.Error(err)
		}
		b.ReportMetric(float64(n)/float64(j.messages), "index-B/msg")
		if all {
			r.reportFiles(b, j)
		}
	}
	if j.files != nil {
		b.ReportMetric(100*res.share, "resident-pct")
	}
	if j.mbPerS > 0 && mid > 0 {
		b.ReportMetric(float64(j.mbPerS)/1e6/mid.Seconds(), "MB/s")
	}
	if all && work > 0 && mid > 0 {
		b.ReportMetric(float64(work)/mid.Seconds(), "msgs/s")
	}
	if res.peak != nil {
		b.ReportMetric(float64(res.peak.Anonymous)/float64(j.messages), "peak-anon-B/msg")
		b.ReportMetric(float64(res.peak.File)/float64(j.messages), "peak-file-B/msg")
	}
	for _, m := range res.inside {
		b.ReportMetric(m.value, m.unit)
	}
	if all && len(walls) >= percentiles {
		b.ReportMetric(float64(atShare(walls, 0.9)), "p90-ns/op")
		b.ReportMetric(float64(atShare(walls, 0.99)), "p99-ns/op")
	}
	if j.metrics != nil {
		for _, m := range j.metrics(res) {
			b.ReportMetric(m.value, m.unit)
		}
	}
	r.againstFloor(b, res)
	if j.mails != temp.Warm && j.files != nil || j.index == indexCold {
		r.cold = append(r.cold, note{row.Name(), strings.Trim(fmt.Sprint(walls), "[]")})
	}
}

// percentiles is the number of samples from which a row shows percentiles.
const percentiles = 20

// atShare is the smallest of ds that at least share of them do not exceed.
func atShare(ds []time.Duration, share float64) time.Duration {
	s := slices.Sorted(slices.Values(ds))
	return s[min(len(s)-1, max(0, int(math.Ceil(share*float64(len(s))))-1))]
}

// enough is the number of samples and floors from which a row may be called
// faster than possible.
const enough = 3

// againstFloor shows how many times its floor the row took, and fails a row
// that was faster: then the floor is wrong, or the row did not do its work.
func (r *Runner) againstFloor(b *testing.B, res *result) {
	if r.cfg.Metrics == "all" && len(res.floors) > 0 {
		b.ReportMetric(float64(median(wallsOf(res)))/float64(max(median(res.floors), 1)), "x-floor")
	}
	if mid, least, fast := res.belowFloor(); fast {
		b.Errorf("median %v is below 0.95 of the floor (%v): the floor is wrong", mid, least)
	}
}

// belowFloor compares the row's median with the fastest run of its floor: one
// look at a shared machine proves nothing.
func (res *result) belowFloor() (mid, least time.Duration, fast bool) {
	if len(res.floors) < enough || len(res.samples) < enough {
		return 0, 0, false
	}
	mid, least = median(wallsOf(res)), slices.Min(res.floors)
	return mid, least, least > 100*time.Microsecond && float64(mid) < 0.95*float64(least)
}

func heapBytes(s meter.Sample) int64 { return int64(s.Bytes) }

func wallsOf(res *result) []time.Duration {
	w := make([]time.Duration, len(res.samples))
	for i, s := range res.samples {
		w[i] = s.Wall
	}
	return w
}
