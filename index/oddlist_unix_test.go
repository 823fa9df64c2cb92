//go:build unix

package index_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"mailbench/corpus/source"
	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/maildir"
)

// What is no regular file, or absurdly long, is no uidlist, and no pipe is
// waited for.
func TestReadUIDList_odd(t *testing.T) {
	dir := makeMaildir(t, "1.M1P1.h")
	path := filepath.Join(dir, "dovecot-uidlist")
	text := []byte("3 V5 N9 G1\n7 :1.M1P1.h\n")
	src, err := source.Open(dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	regular := func() error { return os.WriteFile(path, text, 0o600) }
	for _, c := range []struct {
		what            string
		make            func() error
		listed, adopted bool
	}{
		{"none", func() error { return nil }, false, false},
		{"pipe", func() error { return unix.Mkfifo(path, 0o600) }, false, false},
		{"link to a pipe", func() error {
			if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
				return err
			}
			return os.Symlink("pipe", path)
		}, false, false},
		{"directory", func() error { return os.Mkdir(path, 0o700) }, false, false},
		{"too long", func() error {
			if err := regular(); err != nil {
				return err
			}
			return os.Truncate(path, index.MaxUIDList+1)
		}, true, false},
		{"file", regular, true, true},
	} {
		if err := c.make(); err != nil {
			t.Fatal(c.what, err)
		}
		if _, ok := src.UIDList(); ok != c.listed {
			t.Errorf("%s: listed %v", c.what, ok)
		}
		for _, option := range []string{"", path} {
			if u := index.ReadUIDList(fsys.OS, src, option); (u != nil) != c.adopted {
				t.Errorf("%s, option %q: %v", c.what, option, u)
			}
		}
		os.Remove(path)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "dovecot-keywords"), 0o600); err != nil {
		t.Fatal(err)
	}
	if names, err := maildir.Keywords(dir); len(names) != 0 || err != nil {
		t.Errorf("keywords %v, %v", names, err)
	}
}
