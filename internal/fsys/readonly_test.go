//go:build linux

package fsys

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	if ReadOnly(dir, filepath.Join(dir, "missing")) {
		t.Error("a directory of one's own, or a file that is not there, may not be written")
	}
	if os.Geteuid() == 0 {
		return // modes do not hold for root; the commands' tests ask as another user
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if !ReadOnly(dir) {
		t.Error("a directory of mode 0500 may be written")
	}
}

func TestSpace(t *testing.T) {
	if _, ok := Space(t.TempDir()); !ok {
		t.Error("no space told")
	}
	if _, ok := Space("/does/not/exist"); ok {
		t.Error("space told of what is not there")
	}
}
