package column

import (
	"os"
	"path/filepath"
	"testing"

	"mailbench/index"
	"mailbench/index/indextest"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

func benchOpen(b testing.TB, cfg index.Config) index.Mailbox {
	b.Helper()
	mb, err := Design.Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return mb
}

// filled is an index with cache and answers.
func filled(b testing.TB) index.Config {
	b.Helper()
	cfg := index.Config{Dir: b.TempDir(), Source: indextest.Source(b, 20000)}
	mb := benchOpen(b, cfg)
	defer mb.Close()
	if _, err := mb.Sync(); err != nil {
		b.Fatal(err)
	}
	if _, err := mb.Thread(thread.References, index.Search{}); err != nil {
		b.Fatal(err)
	}
	return cfg
}

func perMessage(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/msg")
}

func BenchmarkThreadFirst(b *testing.B) {
	for _, fields := range []string{"thread", "envelope"} {
		b.Run("fields="+fields, func(b *testing.B) {
			cfg := index.Config{Dir: b.TempDir(), Source: indextest.Source(b, 20000), Options: index.Options{Fields: fields}}
			mb := benchOpen(b, cfg)
			defer func() { mb.Close() }()
			if _, err := mb.Sync(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				mb.Close()
				os.Remove(filepath.Join(cfg.Dir, CacheFile))
				os.Remove(filepath.Join(cfg.Dir, AnswersFile))
				mb = benchOpen(b, cfg)
				if _, err := mb.Thread(thread.References, index.Search{}); err != nil {
					b.Fatal(err)
				}
			}
			perMessage(b, mb.Status().Messages)
		})
	}
}

func BenchmarkThreadAgain(b *testing.B) {
	cfg := filled(b)
	for _, answers := range []string{"stored", "computed"} {
		cfg.Options.Answers = answers
		b.Run("answers="+answers, func(b *testing.B) {
			var out []byte
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				mb := benchOpen(b, cfg)
				a, err := mb.Thread(thread.References, index.Search{})
				if err != nil {
					b.Fatal(err)
				}
				out = a.AppendIMAP(out[:0])
				n = mb.Status().Messages
				mb.Close()
			}
			perMessage(b, n)
		})
	}
}

func BenchmarkSortAgain(b *testing.B) {
	cfg := filled(b)
	for _, answers := range []string{"stored", "computed"} {
		for _, key := range []string{"date", "subject"} {
			cfg.Options.Answers = answers
			crit, _ := mailsort.ParseCriteria(key)
			b.Run("answers="+answers+"/key="+key, func(b *testing.B) {
				var out []byte
				n := 0
				b.ReportAllocs()
				for b.Loop() {
					mb := benchOpen(b, cfg)
					uids, err := mb.Sort(crit, index.Search{})
					if err != nil {
						b.Fatal(err)
					}
					out = mailsort.AppendIMAP(out[:0], uids)
					n = mb.Status().Messages
					mb.Close()
				}
				perMessage(b, n)
			})
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	cfg := filled(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		mb := benchOpen(b, cfg)
		if err := mb.Compact(); err != nil {
			b.Fatal(err)
		}
		n = mb.Status().Messages
		mb.Close()
	}
	perMessage(b, n)
}
