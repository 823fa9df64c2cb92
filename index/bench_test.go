package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/maildir"
)

// benchMaildir is MAILBENCH_BENCH_MAILDIR, or a small one made on the spot.
func benchMaildir(b *testing.B) string {
	if d := os.Getenv("MAILBENCH_BENCH_MAILDIR"); d != "" {
		return d
	}
	dir := b.TempDir()
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 5000 {
		name := fmt.Sprintf("%d.M%dP%d.host,S=%d,W=%d:2,S", 1_500_000_000+i*61, i*7919%1e6, 100+i%7, 1000+i*31%5000, 1020+i*31%5000)
		if err := os.WriteFile(filepath.Join(dir, "cur", name), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func open(b *testing.B, path string) index.Source {
	src, err := source.Open(path, source.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	return src
}

func BenchmarkFloorReaddir(b *testing.B) {
	path := benchMaildir(b)
	var s maildir.Scan
	for b.Loop() {
		if err := s.Read(path, maildir.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Entries)), "ns/msg")
}

func BenchmarkFloorReaddirSort(b *testing.B) {
	path := benchMaildir(b)
	var s maildir.Scan
	for b.Loop() {
		if err := s.Read(path, maildir.Options{}); err != nil {
			b.Fatal(err)
		}
		maildir.SortBase(s.Entries)
	}
}

func BenchmarkList(b *testing.B) {
	src := open(b, benchMaildir(b))
	var l index.Listing
	for b.Loop() {
		if err := src.List(&l); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBaseSelectFirst(b *testing.B) {
	path := benchMaildir(b)
	root := benchRoot(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		src, err := source.Open(path, source.Options{})
		if err != nil {
			b.Fatal(err)
		}
		base, err := index.OpenBase(nil, dir, index.BaseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := base.Sync(src); err != nil {
			b.Fatal(err)
		}
		if n == 1 {
			for _, s := range base.Stats() {
				b.Logf("%-20s %-10s %9d bytes %.2f per message", s.Name, s.Part, s.Bytes, float64(s.Bytes)/float64(base.Header().Messages))
			}
		}
		src.Close()
		base.Close()
	}
}

func benchRoot(b *testing.B) string {
	if d := os.Getenv("MAILBENCH_BENCH_DIR"); d != "" {
		d, err := os.MkdirTemp(d, "bench")
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { os.RemoveAll(d) })
		return d
	}
	return b.TempDir()
}

func BenchmarkBaseSelectAgain(b *testing.B) {
	src := open(b, benchMaildir(b))
	dir := benchRoot(b)
	base, err := index.OpenBase(nil, dir, index.BaseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := base.Sync(src); err != nil {
		b.Fatal(err)
	}
	if base.Header().State.Racy {
		b.Skip("the maildir changed a moment ago, so it has to be listed")
	}
	b.ReportAllocs()
	for b.Loop() {
		base, err := index.OpenBase(nil, dir, index.BaseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		c, err := base.Sync(src)
		if err != nil || c.Scanned {
			b.Fatal(c, err)
		}
		base.Close()
	}
}

func BenchmarkBaseTable(b *testing.B) {
	src := open(b, benchMaildir(b))
	dir := benchRoot(b)
	base, err := index.OpenBase(nil, dir, index.BaseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := base.Sync(src); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		base, err := index.OpenBase(nil, dir, index.BaseOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := base.Table(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBaseCompact(b *testing.B) {
	src := open(b, benchMaildir(b))
	base, err := index.OpenBase(nil, benchRoot(b), index.BaseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := base.Sync(src); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := base.Compact(); err != nil {
			b.Fatal(err)
		}
	}
}
