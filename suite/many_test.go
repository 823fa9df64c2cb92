package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mailbench/corpus"
)

// TestMany_sizes holds that the sizes have the median they say, a heavy tail,
// and windows that leave a message to deliver.
func TestMany_sizes(t *testing.T) {
	m := &boxes{scale: manyLarge, names: make([]string, manyLarge.pool)}
	m.draw(0)
	sizes := slices.Sorted(slices.Values(m.size))
	n := len(sizes)
	if n != 10_000 || sizes[n/2] < 180 || sizes[n/2] > 220 {
		t.Errorf("%d boxes, the middle one of %d messages", n, sizes[n/2])
	}
	if sizes[n-1] < 50*200 || sizes[n*95/100] < 5*200 || sizes[n/10] > 60 || sizes[0] < 1 {
		t.Errorf("no heavy tail: smallest %d, a tenth below %d, a twentieth above %d, largest %d", sizes[0], sizes[n/10], sizes[n*95/100], sizes[n-1])
	}
	for i := range m.size {
		if m.start[i] < 0 || m.start[i]+m.size[i] >= len(m.names) {
			t.Fatalf("box %d: window %d+%d of %d", i, m.start[i], m.size[i], len(m.names))
		}
	}
	again := &boxes{scale: manyLarge, names: m.names}
	again.draw(0)
	if !slices.Equal(m.size, again.size) || !slices.Equal(m.start, again.start) {
		t.Error("drawn again they are others")
	}
	picked := slices.Sorted(slices.Values(m.pick(200, 1)))
	if len(slices.Compact(picked)) != 200 || slices.Equal(m.pick(200, 1), m.pick(200, 2)) {
		t.Error("a sample's boxes are not different ones, or those of the sample before")
	}
}

// TestMany_boxes holds that boxes are what they say, share files with the
// pool, and are made once.
func TestMany_boxes(t *testing.T) {
	r := runner(t, diskDir(t), Config{Corpus: "synthetic:20"})
	if _, err := r.open(); err != nil {
		t.Fatal(err)
	}
	m, err := r.manyBoxes(manyScale{"4boxes", "20median", 4, 20, 200, 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		list, err := mailNames(m.box(i))
		if err != nil || len(list) != m.size[i] {
			t.Errorf("box %d: %d messages, want %d: %v", i, len(list), m.size[i], err)
		}
		unseen, deleted := 0, 0
		for _, name := range list {
			a, err := os.Stat(filepath.Join(m.box(i), name.dir, name.file))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.Stat(filepath.Join(m.pool.path, name.dir, name.file))
			if err != nil || !os.SameFile(a, b) {
				t.Errorf("box %d: %s is not the pool's: %v", i, name.file, err)
			}
			letters := nameLetters(name.file)
			if !strings.Contains(letters, "S") {
				unseen++
			}
			if strings.Contains(letters, "T") {
				deleted++
			}
		}
		if u, d := m.flags(i); u != unseen || d != deleted {
			t.Errorf("box %d: %d unseen, %d deleted; the names say %d, %d", i, u, d, unseen, deleted)
		}
	}
	copied := filepath.Join(r.scratch, "copy")
	if err := corpus.Clone(t.Context(), m.box(1), copied, corpus.CloneHardlink); err != nil {
		t.Fatal(err)
	}
	if err := m.deliver(1, copied); err != nil {
		t.Fatal(err)
	}
	if list, err := mailNames(copied); err != nil || len(list) != m.size[1]+1 {
		t.Errorf("%d messages after a delivery to %d: %v", len(list), m.size[1], err)
	}
	before, err := os.Stat(m.path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.manyBoxes(m.scale)
	if err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(again.path); err != nil || !os.SameFile(before, after) {
		t.Errorf("made again: %v", err)
	}
	if left, _ := filepath.Glob(m.path + ".tmp-*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func nameLetters(file string) string {
	_, letters, _ := strings.Cut(file, ":2,")
	return letters
}

// TestMany_empty holds what an empty mailbox's files are counted as.
func TestMany_empty(t *testing.T) {
	t.Parallel()
	got := benchmark(t, diskDir(t), "Many/.*/op=status/shape=200boxes/.*/index=warm", "-corpus=synthetic:50", "-designs=right")
	rows := lines(got.out, "BenchmarkMany")
	if got.code != 0 || len(rows) != 1 {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	for _, unit := range []string{"ns/mailbox", "index-B/mailbox", "empty-B", "empty-files"} {
		if !strings.Contains(rows[0], " "+unit) {
			t.Errorf("no %s: %s", unit, rows[0])
		}
	}
}
