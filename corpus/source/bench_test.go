package source

import (
	"os"
	"testing"

	"mailbench/index"
)

// A user's own mail: MAILBENCH_MBOX=path go test -bench . ./corpus/source
func BenchmarkList(b *testing.B) {
	path := os.Getenv("MAILBENCH_MBOX")
	if path == "" {
		path = write(b, "a.mbox", sample(3000))
	}
	s, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var l index.Listing
	if err := s.List(&l); err != nil {
		b.Fatal(err)
	}
	n := float64(len(l.Entries))
	b.Run("op=list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.List(&l); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
	})
	b.Run("op=header", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		var total int64
		for b.Loop() {
			for i := range l.Entries {
				if buf, err = s.ReadHeader(&l.Entries[i], buf); err != nil {
					b.Fatal(err)
				}
				total += int64(len(buf))
			}
		}
		b.SetBytes(total / int64(b.N))
		b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
	})
	b.Run("op=order", func(b *testing.B) {
		entries := make([]index.Entry, len(l.Entries))
		for b.Loop() {
			copy(entries, l.Entries)
			s.Order(entries)
		}
	})
}
