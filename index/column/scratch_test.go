package column

import (
	"bytes"
	"os"
	"testing"
	"time"
	"fmt"
	"runtime"

	"mailbench/index"
	"mailbench/index/blockfile"
	"mailbench/internal/fsys"
	"mailbench/thread"
)

type memSource struct{ msgs [][]byte; index.Source }

func (m *memSource) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) { return append(buf[:0], m.msgs[e.Ref]...), nil }
func (m *memSource) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) { return append(buf[:0], m.msgs[e.Ref]...), nil }
func (m *memSource) Stat(e *index.Entry) (int64, int64, error) { return int64(len(m.msgs[e.Ref])), 1e9, nil }

func TestScratch(t *testing.T) {
	p := os.Getenv("LKML")
	if p == "" { t.Skip("no corpus") }
	data, _ := os.ReadFile(p)
	m := &memSource{}
	for len(data) > 0 {
		i := bytes.Index(data, []byte("\n\nFrom list@"))
		var one []byte
		if i < 0 { one, data = data, nil } else { one, data = data[:i+1], data[i+2:] }
		nl := bytes.IndexByte(one, '\n')
		m.msgs = append(m.msgs, one[nl+1:])
	}
	n := len(m.msgs)
	fmt.Println("msgs", n)
	entries := make([]index.Entry, n)
	uids := make([]uint32, n)
	for i := range entries { entries[i] = index.Entry{Ref: int32(i), VSize: -1, Size: -1}; uids[i] = uint32(i+1) }
	for _, w := range []wants{{thread: true}, {thread: true, address: true, size: true, arrival: true}, {thread: true, envelope: true}} {
		runtime.GC()
		var m0, m1 runtime.MemStats
		runtime.ReadMemStats(&m0)
		t0 := time.Now()
		s := newStore(hashKey{1, 2})
		b, err := newBuilder(s, w, n)
		if err != nil { t.Fatal(err) }
		r := &reader{src: m, want: w, key: s.key}
		if err := readAll(r, n, 0, func(i int) *index.Entry { return &entries[i] }, b.merge); err != nil { t.Fatal(err) }
		t1 := time.Now()
		parts, err := b.finish(uids)
		t2 := time.Now()
		dir := "/work/tmp/H"
		err = blockfile.Create(fsys.OS, dir+"/cache", blockfile.Header{Kind: "column", Generation: 1}, func(w *blockfile.Writer) error { return writeParts(w, parts) })
		if err != nil { t.Fatal(err) }
		t3 := time.Now()
		runtime.ReadMemStats(&m1)
		fmt.Println("read", t1.Sub(t0), "finish", t2.Sub(t1), "write", t3.Sub(t2), "mallocs", m1.Mallocs-m0.Mallocs, "bytes/msg", (m1.TotalAlloc-m0.TotalAlloc)/uint64(n), "ids", s.cols.numIDs, "subjects", s.subject.dict.len())
		rd, err := blockfile.Open(fsys.OS, dir+"/cache")
		if err != nil { t.Fatal(err) }
		for _, sec := range rd.Segment(0).Sections() {
			fmt.Printf("  %-14s %9d raw %9d rows %7d  %.2f B/msg\n", sec.Name(), sec.Stored(), sec.Len(), sec.Rows(), float64(sec.Stored())/float64(n))
		}
		fmt.Printf(" total %.2f\n", float64(rd.Size())/float64(n))
		t4 := time.Now()
		s2, err := openStore(rd, s.key)
		t5 := time.Now()
		if err := s2.loadLinks(); err != nil { t.Fatal(err) }
		t6 := time.Now()
		if err := s2.loadDates(); err != nil { t.Fatal(err) }
		t7 := time.Now()
		in := s2.cols.input(s2.cols.replies(nil))
		var f thread.Forest
		var sc thread.Scratch
		thread.Build(thread.References, &in, nil, &f, &sc)
		t8 := time.Now()
		if err := s2.loadText(&s2.subject); err != nil { t.Fatal(err) }
		t9 := time.Now()
		fmt.Println("open", t5.Sub(t4), "links", t6.Sub(t5), "dates", t7.Sub(t6), "thread", t8.Sub(t7), "text", t9.Sub(t8))
		out := f.AppendIMAP(nil, s2.cols.uid)
		t10 := time.Now()
		out = f.AppendIMAP(out[:0], s2.cols.uid)
		fmt.Println("format", time.Since(t10), len(out))
		os.WriteFile(dir+"/thread.txt", append(out, '\n'), 0o644)
		rd.Close()
	}
}
