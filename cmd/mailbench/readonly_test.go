//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mailbench/index/designs"
)

// TestReadOnlyIndex holds that what has nothing to write is answered on an
// index that may not be written, and that nothing is left beside it: also
// where the mail had only just come when it was listed, so that the next
// listing would be noted.
func TestReadOnlyIndex(t *testing.T) {
	type lent struct{ design, ix, md string }
	var all []lent
	for _, design := range designs.Names() {
		for _, age := range []time.Duration{0, time.Hour} {
			dir := home(t)
			l := lent{design, filepath.Join(dir, "ix"), boxes(t, dir)[0].path}
			made := time.Now().Add(-age)
			for _, sub := range []string{"cur", "new"} {
				if err := os.Chtimes(filepath.Join(l.md, sub), made, made); err != nil {
					t.Fatal(err)
				}
			}
			must(t, "index", "build", "-design", design, "-index-dir", l.ix, l.md)
			if err := filepath.WalkDir(l.ix, chmod(0o444)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { filepath.WalkDir(l.ix, chmod(0o644)) })
			all = append(all, l)
		}
	}
	time.Sleep(2100 * time.Millisecond) // until a listing counts
	for _, l := range all {
		before := names(t, l.ix)
		for _, c := range []struct {
			args []string
			want string
		}{
			{[]string{"index", "check"}, "no inconsistency\n"},
			{[]string{"index", "info"}, ""},
			{[]string{"thread"}, answerThread},
			{[]string{"sort"}, answerDate},
		} {
			got := plainChild(t, append(c.args, "-design", l.design, "-index-dir", l.ix, l.md)...)
			if got.code != 0 || c.want != "" && got.out != c.want {
				t.Errorf("%s: %v: %+v", l.design, c.args, got)
			}
		}
		if after := names(t, l.ix); after != before {
			t.Errorf("%s: files were %s, are %s", l.design, before, after)
		}
	}
}

// chmod gives each file mode, and directories the right to look into them
// besides.
func chmod(mode fs.FileMode) fs.WalkDirFunc {
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
