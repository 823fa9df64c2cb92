package fsys

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, fsys FS, name, text string) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func wrappers(t *testing.T, dir string) map[string]FS {
	log, err := NewLog(OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	never := func(Op, string, int64, int) error { return nil }
	return map[string]FS{
		"os":        OS,
		"counting":  Counting(OS),
		"failing":   Failing(OS, never),
		"delaying":  Delaying(OS, 0, 1e12),
		"recording": Recording(OS, log),
		"unsynced":  Unsynced(OS),
		"unmapped":  Unmapped(OS),
		"all":       Counting(Failing(Delaying(Recording(OS, log), time.Microsecond, 0), never)),
	}
}

// Every wrapper behaves like the system it wraps.
func TestFS_contract(t *testing.T) {
	root := t.TempDir()
	for name, fsys := range wrappers(t, root) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name, "deep")
			check := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			check(fsys.MkdirAll(dir, 0o700))
			check(fsys.MkdirAll(dir, 0o700))
			file := filepath.Join(dir, "b")
			write(t, fsys, file, "hello")
			write(t, fsys, filepath.Join(dir, "a"), "")
			check(fsys.SyncDir(dir))
			if names, err := fsys.ReadDir(dir); err != nil || !slices.Equal(names, []string{"a", "b"}) {
				t.Fatalf("ReadDir: %q, %v", names, err)
			}
			f, err := fsys.OpenFile(file, os.O_RDWR, 0)
			check(err)
			if f.Name() != file {
				t.Errorf("Name %q", f.Name())
			}
			_, err = f.Write([]byte(" world")) // appends
			check(err)
			_, err = f.WriteAt([]byte("J"), 0) // does not move the end back
			check(err)
			_, err = f.Write([]byte("!"))
			check(err)
			_, err = f.WriteAt([]byte("??"), 14) // moves the end, leaves a hole
			check(err)
			_, err = f.Write([]byte("."))
			check(err)
			check(f.Sync())
			check(f.Datasync())
			if size, err := f.Size(); err != nil || size != 17 {
				t.Fatalf("Size %d, %v", size, err)
			}
			m, err := f.Map()
			check(err)
			if want := "Jello world!\x00\x00??."; string(m.Data) != want {
				t.Errorf("Map %q, want %q", m.Data, want)
			}
			check(m.Close())
			check(m.Close())
			check(f.Truncate(5))
			_, err = f.Write([]byte("w"))
			check(err)
			past := time.Unix(1_059_000_000, 123_000_000)
			check(f.Chtimes(past))
			if st, err := fsys.Stat(file); err != nil || !st.ModTime.Equal(past) {
				t.Errorf("Chtimes: %v, %v, want %v", st.ModTime, err, past)
			}
			check(f.Chtimes(time.Now()))
			check(f.Close())

			r, err := fsys.Open(file)
			check(err)
			buf := make([]byte, 8)
			if n, err := r.ReadAt(buf, 1); n != 5 || err != io.EOF || string(buf[:n]) != "ellow" {
				t.Errorf("ReadAt %q, %v", buf[:n], err)
			}
			if n, err := r.ReadAt(buf[:5], 1); n != 5 || err != nil {
				t.Errorf("ReadAt to the end: %d, %v", n, err)
			}
			if _, err := r.WriteAt([]byte("x"), 0); err == nil {
				t.Error("a file opened for reading was written")
			}
			check(r.Close())

			e, err := fsys.Open(filepath.Join(dir, "a"))
			check(err)
			if m, err := e.Map(); err != nil || m.Data != nil || m.Close() != nil {
				t.Errorf("Map of an empty file: %v", err)
			}
			check(e.Close())

			check(fsys.Rename(file, filepath.Join(dir, "a")))
			st, err := fsys.Stat(filepath.Join(dir, "a"))
			check(err)
			if st.Size != 6 || st.Dir || time.Since(st.ModTime) > time.Hour {
				t.Errorf("Stat %+v", st)
			}
			if st, err := fsys.Stat(dir); err != nil || !st.Dir {
				t.Errorf("Stat of a directory: %+v, %v", st, err)
			}
			check(fsys.Remove(filepath.Join(dir, "a")))
			check(fsys.Remove(dir))

			for what, err := range map[string]error{
				"Open":     errOf2(fsys.Open(file)),
				"OpenFile": errOf2(fsys.OpenFile(file, os.O_RDWR, 0)),
				"Rename":   fsys.Rename(file, file+"x"),
				"Remove":   fsys.Remove(file),
				"Stat":     errOf2(fsys.Stat(file)),
				"ReadDir":  errOf2(fsys.ReadDir(dir)),
				"SyncDir":  fsys.SyncDir(dir),
			} {
				if what == "SyncDir" && name == "unsynced" { // it does not look
					if err != nil {
						t.Errorf("SyncDir without syncing: %v", err)
					}
					continue
				}
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s of nothing: %v", what, err)
				}
			}
			if _, err := fsys.OpenFile(filepath.Join(root, name, "x"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err == nil {
				t.Error("O_APPEND was taken")
			}
			if _, err := fsys.OpenFile(root, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
				t.Errorf("O_EXCL: %v", err)
			}
		})
	}
}

func errOf2[T any](_ T, err error) error { return err }

func TestCounting(t *testing.T) {
	dir := t.TempDir()
	c := Counting(OS)
	name := filepath.Join(dir, "f")
	write(t, c, name, "12345")
	before := c.Counts()
	f, err := c.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				f.ReadAt(make([]byte, 10), 2)
			}
		})
	}
	wg.Wait()
	f.WriteAt([]byte("abc"), 5)
	f.Sync()
	f.Datasync()
	f.Size()
	m, err := f.Map()
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	f.Truncate(1)
	f.Chtimes(time.Now())
	f.Close()
	c.Stat(name)
	c.ReadDir(dir)
	c.SyncDir(dir)
	c.Rename(name, name+"2")
	c.Remove(name + "2")
	c.Open(name) // fails, counts
	want := Counts{Opens: 2, Reads: 400, Writes: 1, Syncs: 2, SyncDirs: 1, Renames: 1, Removes: 1, Truncates: 1, Chtimes: 1,
		Maps: 1, Stats: 2, ReadDirs: 1, BytesRead: 1200, BytesWritten: 3, BytesMapped: 8}
	if got := c.Counts().Sub(before); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Nothing that makes data last reaches what is under Unsynced, all else does.
func TestUnsynced(t *testing.T) {
	dir := t.TempDir()
	c := Counting(OS)
	u := Unsynced(c)
	name := filepath.Join(dir, "f")
	if err := WriteFileAtomic(u, name, func(w io.Writer) error { _, err := io.WriteString(w, "abc"); return err }); err != nil {
		t.Fatal(err)
	}
	f, err := u.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := u.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := f.Write([]byte("d")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Datasync(), r.Sync(), r.Datasync(), u.SyncDir(dir)); err != nil {
		t.Error(err)
	}
	want := Counts{Opens: 3, Writes: 2, Renames: 1, BytesWritten: 4}
	got := c.Counts()
	got.Stats = 0 // Write asks for the size once
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	// A recording below sees no sync, so its replay of a power cut drops what was written.
	log, err := NewLog(OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	rec := Recording(OS, log)
	for _, fsys := range []FS{Unsynced(rec), rec} {
		write(t, fsys, filepath.Join(dir, "g"), "x")
		if err := fsys.SyncDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	syncs := 0
	for _, e := range log.Events() {
		if e.Op == OpSync || e.Op == OpSyncDir {
			syncs++
		}
	}
	if syncs != 1 {
		t.Errorf("%d syncs recorded, want that of the file system that syncs", syncs)
	}
}

func TestFailing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	write(t, OS, name, "0123456789")
	boom := errors.New("boom")
	var fail Op
	fsys := Failing(OS, func(op Op, _ string, off int64, n int) error {
		if op != fail {
			return nil
		}
		if op == OpWrite && n > 4 {
			return &ShortWrite{N: 4}
		}
		return boom
	})
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 2)
	for op, call := range map[Op]func() error{
		OpOpen:     func() error { return errOf2(fsys.Open(name)) },
		OpRename:   func() error { return fsys.Rename(name, name+"x") },
		OpRemove:   func() error { return fsys.Remove(name) },
		OpMkdir:    func() error { return fsys.MkdirAll(name+"d", 0o700) },
		OpStat:     func() error { return errOf2(fsys.Stat(name)) },
		OpReadDir:  func() error { return errOf2(fsys.ReadDir(dir)) },
		OpSyncDir:  func() error { return fsys.SyncDir(dir) },
		OpRead:     func() error { return errOf2(f.ReadAt(buf, 0)) },
		OpWrite:    func() error { return errOf2(f.Write(buf)) },
		OpSync:     func() error { return errors.Join(f.Sync(), f.Datasync()) },
		OpTruncate: func() error { return f.Truncate(0) },
		OpChtimes:  func() error { return f.Chtimes(time.Now()) },
		OpMap:      func() error { return errOf2(f.Map()) },
	} {
		fail = op
		if err := call(); !errors.Is(err, boom) || !strings.Contains(err.Error(), op.String()) {
			t.Errorf("%v: %v", op, err)
		}
	}
	fail = OpWrite
	if n, err := f.Write([]byte("abcdefgh")); n != 4 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("short write: %d, %v", n, err)
	}
	fail = 0
	if _, err := f.Write([]byte("z")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(name); string(got) != "0123456789abcdz" {
		t.Errorf("file is %q", got)
	}
	if names, _ := OS.ReadDir(dir); !slices.Equal(names, []string{"f"}) {
		t.Errorf("a failed call had an effect: %q", names)
	}
}

func TestDelaying(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write(t, OS, name, strings.Repeat("x", 10000))
	fsys := Delaying(OS, 2*time.Millisecond, 1e6)
	start := time.Now()
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 10000)
	if _, err := f.ReadAt(buf, 0); err != nil || buf[9999] != 'x' {
		t.Fatal(err)
	}
	// Not less than two latencies and 10 ms of transfer; how much more is the scheduler's affair.
	if d := time.Since(start); d < 14*time.Millisecond {
		t.Errorf("took %v", d)
	}
}

func TestWriteFileAtomic(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	big := bytes.Repeat([]byte("0123456789abcdef"), 20000)
	put := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(b); return err }
	}
	for _, b := range [][]byte{nil, []byte("one"), big, []byte("two")} {
		if err := WriteFileAtomic(OS, name, put(b)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(b))
		}
	}
	boom := errors.New("boom")
	if err := WriteFileAtomic(OS, name, func(io.Writer) error { return boom }); err != boom {
		t.Errorf("got %v", err)
	}
	// Each call fails once; the old file stays, unless only the last sync failed.
	for at := 0; ; at++ {
		calls := 0
		fsys := Failing(OS, func(op Op, _ string, _ int64, _ int) error {
			if calls++; calls == at+1 && op != OpRemove {
				return boom
			}
			return nil
		})
		err := WriteFileAtomic(fsys, name, put(big))
		if err == nil {
			if at < 4 {
				t.Fatalf("only %d calls could fail", at)
			}
			break
		}
		if got, _ := os.ReadFile(name); string(got) != "two" && !bytes.Equal(got, big) {
			t.Fatalf("call %d failed and the file has %d bytes", at, len(got))
		}
		if names, _ := OS.ReadDir(dir); len(names) != 1 {
			t.Fatalf("call %d failed and left %q", at, names)
		}
		write(t, OS, name, "two")
	}
}

func TestRemoveTemps(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"a.tmp-12-3", "a.tmp-", "a.tmp-x", "a", "b.tmp-1"} {
		write(t, OS, filepath.Join(dir, n), "")
	}
	if n, err := RemoveTemps(OS, dir, time.Hour); n != 0 || err != nil {
		t.Errorf("young ones: %d, %v", n, err)
	}
	if n, err := RemoveTemps(OS, dir, -time.Hour); n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if names, _ := OS.ReadDir(dir); !slices.Equal(names, []string{"a", "a.tmp-", "a.tmp-x"}) {
		t.Errorf("left %q", names)
	}
}
