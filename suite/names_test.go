package suite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mailbench/corpus/source"
	"mailbench/index"
)

// The suite's own readers of a maildir and the commands' take the same files
// for mail.
func TestMailNames_areTheSource(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cur/1.M1P1.h:2,S", "cur/2.M1P1.h", "new/3.M1P1.h",
		"cur/:2,S", "cur/::", "new/:", "cur/.hidden", "cur/sub/4.M1P1.h:2,", "new/.nfs1"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	src, err := source.Open(dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var l index.Listing
	if err := src.List(&l); err != nil {
		t.Fatal(err)
	}
	src.Order(l.Entries)
	var want []string
	for i := range l.Entries {
		want = append(want, l.Entries[i].Key)
	}
	got, err := namesInOrder(&fixture{kind: "maildir", path: dir})
	if err != nil || len(got) != 3 || !slices.Equal(got, want) {
		t.Errorf("%q, %v; the source has %q", got, err, want)
	}
	set, err := mailFiles(dir, "maildir")
	if err != nil || set.Len() != 3 || set.Bytes() != 3 {
		t.Errorf("%d files, %d bytes, %v", set.Len(), set.Bytes(), err)
	}
	r := &Runner{scratch: t.TempDir()}
	m, err := r.live(&fixture{kind: "maildir", path: dir, order: want, own: true})
	if err != nil {
		t.Fatal(err)
	}
	if home := []string{"cur/1.M1P1.h:2,S", "cur/2.M1P1.h", "new/3.M1P1.h"}; !slices.Equal(m.home, home) {
		t.Errorf("live %q", m.home)
	}
}
