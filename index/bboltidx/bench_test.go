package bboltidx

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// benchSource is the mail to measure on: what MAILBENCH_BENCH_MAILDIR names, or
// 2,000 generated messages in an mbox.
func benchSource(b *testing.B) index.Source {
	b.Helper()
	path := os.Getenv("MAILBENCH_BENCH_MAILDIR")
	if path == "" {
		path = filepath.Join(b.TempDir(), "mbox")
		if _, err := corpus.WriteMbox(context.Background(), path, corpus.Spec{Messages: 2000}, nil); err != nil {
			b.Fatal(err)
		}
	}
	src, err := source.Open(path, source.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	return src
}

// sweep is what was tried to find the defaults.
var sweep = map[string]index.Options{
	"default":          {},
	"fields=envelope":  {Fields: "envelope"},
	"headers=delivery": {Extra: map[string]string{"headers": "delivery"}},
	"sync=no":          {Extra: map[string]string{"sync": "no"}},
	"freelist_sync=no": {Extra: map[string]string{"freelist_sync": "no"}},
	"freelist=array":   {Extra: map[string]string{"freelist": "array"}},
	"fill=50pct":       {Extra: map[string]string{"fill_pct": "50"}},
	"page=16k":         {Extra: map[string]string{"page_size": "16384"}},
}

// cpu is what this process has spent, user and system: on a busy machine it
// says more than the clock.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// A life of an index, the CPU time of each step as a metric of its own:
// -benchtime=1x.
func BenchmarkLife(b *testing.B) {
	src := benchSource(b)
	dates, _ := mailsort.ParseCriteria("date")
	subjects, _ := mailsort.ParseCriteria("subject")
	from, _ := mailsort.ParseCriteria("from")
	for _, name := range slices.Sorted(maps.Keys(sweep)) {
		o := sweep[name]
		b.Run(name, func(b *testing.B) {
			spent := map[string]time.Duration{}
			n, rounds := 0, 0
			var bytes, compact int64
			for b.Loop() {
				rounds++
				cfg := index.Config{Dir: b.TempDir(), Source: src, Options: o}
				var box index.Mailbox
				step := func(what string, f func() error) {
					b.Helper()
					start := cpu()
					if err := f(); err != nil {
						b.Fatal(what, err)
					}
					spent[what] += cpu() - start
				}
				open := func() (err error) {
					if box != nil {
						if err := box.Close(); err != nil {
							return err
						}
					}
					if box, err = Design.Open(cfg); err != nil {
						return err
					}
					_, err = box.Sync()
					return err
				}
				threads := func() error { _, err := box.Thread(thread.References, index.Search{}); return err }
				sorts := func(crit []mailsort.Criterion) func() error {
					return func() error { _, err := box.Sort(crit, index.Search{}); return err }
				}
				step("first-cpu-ms", open)
				step("close-cpu-ms", func() error { return box.Close() })
				step("again-cpu-ms", open)
				step("thread1-cpu-ms", threads)
				step("thread2-cpu-ms", threads)
				step("date-cpu-ms", sorts(dates))
				step("subject-cpu-ms", sorts(subjects))
				box.Close()
				bytes = size(cfg.Dir)
				open()
				step("from1-cpu-ms", sorts(from))
				step("compact-cpu-ms", box.Compact)
				n = box.Status().Messages
				box.Close()
				compact = size(cfg.Dir)
			}
			for what, d := range spent {
				b.ReportMetric(float64(d.Microseconds())/1000/float64(rounds), what)
			}
			b.ReportMetric(float64(bytes)/float64(n), "index-B/msg")
			b.ReportMetric(float64(compact)/float64(n), "compact-B/msg")
			b.ReportMetric(0, "ns/op")
		})
	}
}
