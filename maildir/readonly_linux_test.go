package maildir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stat returns everything stat tells, without moving anything itself.
func stat(t *testing.T, path string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("ino %d mode %o nlink %d size %d atime %d mtime %d ctime %d",
		st.Ino, st.Mode, st.Nlink, st.Size, st.Atim.Nano(), st.Mtim.Nano(), st.Ctim.Nano())
}

func walk(t *testing.T, dir string) (paths []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}

// The promise: nothing is written, moved or touched. Access times are set far
// back first, so that even relatime would move them.
func TestReadOnly(t *testing.T) {
	dir := mailbox(t, "cur/1.a:2,S", "cur/2.b", "new/3.c", "new/4.d:2,F", "tmp/5.e", "cur/.hidden")
	for _, sub := range []string{".lists", ".lists.go"} {
		for _, d := range []string{"cur", "new", "tmp"} {
			if err := os.MkdirAll(filepath.Join(dir, sub, d), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		put(t, filepath.Join(dir, sub, "cur", "6.f:2,"), "Subject: x\n\n")
	}
	put(t, filepath.Join(dir, "dovecot-keywords"), "0 $Forwarded\n")
	paths := walk(t, dir)
	for _, path := range paths {
		if err := os.Chtimes(path, time.Now().Add(-72*time.Hour), time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	before := map[string]string{}
	for _, path := range paths {
		before[path] = stat(t, path)
	}

	folders, err := Folders(dir)
	if err != nil || len(folders) != 3 {
		t.Error(folders, err)
	}
	for _, folder := range folders {
		readEverything(t, folder.Path)
	}
	if k, err := Keywords(dir); err != nil || k['a'] != "$Forwarded" {
		t.Error(k, err)
	}

	for _, path := range paths {
		if now := stat(t, path); now != before[path] {
			t.Errorf("%s\nwas %s\nis  %s", path, before[path], now)
		}
	}
	if after := walk(t, dir); !slices.Equal(after, paths) {
		t.Errorf("names are %q, were %q", after, paths)
	}
}

// readEverything uses all that reads.
func readEverything(t *testing.T, dir string) {
	t.Helper()
	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	SortBase(s.Entries)
	r := opened(t, dir)
	for i := range s.Entries {
		e := &s.Entries[i]
		_, err1 := r.ReadHeader(e, nil)
		_, err2 := r.ReadAll(e, nil)
		_, _, err3 := r.Stat(e)
		_, _, err4 := r.Sizes(e, nil)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.ReadHeader(&Entry{File: "gone", Base: "gone"}, nil); err == nil {
		t.Error("read a message that is not there")
	}
	if _, err := Stat(dir); err != nil {
		t.Error(err)
	}
}
