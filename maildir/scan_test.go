package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// mailbox makes a maildir; names are relative, "cur/x" or "new/y", and each
// file holds its name as a subject.
func mailbox(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range names {
		put(t, filepath.Join(dir, n), "Subject: "+n+"\n\nbody\n")
	}
	return dir
}

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// listed returns "cur/x"-like names, sorted.
func listed(s *Scan) []string {
	var list []string
	for _, e := range s.Entries {
		list = append(list, e.Dir.String()+"/"+e.File)
	}
	slices.Sort(list)
	return list
}

func TestScan_Read(t *testing.T) {
	dir := mailbox(t, "cur/1.a:2,S", "cur/2.b,S=5:2,Ra", "new/3.c", "new/4.d:2,F", "cur/.hidden", "new/.nfs01")
	os.Mkdir(filepath.Join(dir, "cur", "sub"), 0o700)
	put(t, filepath.Join(dir, "outside"), "x")
	os.Symlink("../outside", filepath.Join(dir, "cur", "5.link"))
	os.Symlink("nowhere", filepath.Join(dir, "cur", "6.dangling"))
	os.Symlink("..", filepath.Join(dir, "cur", "7.dirlink"))
	os.Symlink("8.loop", filepath.Join(dir, "cur", "8.loop"))
	if err := syscall.Mkfifo(filepath.Join(dir, "new", "9.pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s Scan
	for range 3 { // reused
		if err := s.Read(dir, Options{}); err != nil {
			t.Fatal(err)
		}
		want := []string{"cur/1.a:2,S", "cur/2.b,S=5:2,Ra", "cur/5.link", "new/3.c", "new/4.d:2,F"}
		if got := listed(&s); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		SortBase(s.Entries)
		e := s.Entries[1]
		if e != (Entry{"2.b,S=5:2,Ra", "2.b,S=5", Cur, FlagReplied, 1, 5, -1}) {
			t.Errorf("entry %+v", e)
		}
		var skipped []string
		for _, p := range s.Skipped {
			skipped = append(skipped, p.Dir.String()+"/"+p.File)
			switch {
			case p.File == "6.dangling" && errors.Is(p.Err, fs.ErrNotExist):
			case p.File == "8.loop" && errors.Is(p.Err, syscall.ELOOP):
			case errors.Is(p, ErrNotRegular):
			default:
				t.Errorf("%v", p)
			}
		}
		slices.Sort(skipped)
		if want := []string{"cur/6.dangling", "cur/7.dirlink", "cur/8.loop", "cur/sub", "new/9.pipe"}; !slices.Equal(skipped, want) {
			t.Errorf("skipped %q, want %q", skipped, want)
		}
	}
}

func TestScan_Read_missing(t *testing.T) {
	dir := mailbox(t, "cur/1.a")
	var s Scan
	if err := os.Remove(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	if err := s.Read(dir, Options{}); err != nil || len(s.Entries) != 1 {
		t.Errorf("without new/: %d entries, %v", len(s.Entries), err)
	}
	if _, err := Stat(dir); err != nil {
		t.Errorf("Stat without new/: %v", err)
	}
	for _, path := range []string{t.TempDir(), filepath.Join(dir, "nothing")} {
		if err := s.Read(path, Options{}); !errors.Is(err, fs.ErrNotExist) || len(s.Entries) != 0 {
			t.Errorf("no maildir: %v, %d entries", err, len(s.Entries))
		}
	}
	if err := s.Read(filepath.Join(dir, "cur", "1.a"), Options{}); err == nil {
		t.Error("a file is no maildir")
	}
}

// Names of every length cross the borders of buffers and chunks unharmed.
func TestScan_Read_lengths(t *testing.T) {
	dir := mailbox(t)
	var want []string
	for n := 1; n <= 255; n++ {
		name := strings.Repeat("n", n)
		put(t, filepath.Join(dir, "cur", name), "")
		want = append(want, "cur/"+name)
	}
	var s Scan
	s.buf = make([]byte, 600) // two long names at most
	s.arena = [][]byte{make([]byte, 0, 700), make([]byte, 0, 300), make([]byte, 0, 1000)}
	for range 2 {
		if err := s.Read(dir, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := listed(&s); !slices.Equal(got, want) {
			t.Fatalf("%d names, want %d", len(got), len(want))
		}
	}
}

func TestDigest(t *testing.T) {
	of := func(names ...string) Digest {
		var d Digest
		for _, n := range names {
			dir := Cur
			if strings.HasPrefix(n, "new/") {
				dir = New
			}
			d.add(dir, []byte(n[4:]))
		}
		return d
	}
	base := of("cur/a:2,S", "cur/b:2,", "new/c")
	if base != of("new/c", "cur/b:2,", "cur/a:2,S") {
		t.Error("the order matters")
	}
	seen := map[uint64]bool{base.Sum[0]: true, base.Sum[1]: true}
	for _, other := range [][]string{
		{"cur/a:2,", "cur/b:2,", "new/c"}, {"cur/a:2,S", "cur/b:2,", "cur/c"}, {"cur/a:2,S", "cur/b:2,"},
		{"cur/a:2,", "cur/b:2,S", "new/c"}, {"new/a:2,S", "new/b:2,", "cur/c"}, {}, {"cur/"}, {"new/"}, {"cur/\x00"},
	} {
		d := of(other...)
		for _, sum := range d.Sum {
			if seen[sum] && sum != 0 {
				t.Errorf("%q: a sum seen before", other)
			}
			seen[sum] = true
		}
	}
	// Digests are on disks: these values may never change.
	want := Digest{[2]uint64{0xe59c7f0b8e4538cf, 0x911189b4d52bcbdb}, 3}
	if base != want {
		t.Errorf("golden digest: got %#x, want %#x", base.Sum, want.Sum)
	}
}

func TestScan_Unique(t *testing.T) {
	var s Scan
	for _, n := range []string{"new/a", "new/b", "cur/c:2,", "cur/a:2,S", "cur/c:2,F", "cur/d"} {
		dir := Cur
		if n[:3] == "new" {
			dir = New
		}
		s.Entries = append(s.Entries, parseEntry(n[4:], dir, ':'))
	}
	if n := s.Unique(); n != 2 {
		t.Errorf("dropped %d, want 2", n)
	}
	var got []string
	for _, e := range s.Entries {
		got = append(got, e.Dir.String()+"/"+e.File)
	}
	if want := []string{"cur/a:2,S", "new/b", "cur/c:2,F", "cur/d"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

// A second reading in the same memory costs next to no allocation, and the
// first a few per mebibyte.
func TestScan_allocations(t *testing.T) {
	const n = 4000
	dir := mailbox(t)
	for i := range n {
		put(t, filepath.Join(dir, "cur", fmt.Sprintf("%d.M%dP%d.host.example,S=%d,W=%d:2,S", 1700000000+i, i*37, i, i*5, i*6)), "")
	}
	var s Scan
	run := func() {
		if err := s.Read(dir, Options{}); err != nil || len(s.Entries) != n {
			t.Fatal(len(s.Entries), err)
		}
		SortBase(s.Entries)
		s.Unique()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	if got := float64(after.Mallocs-before.Mallocs) / n; got > 0.01 {
		t.Errorf("first reading: %.4f allocations per message, at most 0.01", got)
	}
	if got := testing.AllocsPerRun(5, run) / n; got > 0.005 {
		t.Errorf("again: %.4f allocations per message, at most 0.005", got)
	}
}
