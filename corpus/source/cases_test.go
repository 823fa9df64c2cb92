package source

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"mailbench/index"
)

// shared finds material that lies beside the repository, "" when it is absent:
// the tests that want it then have nothing to do.
func shared(name string) string {
	roots := []string{os.Getenv("MAILBENCH_SHARED")}
	for up := ".."; len(up) < 30; up = filepath.Join(up, "..") {
		roots = append(roots, filepath.Join(up, "shared"))
	}
	for _, root := range roots {
		if root == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			return filepath.Join(root, name)
		}
	}
	return ""
}

// An IMAP view hides UW-IMAP's message and knows its numbers.
func TestCases_internalData(t *testing.T) {
	path := shared("cases/X25-internal-data-message/in.mbox")
	if path == "" {
		t.Log("no cases folder beside the repository: nothing to check")
		return
	}
	s := open(t, path, Options{}).(*Mbox)
	l := list(t, s)
	validity, last, _ := s.IMAPBase()
	if len(l.Entries) != 1 || validity != 1700000000 || last != 7 || s.UID(&l.Entries[0]) != 7 {
		t.Errorf("%d entries, %d, %d, UID %d", len(l.Entries), validity, last, s.UID(&l.Entries[0]))
	}
}

// Whatever other mail programs test themselves with can be opened and read.
func TestUgly(t *testing.T) {
	path := shared("corpora/ugly.tar.zst")
	if path == "" {
		t.Log("no corpora folder beside the repository: nothing to read")
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	files, messages := 0, 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "f"+filepath.Ext(h.Name))
		if strings.Contains(filepath.Base(h.Name), ":") {
			name = filepath.Join(dir, "f")
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files++
		s, err := Open(name, Options{TempDir: dir})
		if err != nil {
			t.Logf("%s: %v", h.Name, err) // not a format of ours: said, not crashed
			continue
		}
		var l index.Listing
		if err := s.List(&l); err != nil {
			t.Errorf("%s: %v", h.Name, err)
		}
		var total int64
		for i := range l.Entries {
			e := &l.Entries[i]
			head, err1 := s.ReadHeader(e, nil)
			all, err2 := s.ReadMessage(e, nil)
			if err := errors.Join(err1, err2); err != nil || !strings.HasPrefix(string(all), string(head)) {
				t.Errorf("%s: %s: %v", h.Name, e.Key, err)
			}
			total += e.Size
			messages++
		}
		if s.Kind() == "message" && total != int64(len(data)) {
			t.Errorf("%s: %d of %d bytes", h.Name, total, len(data))
		}
		s.Close()
	}
	t.Logf("%d files, %d messages", files, messages)
}
