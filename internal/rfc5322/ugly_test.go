package rfc5322

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestUgly reads the test mail of other mail software as if every file were
// one message. Nothing may panic, and the header must be what naiveScan says.
func TestUgly(t *testing.T) {
	f, err := os.Open(shared(t, "corpora/ugly.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	n, odd := 0, 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		n++
		exercise(b)
		checkScan(t, b)
		var head Header
		Scan(b, MaskAll, &head)
		if head.Inspect(b); head.Warn != 0 {
			odd++
		}
		for f := Field(0); f < NumFields; f++ {
			exercise(head.Raw(b, f))
		}
	}
	t.Logf("%d files, %d with warnings", n, odd)
}
