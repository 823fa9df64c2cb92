package floor

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

func TestMemoryFloors(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 70_000} {
		keys := Keys(n)
		want := slices.Clone(keys)
		slices.Sort(want)
		got := make([]uint64, n)
		Radix(keys, got, make([]uint64, n))
		if !slices.Equal(got, want) {
			t.Errorf("radix of %d keys is not sorted", n)
		}
		if w := NewJoin(n).Run(); w.Calls != int64(4*n) {
			t.Errorf("join of %d: %d probes", n, w.Calls)
		}
		text, w := Format(nil, n)
		if got := len(bytes.Fields(text)); got != n || w.Bytes != int64(len(text)) {
			t.Errorf("format of %d: %d numbers, %d of %d bytes", n, got, w.Bytes, len(text))
		}
	}
	text, _ := Format(nil, 12)
	if string(text) != "1 2 3 4 5 6 7 8 9 10 11 12 " {
		t.Errorf("format: %q", text)
	}
}

func TestDiskFloors(t *testing.T) {
	dir := t.TempDir()
	buf := make([]byte, 64<<10)
	name, w, err := WriteSeq(dir, 200_001, buf)
	if err != nil || w.Bytes != 200_001 {
		t.Fatalf("wrote %d bytes: %v", w.Bytes, err)
	}
	if w, err = ReadSeq(name, buf); err != nil || w.Bytes != 200_001 {
		t.Fatalf("read %d bytes: %v", w.Bytes, err)
	}
	took, _, err := Sync4K(dir, 3)
	if err != nil || len(took) != 3 {
		t.Fatalf("%d syncs: %v", len(took), err)
	}
	made, w, err := Create(dir, 5, 100)
	if err != nil || w.Bytes != 500 {
		t.Fatalf("%+v: %v", w, err)
	}
	if names, err := os.ReadDir(made); err != nil || len(names) != 5 {
		t.Fatalf("%d files: %v", len(names), err)
	}
}
