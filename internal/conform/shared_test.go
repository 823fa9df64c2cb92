package conform

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// shared finds a file or folder of the material beside the repository; ""
// when it is not there.
func shared(elem ...string) string {
	for _, dir := range []string{os.Getenv("MAILBENCH_SHARED"), "../shared", "../../shared", "../../../shared"} {
		if dir == "" {
			continue
		}
		path := filepath.Join(append([]string{dir}, elem...)...)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// mustShared skips the test when the material is not there.
func mustShared(t *testing.T, elem ...string) string {
	t.Helper()
	path := shared(elem...)
	if path == "" {
		t.Skipf("%s is not beside the repository", filepath.Join(elem...))
	}
	return path
}

// readFile reads a file, through gzip or zstd by its name.
func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(path) {
	case ".gz":
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		b, err = io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
	case ".zst":
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderMaxMemory(4<<30))
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if b, err = d.DecodeAll(b, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// copyTree copies a folder of a case to a scratch place and makes the maildir
// directories that git does not keep.
func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(to, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The cases are read-only where they come from.
	err := filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// names lists a directory, sorted, hidden names too.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// equal compares values that came from JSON.
func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

func trimLine(b []byte) string { return strings.TrimSuffix(string(b), "\n") }

// headerEnd is the offset of the body of a message with LF or CRLF lines.
func headerEnd(b []byte) int {
	for off := 0; off < len(b); {
		n := bytes.IndexByte(b[off:], '\n')
		if n < 0 {
			return -1
		}
		if line := bytes.TrimSuffix(b[off:off+n], []byte("\r")); len(line) == 0 {
			return off + n + 1
		}
		off += n + 1
	}
	return -1
}

// crlfSize is RFC822.SIZE: every line end counts two bytes.
func crlfSize(b []byte) int64 {
	return int64(len(b) + bytes.Count(b, []byte("\n")) - bytes.Count(b, []byte("\r\n")))
}
