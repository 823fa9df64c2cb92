package envelope

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/maildir"
)

// Reading whole messages does not show fields that ReadHeader does not give.
func TestHeaderBehindTheBound(t *testing.T) {
	long := func(bound int) []byte {
		b := []byte("Message-ID: <a@x.example>\nReferences:")
		for i := 0; len(b) < bound; i++ {
			b = fmt.Appendf(b, " <r%d@x.example>\n", i)
		}
		return append(b, " <last@x.example>\nSubject: zz\n\nbody\n"...)
	}
	other := []string{"Message-ID: <b@x.example>\nSubject: mm\n\n", "Message-ID: <c@x.example>\nReferences: <last@x.example>\nSubject: aa\n\n"}
	for _, c := range []struct {
		name  string
		bound int // bytes before the last fields
		want  string
	}{
		{"behind", maildir.MaxHeader, "* SORT 1 3 2"},
		{"before", maildir.MaxHeader - 1000, "* SORT 3 2 1"},
	} {
		dir := t.TempDir()
		b := newBox(t, 3)
		var mbox bytes.Buffer
		for i, m := range [][]byte{long(c.bound), []byte(other[0]), []byte(other[1])} {
			if err := os.WriteFile(b.File(i), m, 0o600); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&mbox, "From a@x.example Mon Jan  1 00:00:00 2024\n%s\n", m)
		}
		path := filepath.Join(dir, "mbox")
		if err := os.WriteFile(path, mbox.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{b.Path, path} {
			src, err := source.Open(path, source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			m := mustOpen(t, index.Config{Dir: t.TempDir(), Source: src})
			mustSync(t, m)
			if got := answers(t, m); !bytes.Contains([]byte(got), []byte(c.want+"\n")) {
				t.Errorf("%s, %s: no %q in\n%s", c.name, src.Kind(), c.want, got)
			}
			mustCheck(t, m)
		}
	}
}
