package envelope

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus"
	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/meter"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// benchSource is the mail to measure on: what MAILBENCH_BENCH_MAILDIR names, or
// 20,000 generated messages in an mbox.
func benchSource(b testing.TB) index.Source {
	b.Helper()
	path := os.Getenv("MAILBENCH_BENCH_MAILDIR")
	if path == "" {
		path = filepath.Join(b.TempDir(), "mbox")
		if _, err := corpus.WriteMbox(context.Background(), path, corpus.Spec{Messages: 20000}, nil); err != nil {
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

func mustOpen(t testing.TB, cfg index.Config) *mailbox {
	t.Helper()
	mb, err := Design.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return mb.(*mailbox)
}

func mustSync(t testing.TB, m *mailbox) index.Changes {
	t.Helper()
	c, err := m.Sync()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func report(b *testing.B, m *mailbox, used meter.Sample) {
	n := max(m.Status().Messages, 1)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/msg")
	b.ReportMetric(float64(used.CPU().Nanoseconds())/float64(b.N)/float64(n), "cpu-ns/msg")
	for _, s := range m.Stats() {
		if s.Rows > 0 {
			b.ReportMetric(float64(s.Bytes)/float64(n), s.Name+"-B/msg")
		}
	}
}

func BenchmarkSelectFirst(b *testing.B) {
	for _, extra := range []map[string]string{{}, {"read": "header"}, {"headers": "most"}} {
		name := "default"
		for k, v := range extra {
			name = k + "=" + v
		}
		b.Run(name, func(b *testing.B) {
			cfg := index.Config{Dir: b.TempDir(), Source: benchSource(b), Options: index.Options{Extra: extra}}
			var m *mailbox
			var cpu meter.Meter
			cpu.Start()
			for b.Loop() {
				if err := os.RemoveAll(cfg.Dir); err != nil {
					b.Fatal(err)
				}
				m = mustOpen(b, cfg)
				mustSync(b, m)
			}
			used := cpu.Stop()
			report(b, m, used)
		})
	}
}

// filled is an index that is there.
func filled(b *testing.B) index.Config {
	b.Helper()
	cfg := index.Config{Dir: b.TempDir(), Source: benchSource(b)}
	m := mustOpen(b, cfg)
	defer m.Close()
	mustSync(b, m)
	return cfg
}

func BenchmarkAgain(b *testing.B) {
	cfg := filled(b)
	sorted := func(keys string) func(m *mailbox) error {
		return func(m *mailbox) error {
			crit, err := mailsort.ParseCriteria(keys)
			if err == nil {
				_, err = m.Sort(crit, index.Search{})
			}
			return err
		}
	}
	for _, op := range []struct {
		name string
		do   func(m *mailbox) error
	}{
		{"select", func(m *mailbox) error { _, err := m.Sync(); return err }},
		{"thread", func(m *mailbox) error { _, err := m.Thread(thread.References, index.Search{}); return err }},
		{"sort-date", sorted("date")}, {"sort-subject", sorted("subject")}, {"sort-from", sorted("from")},
		{"compact", func(m *mailbox) error { return m.Compact() }},
		{"fetch", func(m *mailbox) error {
			if err := m.load(); err != nil {
				return err
			}
			return m.Fetch(m.table.UIDs(), index.EnvelopeFields, func(uint32, [][]byte) error { return nil })
		}},
	} {
		b.Run("op="+op.name, func(b *testing.B) {
			b.ReportAllocs()
			var m *mailbox
			var cpu meter.Meter
			cpu.Start()
			for b.Loop() {
				m = mustOpen(b, cfg)
				if err := op.do(m); err != nil {
					b.Fatal(err)
				}
			}
			used := cpu.Stop()
			report(b, m, used)
		})
	}
}
