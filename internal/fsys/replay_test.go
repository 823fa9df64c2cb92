package fsys

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "replay a property failure (0: a fresh seed)")

// tree reads all files below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// short keeps a failure readable.
func short(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s: %d bytes %.16q; ", name, len(files[name]), files[name])
	}
	return b.String()
}

func replay(t *testing.T, l *Log, n int, c Crash) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := l.Replay(dir, n, c); err != nil {
		t.Fatal(err)
	}
	return tree(t, dir)
}

func record(t *testing.T, before map[string]string, do func(fsys FS, dir string)) *Log {
	t.Helper()
	dir := t.TempDir()
	for name, text := range before {
		write(t, OS, filepath.Join(dir, name), text)
	}
	log, err := NewLog(OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	do(Recording(OS, log), dir)
	if got, want := replay(t, log, log.Len(), Crash{}), tree(t, dir); !maps.Equal(got, want) {
		t.Fatalf("replay of everything: %s, on disk: %s", short(got), short(want))
	}
	if got := replay(t, log, 0, Crash{Data: Mixed, Names: Mixed}); !maps.Equal(got, before) {
		t.Fatalf("replay of nothing: %s, want %s", short(got), short(before))
	}
	return log
}

// The right way survives every crash at every moment; the usual wrong ways are
// caught, or the model would prove nothing.
func TestReplay_replaceFile(t *testing.T) {
	old := map[string]string{"f": "old contents"}
	fresh := strings.Repeat("new contents ", 1000)
	tests := []struct {
		name   string
		caught bool
		do     func(fsys FS, name string) error
	}{
		{"WriteFileAtomic", false, func(fsys FS, name string) error {
			return WriteFileAtomic(fsys, name, func(w io.Writer) error { _, err := io.WriteString(w, fresh); return err })
		}},
		{"in place", true, func(fsys FS, name string) error {
			f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			io.WriteString(f, fresh)
			f.Sync()
			return f.Close()
		}},
		{"rename without fsync", true, func(fsys FS, name string) error {
			f, err := fsys.OpenFile(name+"2", os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return err
			}
			io.WriteString(f, fresh)
			f.Close()
			fsys.Rename(name+"2", name)
			return fsys.SyncDir(filepath.Dir(name))
		}},
		{"no fsync of the directory", true, func(fsys FS, name string) error {
			f, err := fsys.OpenFile(name+"2", os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return err
			}
			io.WriteString(f, fresh)
			f.Sync()
			f.Close()
			return fsys.Rename(name+"2", name)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := record(t, old, func(fsys FS, dir string) {
				if err := tt.do(fsys, filepath.Join(dir, "f")); err != nil {
					t.Fatal(err)
				}
			})
			caught := ""
			for n := range log.Len() + 1 {
				for _, c := range Crashes(uint64(n)) {
					got := replay(t, log, n, c)["f"]
					// Done means lasting: after the last event only the new file may be found.
					if got != fresh && (got != old["f"] || n == log.Len()) {
						caught = fmt.Sprintf("event %d, %v: %d bytes", n, c, len(got))
					}
				}
			}
			if (caught != "") != tt.caught {
				t.Errorf("caught %q, want caught=%v", caught, tt.caught)
			}
		})
	}
}

func TestReplay_appendLog(t *testing.T) {
	log := record(t, nil, func(fsys FS, dir string) {
		f, err := fsys.OpenFile(filepath.Join(dir, "log"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		fsys.SyncDir(dir)
		io.WriteString(f, "first")
		f.Datasync()
		io.WriteString(f, "second")
		f.Close()
	})
	for _, tt := range []struct {
		c    Crash
		want []string
	}{
		{Crash{}, []string{"firstsecond"}},
		{Crash{Names: Lost}, []string{"firstsecond"}},
		{Crash{Data: Lost}, []string{"first"}},
		{Crash{Data: Mixed}, []string{"first", "firstsecond"}},
		{Crash{Torn: true, Data: Lost}, []string{"first", "firsts", "firstse", "firstsec", "firstseco", "firstsecon"}},
	} {
		seen := map[string]bool{}
		for s := range uint64(64) {
			tt.c.Seed = s
			seen[replay(t, log, log.Len(), tt.c)["log"]] = true
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, tt.want) {
			t.Errorf("%v: found %q, want %q", tt.c, got, tt.want)
		}
	}
}

// Random programs: with everything synced no crash changes anything, and a
// file's lasting bytes never depend on later pending ones being kept.
func TestReplay_random(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay with -seed=%d", s)
	r := rand.New(rand.NewPCG(s, 1))
	for range 30 {
		var dir string
		log := record(t, map[string]string{"a": "aaaa", "b": "bb"}, func(fsys FS, d string) {
			dir = d
			fsys.MkdirAll(filepath.Join(d, "sub"), 0o700)
			names := []string{"a", "b", "c", "sub/d"}
			pick := func() string { return filepath.Join(d, names[r.IntN(len(names))]) }
			var open []File
			for range r.IntN(40) {
				switch r.IntN(8) {
				case 0, 1:
					flag := os.O_RDWR | os.O_CREATE
					if r.IntN(2) == 0 {
						flag |= os.O_TRUNC
					}
					if f, err := fsys.OpenFile(pick(), flag, 0o600); err == nil {
						open = append(open, f)
					}
				case 2:
					fsys.Rename(pick(), pick())
				case 3:
					fsys.Remove(pick())
				default:
					if len(open) == 0 {
						continue
					}
					f := open[r.IntN(len(open))]
					switch r.IntN(4) {
					case 0:
						f.Truncate(r.Int64N(9000))
					case 1:
						f.WriteAt([]byte(strings.Repeat("w", 1+r.IntN(6000))), r.Int64N(9000))
					case 2:
						f.Write([]byte("append"))
					case 3:
						f.Sync()
					}
				}
			}
			for _, f := range open {
				f.Sync()
				f.Close()
			}
			fsys.SyncDir(d)
			fsys.SyncDir(filepath.Join(d, "sub"))
		})
		want := tree(t, dir)
		for _, c := range Crashes(r.Uint64()) {
			if got := replay(t, log, log.Len(), c); !maps.Equal(got, want) {
				t.Fatalf("%v: all was synced, yet\n%s\nis not\n%s", c, short(got), short(want))
			}
			n := r.IntN(log.Len() + 1)
			if a, b := replay(t, log, n, c), replay(t, log, n, c); !maps.Equal(a, b) {
				t.Fatalf("%v after %d: two replays differ", c, n)
			}
		}
	}
}

func TestReplay_renameDir(t *testing.T) {
	record(t, nil, func(fsys FS, dir string) {
		fsys.MkdirAll(filepath.Join(dir, "x", "y"), 0o700)
		write(t, fsys, filepath.Join(dir, "x", "y", "f"), "1")
		fsys.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "z"))
		write(t, fsys, filepath.Join(dir, "z", "y", "g"), "2")
		if err := fsys.Rename(filepath.Join(dir, "z", "y", "f"), filepath.Join(filepath.Dir(dir), "out")); err == nil {
			t.Error("a rename out of the recording was allowed")
		}
	})
}

// TestReplay_times holds that a set time lasts with the Sync after it, and is
// gone when the file is written again.
func TestReplay_times(t *testing.T) {
	past := time.Unix(1_059_000_000, 5)
	l := record(t, nil, func(fsys FS, dir string) {
		for _, name := range []string{"synced", "unsynced", "rewritten"} {
			f, err := fsys.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			f.Write([]byte("x"))
			f.Sync()
			f.Chtimes(past)
			if name != "unsynced" {
				f.Sync()
			}
			if name == "rewritten" {
				f.Write([]byte("y"))
				f.Sync()
			}
			f.Close()
		}
		fsys.SyncDir(dir)
	})
	dir := t.TempDir()
	if err := l.Replay(dir, l.Len(), Crash{Data: Lost, Names: Lost}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"synced": true, "unsynced": false, "rewritten": false} {
		st, err := OS.Stat(filepath.Join(dir, name))
		if err != nil || st.ModTime.Equal(past) != want {
			t.Errorf("%s: time %v, %v; kept should be %v", name, st.ModTime, err, want)
		}
	}
}
