package linked

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestHole(t *testing.T) {
	ones := func(n int) []byte { return bytes.Repeat([]byte{1}, n) }
	for _, c := range []struct {
		off  uint64
		b    []byte
		want bool
	}{
		{0, ones(page), false},
		{0, make([]byte, page), false}, // its first page: the size tells
		{100, append(ones(page-100), 0, 0, 0, 0), true},
		{100, append(ones(page-100), 0, 0, 0, 1), false},
		{100, append(ones(page-100), make([]byte, page+1)...), true},
		{100, slices.Concat(ones(page-100), make([]byte, page), ones(1)), true},
		{100, slices.Concat(ones(page-100), make([]byte, page-1), ones(2)), false},
		{page, append(ones(page), 0), true},
	} {
		if got := hole(c.b, c.off); got != c.want {
			t.Errorf("%d bytes at %d: %t", len(c.b), c.off, got)
		}
	}
}

func TestPlace(t *testing.T) {
	record := append(bytes.Repeat([]byte{1}, 40), 0, 0, 0, 0)
	for at := int64(0); at < 2*page; at += 4 {
		for _, start := range []int{0, 8} {
			b, to := place(append(make([]byte, start), record...), start, at)
			if hole(b[to:], uint64(at)+uint64(to)) || !bytes.Equal(b[to:], record) || !zeros(b[:to]) {
				t.Fatalf("at %d: record of %d bytes at %d", at, len(b)-to, to)
			}
		}
	}
	if b, to := place(make([]byte, 3*page), 0, 4); len(b) > 3*page+16 || to > 16 {
		t.Errorf("a record of zeros: %d bytes, at %d", len(b), to)
	}
}

// A page of the cache or the thread index that a crash has lost changes no
// answer: the mail is read for what lay there.
func TestLostPage(t *testing.T) {
	m := newMaildir(t, 600)
	whole := t.TempDir()
	b := m.open(whole, start, nil)
	want := b.threads(t)
	wantDate, wantSubject := b.sorted(t, "date"), b.sorted(t, "subject")
	b.done(t)
	for _, lost := range [][]string{{cacheName}, {threadName}, {cacheName, threadName}} {
		size := int64(0)
		for _, name := range lost {
			st, err := os.Stat(filepath.Join(whole, name))
			if err != nil || st.Size() < 2*page {
				t.Fatalf("%s: %d bytes, %v: too small to lose a page", name, st.Size(), err)
			}
			size = max(size, st.Size())
		}
		for at := int64(page); at < size; at += page {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{cacheName, threadName} {
				path := filepath.Join(dir, name)
				if !slices.Contains(lost, name) {
					if name == threadName { // it would answer without the cache
						os.Remove(path)
					}
					continue
				}
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				st, _ := f.Stat()
				if n := min(page, st.Size()-at); n > 0 {
					f.WriteAt(make([]byte, n), at)
				}
				f.Close()
			}
			b := m.open(dir, start, nil)
			if got := b.threads(t); got != want {
				t.Errorf("%v, page at %d: %s\nwant %s", lost, at, got, want)
			}
			if !slices.Equal(b.sorted(t, "date"), wantDate) || !slices.Equal(b.sorted(t, "subject"), wantSubject) {
				t.Errorf("%v, page at %d: another order", lost, at)
			}
			b.Close()
			b.src.Close()
		}
	}
}
