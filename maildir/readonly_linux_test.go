package maildir

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stats returns everything stat tells about all below dir, dir included.
func stats(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		list[path] = fmt.Sprintf("ino %d mode %o nlink %d size %d atime %d mtime %d ctime %d",
			st.Ino, st.Mode, st.Nlink, st.Size, st.Atim.Nano(), st.Mtim.Nano(), st.Ctim.Nano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
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
	long := time.Now().Add(-72 * time.Hour)
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		return os.Chtimes(path, long, time.Now().Add(-time.Hour))
	}); err != nil {
		t.Fatal(err)
	}

	// The directories' access times are read-only business too, but the test's
	// own walk moves them, so walk first and set those back again.
	before := stats(t, dir)
	setBack := func() {
		for path := range before {
			if st, err := os.Lstat(path); err == nil && st.IsDir() {
				os.Chtimes(path, long, st.ModTime())
			}
		}
	}
	setBack()
	dirTimes := func() map[string]int64 {
		m := map[string]int64{}
		for path := range before {
			var st unix.Stat_t
			if unix.Lstat(path, &st) == nil {
				m[path] = st.Atim.Nano()
			}
		}
		return m
	}
	before = stats(t, dir)
	setBack()
	atimes := dirTimes()
	ctimes := ctimesOf(t, before)

	var s Scan
	if err := s.Read(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	SortBase(s.Entries)
	r := opened(t, dir)
	for i := range s.Entries {
		e := &s.Entries[i]
		if _, err := r.ReadHeader(e, nil); err != nil {
			t.Error(err)
		}
		if _, err := r.ReadAll(e, nil); err != nil {
			t.Error(err)
		}
		if _, _, err := r.Stat(e); err != nil {
			t.Error(err)
		}
		if _, _, err := r.Sizes(e, nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.ReadHeader(&Entry{File: "gone", Base: "gone"}, nil); err == nil {
		t.Error("read a message that is not there")
	}
	if _, err := Stat(dir); err != nil {
		t.Error(err)
	}
	if k, err := Keywords(dir); err != nil || k['a'] != "$Forwarded" {
		t.Error(k, err)
	}
	for path, atime := range dirTimes() {
		if atime != atimes[path] {
			t.Errorf("%s: access time moved", path)
		}
	}
	// Folders lists root by package os; on a file system with atimes only its
	// access time may move.
	if folders, err := Folders(dir); err != nil || len(folders) != 3 {
		t.Error(folders, err)
	}
	if after := ctimesOf(t, before); !maps.Equal(ctimes, after) {
		t.Error("a change time moved")
	}
	after := stats(t, dir)
	if len(after) != len(before) {
		t.Errorf("%d names, were %d", len(after), len(before))
	}
	for path, was := range before {
		if st, err := os.Lstat(path); err == nil && !st.IsDir() && after[path] != was {
			t.Errorf("%s:\nwas %s\nis  %s", path, was, after[path])
		}
	}
}

func ctimesOf(t *testing.T, paths map[string]string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for path := range paths {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			t.Fatal(err)
		}
		m[path] = fmt.Sprint(st.Ctim, st.Mtim, st.Nlink, st.Ino, st.Size)
	}
	return m
}
