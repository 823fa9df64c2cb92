package storetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// files are those of a mailbox, by their name below its directory.
type files map[string]string

func readFiles(t testing.TB, dir string) files {
	t.Helper()
	out := files{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// write puts them into a new directory. Directories without files are those of
// like: a mailbox may want them.
func (k *kit) write(t testing.TB, f files, like string) string {
	t.Helper()
	root, err := os.MkdirTemp(k.temp(t), "copy")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(like, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			rel, _ := filepath.Rel(like, path)
			err = os.MkdirAll(filepath.Join(root, rel), 0o700)
		}
		return err
	})
	for name, text := range f {
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}
