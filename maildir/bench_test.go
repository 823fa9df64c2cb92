package maildir

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// benchNames are names as Dovecot writes them, one or so a second.
func benchNames(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	names := make([]string, n)
	at := int64(1500000000)
	for i := range names {
		at += r.Int64N(3)
		size := 2000 + r.IntN(9000)
		names[i] = fmt.Sprintf("%d.M%dP%d.mail.example,S=%d,W=%d:2,%s", at, r.IntN(1e6), 1000+r.IntN(30000), size, size+size/40,
			[]string{"", "S", "RS", "FS", "Sa"}[r.IntN(5)])
	}
	return names
}

func BenchmarkParse(b *testing.B) {
	names := benchNames(1024)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		Parse(names[i&1023], Options{})
		i++
	}
}

func BenchmarkDigest(b *testing.B) {
	names := make([][]byte, 1024)
	for i, n := range benchNames(1024) {
		names[i] = []byte(n)
	}
	var d Digest
	i := 0
	for b.Loop() {
		d.add(Cur, names[i&1023])
		i++
	}
}

func BenchmarkSortBase(b *testing.B) {
	entries := make([]Entry, 0, 370000)
	for _, n := range benchNames(cap(entries)) {
		entries = append(entries, parseEntry(n, Cur, ':'))
	}
	r := rand.New(rand.NewPCG(3, 4))
	r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	work := make([]Entry, len(entries))
	b.ReportAllocs()
	for b.Loop() {
		copy(work, entries) // about 5 ms of it
		SortBase(work)
	}
	if !slices.IsSortedFunc(work, compareEntries) {
		b.Fatal("not sorted")
	}
}

func BenchmarkDiff(b *testing.B) {
	var old, new Scan
	for i, n := range benchNames(370000) {
		old.Entries = append(old.Entries, parseEntry(n, Cur, ':'))
		if i%100 == 0 {
			n += "T"
		}
		new.Entries = append(new.Entries, parseEntry(n, Cur, ':'))
	}
	old.Digest.N = 1 // differ
	b.ReportAllocs()
	for b.Loop() {
		if d := Diff(&old, &new); len(d.Flagged) != 3700 {
			b.Fatal(len(d.Flagged))
		}
	}
}

// BenchmarkScan lists a maildir: that of MAILDIR_BENCH, or one of 20,000 empty
// files. op=list is what "nothing changed" costs.
func BenchmarkScan(b *testing.B) {
	dir := os.Getenv("MAILDIR_BENCH")
	if dir == "" {
		dir = mailbox(b)
		for _, n := range benchNames(20000) {
			put(b, filepath.Join(dir, "cur", n), "")
		}
	}
	var s Scan
	for _, bench := range []struct {
		op string
		f  func() error
	}{
		{"list", func() error { return s.List(dir, Options{}) }},
		{"read", func() error { return s.Read(dir, Options{}) }},
		{"read+sort", func() error {
			err := s.Read(dir, Options{})
			SortBase(s.Entries)
			return err
		}},
	} {
		b.Run("op="+bench.op, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.f(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(max(1, s.Digest.N)), "ns/msg")
		})
	}
}

func BenchmarkReadHeader(b *testing.B) {
	dir := mailbox(b)
	names := benchNames(2000)
	header := make([]byte, 0, 6000)
	for len(header) < 5200 {
		header = append(header, "Received: from a.example by b.example with ESMTP; Thu, 1 Jan 2026 00:00:00 +0000\n"...)
	}
	header = append(header, "\nbody\n"...)
	for _, n := range names {
		put(b, filepath.Join(dir, "cur", n), string(header))
	}
	r := opened(b, dir)
	buf := make([]byte, 0, firstRead)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h, err := r.ReadHeader(&Entry{File: names[i%len(names)]}, buf)
		if err != nil || len(h) != len(header)-5 {
			b.Fatal(len(h), err)
		}
		i++
	}
}
