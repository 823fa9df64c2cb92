package indextest

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/meter"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Life measures one life of an index of d under each of options, the CPU time
// (user and system: on a busy machine it says more than the clock) of each step
// as a metric of its own; run it with -benchtime=1x. The mail is what
// MAILBENCH_BENCH_MAILDIR names, or 2,000 generated messages. THREAD's answer is
// compared with that of plain, a design that reads the mail each time.
func Life(b *testing.B, d, plain index.Design, options map[string]index.Options) {
	src := Source(b, 2000)
	want := lifeAnswer(b, plain, src)
	crit := func(s string) []mailsort.Criterion {
		c, err := mailsort.ParseCriteria(s)
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	dates, subjects, from := crit("date"), crit("subject"), crit("from")
	for _, name := range slices.Sorted(maps.Keys(options)) {
		b.Run(name, func(b *testing.B) {
			spent := map[string]time.Duration{}
			n, rounds := 0, 0
			var filled, compacted int64
			for b.Loop() {
				rounds++
				cfg := index.Config{Dir: b.TempDir(), Source: src, Options: options[name]}
				var box index.Mailbox
				var line []byte
				step := func(what string, f func() error) {
					b.Helper()
					var m meter.Meter
					m.Start()
					err := f()
					spent[what] += m.Stop().CPU()
					if err != nil {
						b.Fatal(what, ": ", err)
					}
				}
				open := func() (err error) {
					if box, err = d.Open(cfg); err != nil {
						return err
					}
					_, err = box.Sync()
					return err
				}
				threads := func() error {
					a, err := box.Thread(thread.References, index.Search{})
					if err == nil {
						line = a.AppendIMAP(line[:0])
					}
					return err
				}
				sorts := func(c []mailsort.Criterion) func() error {
					return func() error { _, err := box.Sort(c, index.Search{}); return err }
				}
				shut := func() error { return box.Close() }
				step("first-cpu-ms", open)
				step("close-cpu-ms", shut)
				step("again-cpu-ms", open)
				step("thread1-cpu-ms", threads)
				step("thread2-cpu-ms", threads)
				if !bytes.Equal(line, want) {
					b.Fatal("THREAD's answer is not that of ", plain.Name())
				}
				step("date-cpu-ms", sorts(dates))
				step("subject-cpu-ms", sorts(subjects))
				step("shut-cpu-ms", shut)
				filled = dirSize(b, cfg.Dir)
				step("open-cpu-ms", open)
				step("from1-cpu-ms", sorts(from))
				step("compact-cpu-ms", box.Compact)
				n = max(1, box.Status().Messages)
				step("end-cpu-ms", shut)
				compacted = dirSize(b, cfg.Dir)
			}
			for what, d := range spent {
				b.ReportMetric(float64(d.Microseconds())/1000/float64(rounds), what)
			}
			b.ReportMetric(float64(filled)/float64(n), "index-B/msg")
			b.ReportMetric(float64(compacted)/float64(n), "compact-B/msg")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// Source is the mail for a design's own benchmarks: what MAILBENCH_BENCH_MAILDIR
// names, or that many generated messages in an mbox.
func Source(b testing.TB, messages int) index.Source {
	b.Helper()
	path := os.Getenv("MAILBENCH_BENCH_MAILDIR")
	if path == "" {
		path = filepath.Join(b.TempDir(), "mbox")
		if _, err := corpus.WriteMbox(context.Background(), path, corpus.Spec{Messages: messages}, nil); err != nil {
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

// lifeAnswer is THREAD by plain.
func lifeAnswer(b *testing.B, plain index.Design, src index.Source) []byte {
	b.Helper()
	box, err := plain.Open(index.Config{Dir: b.TempDir(), Source: src})
	if err != nil {
		b.Fatal(err)
	}
	defer box.Close()
	a, err := box.Thread(thread.References, index.Search{})
	if err != nil {
		b.Fatal(err)
	}
	return a.AppendIMAP(nil)
}

func dirSize(b *testing.B, dir string) (n int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		in, err := e.Info()
		if err == nil {
			n += in.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}
