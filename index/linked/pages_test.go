package linked

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"mailbench/internal/fsys"
)

// Whatever the file grows by and whatever is looked at: these are its bytes, and
// no page is read twice unless it has grown.
func TestPages(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	name := filepath.Join(t.TempDir(), "f")
	c := fsys.Counting(fsys.OS)
	f, err := c.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want, data []byte
	p := &pages{f: f}
	grown := 0
	for range 200 {
		if r.IntN(3) == 0 {
			more := make([]byte, []int{1, 100, pageSize - 1, pageSize, 3 * pageSize}[r.IntN(5)])
			for i := range more {
				more[i] = byte(r.Uint32())
			}
			if _, err := f.WriteAt(more, int64(len(want))); err != nil {
				t.Fatal(err)
			}
			want = append(want, more...)
			data = p.extend(data, int64(len(want)))
			grown++
		}
		if len(want) == 0 {
			continue
		}
		off := r.IntN(len(want))
		n := 1 + r.IntN(min(len(want)-off, 2*pageSize))
		if !p.read(data, uint64(off), uint64(n)) || !bytes.Equal(data[off:off+n], want[off:off+n]) {
			t.Fatalf("%d bytes at %d of %d are others", n, off, len(want))
		}
	}
	if p.read(data, uint64(len(want)), 1) {
		t.Error("a byte behind the end was read")
	}
	if n := c.Counts().Reads; n > int64(len(want)/pageSize+1+grown) {
		t.Errorf("%d reads of %d pages", n, len(want)/pageSize+1)
	}
}
