package blockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"mailbench/internal/fsys"
)

type section struct {
	name string
	zstd bool
	data []byte
}

func someSections(r *rand.Rand, scale int) []section {
	var all []section
	for i := range 1 + r.IntN(4) {
		b := make([]byte, r.IntN(scale))
		for j := range b {
			b[j] = "abcdefgh"[r.IntN(8)]
		}
		all = append(all, section{fmt.Sprintf("col%d", i), r.IntN(2) == 0, b})
	}
	return all
}

func write(w *Writer, all []section) error {
	for _, s := range all {
		if s.zstd {
			if err := w.ZstdBytes(s.name, len(s.data), s.data, 1000); err != nil {
				return err
			}
		} else if err := w.Raw(s.name, len(s.data), s.data); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error when a section cannot be read, and fails the test on a wrong byte.
func check(t *testing.T, seg *Segment, want []section) error {
	t.Helper()
	for _, s := range want {
		sec := seg.Section(s.name)
		if sec == nil {
			t.Fatalf("section %s is missing", s.name)
		}
		got, err := sec.ReadAll(nil)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, s.data) || sec.Rows() != len(s.data) {
			t.Fatalf("section %s: other bytes", s.name)
		}
		if !s.zstd && len(s.data) > 10 {
			part, err := sec.Range(int64(len(s.data)/2), 3)
			if err != nil {
				return err
			}
			if !bytes.Equal(part, s.data[len(s.data)/2:][:3]) {
				t.Fatalf("section %s: other range", s.name)
			}
		}
	}
	return nil
}

func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		name := filepath.Join(t.TempDir(), "f")
		h := Header{Kind: "test", Version: 3, UIDValidity: 7, Generation: r.Uint64(), Meta: []byte("hello")}
		segs := [][]section{someSections(r, 200_000)}
		if err := Create(fsys.OS, name, h, func(w *Writer) error { return write(w, segs[0]) }); err != nil {
			t.Fatal(err)
		}
		for range r.IntN(4) {
			rd, err := Open(fsys.OS, name)
			if err != nil {
				t.Fatal(err)
			}
			s := someSections(r, 5000)
			if err := Append(fsys.OS, rd, func(w *Writer) error { return write(w, s) }); err != nil {
				t.Fatal(err)
			}
			if err := Append(fsys.OS, rd, func(*Writer) error { return nil }); !errors.Is(err, ErrChanged) {
				t.Fatalf("append through an old reader: %v", err)
			}
			rd.Close()
			segs = append(segs, s)
		}
		rd, err := Open(fsys.OS, name)
		if err != nil {
			t.Fatal(err)
		}
		got := rd.Header()
		if got.Kind != "test" || got.Version != 3 || got.UIDValidity != 7 || got.Generation != h.Generation || string(got.Meta) != "hello" {
			t.Fatalf("header %+v", got)
		}
		if rd.Segments() != len(segs) || rd.Torn() != 0 {
			t.Fatalf("%d segments, %d torn", rd.Segments(), rd.Torn())
		}
		for i, s := range segs {
			if err := check(t, rd.Segment(i), s); err != nil {
				t.Fatal(err)
			}
		}
		for err := range rd.Verify {
			t.Fatal(err)
		}
		rd.Close()
	}
}

// Every byte flipped gives an error, fewer segments, or the same bytes, and
// Verify finds it.
func TestEveryByteFlipped(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	segs := [][]section{someSections(r, 300), someSections(r, 200), someSections(r, 100)}
	if err := Create(fsys.OS, name, Header{Kind: "test"}, func(w *Writer) error { return write(w, segs[0]) }); err != nil {
		t.Fatal(err)
	}
	ends := []int64{}
	for _, s := range segs[1:] {
		rd, err := Open(fsys.OS, name)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, rd.Size())
		if err := Append(fsys.OS, rd, func(w *Writer) error { return write(w, s) }); err != nil {
			t.Fatal(err)
		}
		rd.Close()
	}
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) (int, error) {
		rd := &Reader{name: name, m: &fsys.Mapping{}, data: b, size: int64(len(b))}
		if err := rd.load(); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error of another kind: %v", err)
			}
			return 0, err
		}
		for i := range rd.Segments() {
			if err := check(t, rd.Segment(i), segs[i]); err != nil {
				return 0, err
			}
		}
		return rd.Segments(), nil
	}
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1 << (i % 8)
		try(b)
		rd := &Reader{name: name, m: &fsys.Mapping{}, data: b, size: int64(len(b))}
		found := rd.load() != nil
		if !found {
			for range rd.Verify {
				found = true
			}
		}
		if !found {
			t.Fatalf("nobody finds byte %d of %d flipped", i, len(b))
		}
	}
	for n := range len(good) {
		got, err := try(good[:n])
		want := 0
		for _, e := range ends {
			if int64(n) >= e {
				want++
			}
		}
		if got != want || (want == 0) != (err != nil) {
			t.Fatalf("cut at %d: %d segments, %v; want %d", n, got, err, want)
		}
	}
}

func TestMissing(t *testing.T) {
	_, err := Open(fsys.OS, filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, fs.ErrNotExist) || !IsAbsent(err) {
		t.Fatalf("got %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	name := filepath.Join(f.TempDir(), "f")
	if err := Create(fsys.OS, name, Header{Kind: "test"}, func(w *Writer) error {
		return errors.Join(w.Raw("a", 1, []byte("aaa")), w.ZstdBytes("b", 1, []byte("bbbb"), 2))
	}); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &Reader{name: "fuzz", m: &fsys.Mapping{}, data: b, size: int64(len(b))}
		if r.load() != nil {
			return
		}
		for range r.Verify {
			break
		}
	})
}

// Where files are not mapped the parts that are asked for are read, and no more,
// and every section is the same.
func TestOpen_unmapped(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	name := filepath.Join(t.TempDir(), "f")
	big := section{"big", false, bytes.Repeat([]byte("0123456789abcdef"), 20<<10)}
	segs := [][]section{{big, {"a", true, big.data[:5000]}, {"b", false, nil}}}
	if err := Create(fsys.OS, name, Header{Kind: "test"}, func(w *Writer) error { return write(w, segs[0]) }); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		m, err := Open(fsys.OS, name)
		if err != nil {
			t.Fatal(err)
		}
		s := someSections(r, 300)
		if err := Append(fsys.OS, m, func(w *Writer) error { return write(w, s) }); err != nil {
			t.Fatal(err)
		}
		segs = append(segs, s)
		m.Close()
	}
	c := fsys.Counting(fsys.OS)
	u, err := Open(fsys.Unmapped(c), name)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if n := c.Counts(); n.BytesRead > 16<<10 || n.Maps > 0 {
		t.Errorf("opening: %+v", n)
	}
	if u.Segments() != len(segs) {
		t.Fatalf("%d segments, want %d", u.Segments(), len(segs))
	}
	before := c.Counts()
	if b, err := u.Segment(0).Section("big").Range(100000, 10); err != nil || !bytes.Equal(b, big.data[100000:100010]) {
		t.Errorf("range: %q, %v", b, err)
	}
	if n := c.Counts().Sub(before); n.BytesRead > 2*RawBlock {
		t.Errorf("ten bytes: %+v", n)
	}
	for i, s := range segs {
		if err := check(t, u.Segment(i), s); err != nil {
			t.Error(err)
		}
	}
	u.Verify(func(err error) bool { t.Error(err); return true })
}
