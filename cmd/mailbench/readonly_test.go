//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"mailbench/index/designs"
)

// TestReadOnlyIndex holds that what has nothing to write is answered on an
// index that may not be written, and that nothing is left beside it.
func TestReadOnlyIndex(t *testing.T) {
	for _, design := range designs.Names() {
		dir := home(t)
		md := boxes(t, dir)[0].path
		ix := filepath.Join(dir, "ix")
		must(t, "index", "build", "-design", design, "-index-dir", ix, md)
		open := func(mode fs.FileMode) fs.WalkDirFunc {
			return func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				if e.IsDir() {
					return os.Chmod(path, mode|0o111)
				}
				return os.Chmod(path, mode)
			}
		}
		if err := filepath.WalkDir(ix, open(0o444)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { filepath.WalkDir(ix, open(0o644)) })
		before := names(t, ix)
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"index", "check"}, "no inconsistency\n"},
			{[]string{"index", "info"}, ""},
			{[]string{"thread"}, answerThread},
			{[]string{"sort"}, answerDate},
		} {
			got := plainChild(t, append(c.args, "-design", design, "-index-dir", ix, md)...)
			if got.code != 0 || c.want != "" && got.out != c.want {
				t.Errorf("%s: %v: %+v", design, c.args, got)
			}
		}
		if after := names(t, ix); after != before {
			t.Errorf("%s: files were %s, are %s", design, before, after)
		}
	}
}

// names are the files of a directory.
func names(t *testing.T, dir string) (s string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		s += f.Name() + " "
	}
	return s
}
