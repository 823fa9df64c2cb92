package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mailbench/peer/proc"
)

// aged is the time of the source's file i: none of them is now.
func aged(i int) time.Time { return time.Unix(1_000_000_000+int64(i)*1000, int64(i)*1001) }

// content is that of the source's file i: few are large.
func content(name string, i int) string {
	if i > 8 {
		return name
	}
	return strings.Repeat(name, i*i*50)
}

// makeMaildir makes one with these files ("cur/a:2,S"), contents by name and
// times by place, and servers' files and folders beside them.
func makeMaildir(t *testing.T, names ...string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "corpus")
	write := func(name, mail string, i int) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(mail), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, aged(i), aged(i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range names {
		write(name, content(name, i), i)
	}
	for _, name := range []string{"dovecot-uidlist", "dovecot-keywords", "dovecot.index.cache", "maildirfolder",
		"courierimapuiddb", "tmp/unfinished", "cur/.hidden", ".Sub/cur/sub:2,", "cur/adir/file", "new/.nfs01"} {
		write(name, "not mail", 0)
	}
	if err := os.MkdirAll(filepath.Join(root, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(root, "cur", "pipe:2,"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "cur", "dangling:2,")); err != nil {
		t.Fatal(err)
	}
	for i, dir := range []string{"cur", "new", "tmp", ""} {
		if err := os.Chtimes(filepath.Join(root, dir), aged(900-i), aged(900-i)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A state is all that a look at a tree can tell.
func state(t *testing.T, root string, ctimes bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		s := fmt.Sprintf("mode %o size %d mtime %d.%09d", st.Mode, st.Size, st.Mtim.Sec, st.Mtim.Nsec)
		if ctimes {
			s += fmt.Sprintf(" inode %d links %d owner %d:%d ctime %d.%09d", st.Ino, st.Nlink, st.Uid, st.Gid, st.Ctim.Sec, st.Ctim.Nsec)
			if d.Type().IsRegular() { // looking at a directory sets its own
				s += fmt.Sprintf(" atime %d.%09d", st.Atim.Sec, st.Atim.Nsec)
			}
		}
		out[rel] = s
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func files(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		info, _ := d.Info()
		out[rel] = fmt.Sprintf("%d bytes %d %.20q", len(b), info.ModTime().UnixNano(), b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var corpusNames = []string{"cur/1.a:2,", "cur/2.b:2,RS", "cur/3.c", "cur/4.d,S=800:2,Sab", "new/5.e", "new/6.f:2,", "new/7.g:1,x", "cur/8.h:2,", "new/8.h"}

var cloneNames = []string{"cur/1.a:2,", "cur/2.b:2,RS", "cur/3.c", "cur/4.d,S=800:2,Sab", "cur/5.e:2,", "cur/6.f:2,", "cur/7.g:1,x", "cur/8.h:2,", "new/8.h"}

func TestMaildir(t *testing.T) {
	for _, mode := range []Mode{Auto, Copy, Reflink, Hardlink} {
		t.Run(mode.String(), func(t *testing.T) {
			from := makeMaildir(t, corpusNames...)
			to := filepath.Join(t.TempDir(), "clone")
			want := map[string]string{}
			for i, name := range corpusNames {
				mail := content(name, i)
				want[cloneNames[i]] = fmt.Sprintf("%d bytes %d %.20q", len(mail), aged(i).UnixNano(), mail)
			}
			before := state(t, from, true)
			counts, err := Options{Mode: mode}.Maildir(t.Context(), from, to)
			if mode == Reflink && errors.Is(err, unix.EOPNOTSUPP) {
				if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("after an error %s is there: %v", to, err)
				}
				t.Skip("this file system has no reflinks")
			}
			if err != nil {
				t.Fatal(err)
			}
			if counts.Messages != len(corpusNames) || counts.Vanished != 0 || counts.Bytes == 0 || counts.Mode == Auto {
				t.Errorf("%+v", counts)
			}
			after := state(t, from, true)
			if mode == Hardlink {
				before, after = state(t, from, false), state(t, from, false)
			}
			for name, s := range before {
				if after[name] != s {
					t.Errorf("source: %s was %s, is %s", name, s, after[name])
				}
			}
			if got := files(t, to); !equal(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			got, src := state(t, to, false), state(t, from, false)
			for _, dir := range []string{".", "cur", "new", "tmp"} {
				var mtime string
				if _, mtime, _ = strings.Cut(src[dir], "mtime "); !strings.HasSuffix(got[dir], mtime) || !strings.HasPrefix(got[dir], "mode 40700 ") {
					t.Errorf("%s: %s, of %s", dir, got[dir], src[dir])
				}
			}
			if _, err := (Options{Mode: mode}).Maildir(t.Context(), from, to); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a second time: %v", err)
			}
			if got := files(t, to); !equal(got, want) {
				t.Error("the second time has changed the clone")
			}
		})
	}
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// A link to a message is one, of whatever mode, and its target is not touched.
func TestMaildir_followsLinks(t *testing.T) {
	for _, mode := range []Mode{Copy, Hardlink} {
		from := makeMaildir(t, "cur/1.a:2,")
		target := filepath.Join(from, "elsewhere")
		if err := os.WriteFile(target, []byte("mail"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(from, "cur", "2.b:2,")); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "clone")
		if err := Maildir(t.Context(), from, to, mode, nil); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(filepath.Join(to, "cur", "2.b:2,"))
		if err != nil || !info.Mode().IsRegular() || info.Size() != 4 {
			t.Error(mode, info, err)
		}
	}
}

func TestMaildir_user(t *testing.T) {
	u, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	if u == nil {
		t.Skip("only root gives files away")
	}
	from := makeMaildir(t, corpusNames...)
	if err := os.Chmod(filepath.Join(from, "cur/2.b:2,RS"), 0o400); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "clone")
	if err := Maildir(t.Context(), from, to, Auto, u); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		if st.Uid != u.UID || st.Gid != u.GID || st.Mode&0o600 != 0o600 {
			t.Errorf("%s: %d:%d %o", path, st.Uid, st.Gid, st.Mode)
		}
		n++
		return err
	})
	if err != nil || n != 4+len(corpusNames) {
		t.Error(n, err)
	}
	to += "2"
	err = Maildir(t.Context(), from, to, Hardlink, u)
	if err == nil || !strings.Contains(err.Error(), "2.b:2,RS") || !strings.Contains(err.Error(), "may not read it") {
		t.Error(err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", to, err)
	}
}

// Messages that others remove and rename meanwhile are counted or cloned, and no
// error; those that stay are all there.
func TestMaildir_vanishing(t *testing.T) {
	var names []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf("cur/%d.x:2,", i))
	}
	for _, mode := range []Mode{Copy, Hardlink} {
		from, to := makeMaildir(t, names...), filepath.Join(t.TempDir(), "clone")
		quit, gone := make(chan struct{}), make(chan int)
		go func() {
			r, n := rand.New(rand.NewPCG(1, 2)), 0
			for {
				select {
				case <-quit:
					gone <- n
					return
				default:
				}
				path := filepath.Join(from, fmt.Sprintf("cur/%d.x:2,", r.IntN(1500)*2+1))
				if r.IntN(2) == 0 {
					os.Remove(path)
				} else {
					os.Rename(path, path+"S")
				}
				n++
			}
		}()
		counts, err := Options{Mode: mode}.Maildir(t.Context(), from, to)
		close(quit)
		if n := <-gone; n == 0 {
			t.Log("nothing happened meanwhile")
		}
		if err != nil {
			t.Fatal(mode, err)
		}
		entries, err := os.ReadDir(filepath.Join(to, "cur"))
		if err != nil || len(entries) != counts.Messages {
			t.Errorf("%v: %d files, %+v, %v", mode, len(entries), counts, err)
		}
		for i := 0; i < 3000; i += 2 {
			if _, err := os.Lstat(filepath.Join(to, names[i])); err != nil {
				t.Fatal(mode, err)
			}
		}
	}
}

func TestMaildir_errors(t *testing.T) {
	from := makeMaildir(t, corpusNames...)
	notMaildir := t.TempDir()
	ended, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for name, c := range map[string]struct {
		ctx      context.Context
		from, to string
		mode     Mode
		want     string
	}{
		"not a maildir": {t.Context(), notMaildir, "to", Auto, filepath.Join(notMaildir, "new")},
		"nowhere":       {t.Context(), from, "no/where", Auto, "no/where"},
		"ended":         {ended, from, "to", Copy, "enough"},
		"no mode":       {t.Context(), from, "to", 9, "mode 9"},
	} {
		to := filepath.Join(t.TempDir(), c.to)
		err := Maildir(c.ctx, c.from, to, c.mode, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "clone: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s is left: %v", name, to, err)
		}
	}
}

// What a clone needs is known before it is begun.
func TestNeed(t *testing.T) {
	from := makeMaildir(t, "cur/1,S=5000:2,", "cur/2:2,", "new/3,S=1")
	for mode, want := range map[Mode]int64{Copy: 8192 + 4096 + 4096 + 4096, Reflink: 0, Hardlink: 0} {
		c := &cloner{from: from, how: mode}
		if err := c.open(); err != nil {
			t.Fatal(err)
		}
		for i := range c.src {
			var err error
			if c.src[i].entries, err = list(c.src[i].fd); err != nil {
				t.Fatal(err)
			}
		}
		// cur/ has a link to nowhere, too, which is taken for one like the others.
		got, n := c.need(4096)
		if n != 4 || got < want || got > want+1000 {
			t.Errorf("%v: %d bytes in %d files, want %d", mode, got, n, want)
		}
		c.close()
	}
}

// A full disk is told before anything is written: on a small file
// system in memory.
func TestMaildir_noSpace(t *testing.T) {
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("cannot mount a small file system: " + err.Error())
	}
	defer unix.Unmount(small, unix.MNT_DETACH)
	for name, told := range map[string]bool{"cur/1,S=3000000:2,": true, "cur/1,S=3:2,": false} {
		from := makeMaildir(t, name)
		if err := os.WriteFile(filepath.Join(from, name), make([]byte, 3_000_000), 0o644); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(small, "clone")
		err := Maildir(t.Context(), from, to, Auto, nil)
		if err == nil || strings.Contains(err.Error(), "needs about 3.0 MB") != told || errors.Is(err, unix.ENOSPC) == told || !strings.Contains(err.Error(), to) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", to, err)
		}
	}
}

func TestProgress(t *testing.T) {
	from := makeMaildir(t, corpusNames...)
	var calls [][2]int
	o := Options{Progress: func(done, found int) { calls = append(calls, [2]int{done, found}) }}
	if _, err := o.Maildir(t.Context(), from, filepath.Join(t.TempDir(), "clone")); err != nil {
		t.Fatal(err)
	}
	// The link to nowhere is found, and is no message.
	if want := [2]int{len(corpusNames), len(corpusNames) + 1}; len(calls) == 0 || calls[len(calls)-1] != want {
		t.Errorf("%v, want %v in the end", calls, want)
	}
}

func TestDir(t *testing.T) {
	from := t.TempDir()
	want := map[string]string{}
	for i, name := range []string{"dovecot.index", "dovecot.index.log", ".INBOX/dovecot.index.cache", "empty/.keep"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Repeat(name, i*1000)), 0o400); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, aged(i), aged(i)); err != nil {
			t.Fatal(err)
		}
		want[name] = fmt.Sprintf("%d bytes %d %.20q", len(name)*i*1000, aged(i).UnixNano(), strings.Repeat(name, i*1000))
	}
	for i, dir := range []string{"empty", ".INBOX", ""} {
		if err := os.Chtimes(filepath.Join(from, dir), aged(50+i), aged(50+i)); err != nil {
			t.Fatal(err)
		}
	}
	u, err := proc.OrdinaryUser("")
	if err != nil {
		t.Fatal(err)
	}
	before := state(t, from, true)
	to := filepath.Join(t.TempDir(), "copy")
	if err := Dir(t.Context(), from, to, u); err != nil {
		t.Fatal(err)
	}
	if got := files(t, to); !equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if after := state(t, from, true); !equal(before, after) {
		t.Errorf("source was %v, is %v", before, after)
	}
	var st unix.Stat_t
	if err := unix.Lstat(filepath.Join(to, "dovecot.index.log"), &st); err != nil || st.Mode&0o600 != 0o600 || u != nil && st.Uid != u.UID {
		t.Errorf("%+v %v", st, err)
	}
	for _, dir := range []string{".INBOX", "."} {
		a, b := state(t, from, false)[dir], state(t, to, false)[dir]
		if _, a, _ = strings.Cut(a, "mtime"); !strings.HasSuffix(b, a) {
			t.Errorf("%s: %s, of %s", dir, b, a)
		}
	}
	if err := Dir(t.Context(), from, to, u); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	if err := os.Symlink("dovecot.index", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	if err := Dir(t.Context(), from, to+"2", u); err == nil || !strings.Contains(err.Error(), "link") {
		t.Error(err)
	}
	if _, err := os.Lstat(to + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", to+"2", err)
	}
}

func TestParse(t *testing.T) {
	for _, m := range []Mode{Auto, Reflink, Copy, Hardlink} {
		if got, err := Parse(m.String()); err != nil || got != m {
			t.Errorf("%v: %v %v", m, got, err)
		}
	}
	for _, s := range []string{"", "COPY", "mode 9", "link"} {
		if m, err := Parse(s); err == nil {
			t.Errorf("%q: %v", s, m)
		}
	}
}

// getdents64 of a large directory comes in pieces.
func TestList(t *testing.T) {
	dir := t.TempDir()
	want := 12_000
	for i := range want {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.a-rather-long-name", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := openQuietly(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	got, err := list(fd)
	if err != nil || len(got) != want {
		t.Fatal(len(got), err)
	}
	if !slices.IsSortedFunc(got, func(a, b entry) int { return int(int64(a.inode) - int64(b.inode)) }) {
		t.Error("not in the order of inodes")
	}
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte{})
	f.Add(append(make([]byte, 16), 24, 0, 8, 'a', 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, e := range appendEntries(nil, b) {
			if e.name == "" || e.name[0] == '.' || strings.Contains(e.name, "\x00") {
				t.Errorf("%q", e.name)
			}
		}
	})
}
