package sqlstore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/store"
)

// letters are n messages of 3 KB, no two of which share a body.
func letters(r *rand.Rand, n int) []store.Message {
	out := make([]store.Message, n)
	for i := range out {
		b := fmt.Appendf(nil, "Received: from a.example.net by b.example.org; %d\nMessage-ID: <%x@example.net>\nDate: Wed, 1 Jan 2020 10:00:00 +0000\n"+
			"From: Ann <ann%d@example.net>\nTo: list@example.org\nSubject: [list] question %d\nMIME-Version: 1.0\nContent-Type: text/plain\n\n",
			r.Uint64(), r.Uint64(), r.IntN(100), r.IntN(1000))
		for len(b) < 3<<10 {
			b = fmt.Appendf(b, "%x %x %x\n", r.Uint64(), r.Uint64(), r.Uint64())
		}
		out[i] = store.Message{Body: b, Date: 1e9}
	}
	return out
}

func onEnginesB(b *testing.B, f func(b *testing.B, e engine, prefix string)) {
	f(b, engine{name: "sqlite"}, "engine=sqlite")
	for _, s := range servers {
		if dsn := os.Getenv(s.variable); dsn != "" {
			f(b, engine{s.name, dsn}, "engine="+s.name)
		}
	}
}

// BenchmarkAppend: one message and 100 in a transaction, of one client and of
// 10, waiting for the disk or not. MariaDB waits in both.
func BenchmarkAppend(b *testing.B) {
	onEnginesB(b, func(b *testing.B, e engine, prefix string) {
		for _, fsync := range []string{"always", "never"} {
			for _, shape := range []struct{ group, clients int }{{1, 1}, {1, 10}, {100, 1}} {
				for _, headers := range []string{"all", "none"} {
					b.Run(fmt.Sprintf("%s/fsync=%s/headers=%s/group=%d/clients=%d", prefix, fsync, headers, shape.group, shape.clients), func(b *testing.B) {
						cfg := e.config(b, filepath.Join(b.TempDir(), "mail"))
						cfg.NoSync, cfg.Extra["headers"] = fsync == "never", headers
						s := mustOpen(b, cfg)
						n := 0
						for b.Loop() {
							var work sync.WaitGroup
							errs := make(chan error, shape.clients)
							for c := range shape.clients {
								work.Go(func() {
									_, err := s.Append(letters(rand.New(rand.NewPCG(uint64(n), uint64(c))), shape.group))
									errs <- err
								})
							}
							work.Wait()
							for range shape.clients {
								if err := <-errs; err != nil {
									b.Fatal(err)
								}
							}
							n++
						}
						if got := s.cat.Len(); got != n*shape.group*shape.clients {
							b.Fatalf("%d messages", got)
						}
						b.ReportMetric(float64(n*shape.group*shape.clients)/b.Elapsed().Seconds(), "msgs/s")
					})
				}
			}
		}
	})
}

// BenchmarkRead: headers and whole messages, one by one, and an opening.
func BenchmarkRead(b *testing.B) {
	onEnginesB(b, func(b *testing.B, e engine, prefix string) {
		const msgs = 1000
		dir := filepath.Join(b.TempDir(), "mail")
		cfg := e.config(b, dir)
		s := mustOpen(b, cfg)
		want := letters(rand.New(rand.NewPCG(1, 2)), msgs)
		keys, err := s.Append(want)
		if err != nil {
			b.Fatal(err)
		}
		src := s.Source()
		for _, what := range []string{"header", "message"} {
			b.Run(prefix+"/op="+what, func(b *testing.B) {
				var buf []byte
				i := 0
				for b.Loop() {
					entry := &index.Entry{Key: keys[i%msgs]}
					if what == "header" {
						buf, err = src.ReadHeader(entry, buf)
					} else {
						buf, err = src.ReadMessage(entry, buf)
					}
					if err != nil || len(buf) == 0 || what == "message" && len(buf) != len(want[i%msgs].Body) {
						b.Fatal(len(buf), err)
					}
					i++
				}
			})
		}
		b.Run(prefix+"/op=open", func(b *testing.B) {
			for b.Loop() {
				again := mustOpen(b, cfg)
				if again.cat.Len() != msgs {
					b.Fatal(again.cat.Len())
				}
				again.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/msgs, "ns/msg")
		})
	})
}
