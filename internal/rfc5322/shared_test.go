package rfc5322

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// shared returns the path of a file or folder of the data that lies beside
// the repository, or ends the test: nothing is checked without it.
func shared(t testing.TB, name string) string {
	t.Helper()
	if dir := os.Getenv("MAILBENCH_SHARED"); dir != "" {
		if p := filepath.Join(dir, name); exists(p) {
			return p
		}
	}
	for dir := "../shared"; len(dir) < 30; dir = "../" + dir {
		if p := filepath.Join(dir, name); exists(p) {
			return p
		}
	}
	t.Skip("no shared data: " + name)
	return ""
}

func exists(p string) bool {
	_, err := os.Stat(p)
	return err == nil
}

// corpus returns the messages of a mboxrd file of the shared corpora, headers
// only when headers is set.
func corpus(t testing.TB, name string, headers bool) [][]byte {
	t.Helper()
	f, err := os.Open(shared(t, filepath.Join("corpora", name)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all bytes.Buffer
	if _, err := all.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	b := all.Bytes()
	var msgs [][]byte
	for len(b) > 0 {
		next := bytes.Index(b, []byte("\n\nFrom "))
		m := b
		if next < 0 {
			b = nil
		} else {
			m, b = b[:next+2], b[next+2:]
		}
		m = m[bytes.IndexByte(m, '\n')+1:]
		if headers {
			if n := HeaderEnd(m, 0); n >= 0 {
				m = m[:n]
			}
			m = bytes.Clone(m)
		}
		msgs = append(msgs, m)
	}
	return msgs
}
