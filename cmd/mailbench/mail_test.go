//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// mails are one small mailbox: a thread with a gap, a lonely mail, and one
// that follows by In-Reply-To alone.
var mails = []struct{ date, text string }{
	{"Thu Jan  1 10:00:00 2015", "Date: Thu, 1 Jan 2015 10:00:00 +0000\nFrom: Zoe <zoe@one.example>\nTo: list@lists.example\n" +
		"Subject: Plan of the garden\nMessage-ID: <a@one.example>\n\nWhere do the beans go?\n"},
	{"Thu Jan  1 11:00:00 2015", "Date: Thu, 1 Jan 2015 13:00:00 +0200\nFrom: =?utf-8?q?J=C3=B6rg?= <joerg@two.example>\n" +
		"To: Zoe <zoe@one.example>,\n  \"Lists, all\" <list@lists.example>\nCc: anna@three.example\nSubject: Re: Plan of the\n garden\n" +
		"Message-ID: <b@two.example>\nReferences: <a@one.example>\nReceived: from x by y; now\nReceived: second\n\nFrom the left to the right.\n"},
	{"Thu Jan  1 12:00:00 2015", "Date: yesterday\nFrom: Anna <anna@three.example>\nSubject: Another matter\n" +
		"Message-ID: <c@three.example>\nX-Odd: caf\xe9\n\nNothing.\n"},
	{"Thu Jan  1 13:00:00 2015", "Date: Thu, 1 Jan 2015 09:30:00 +0000\nFrom: zoe@one.example\nSubject: beans\n" +
		"Message-ID: <d@one.example>\nIn-Reply-To: Your message <b@two.example>\nReferences: <a@one.example> <lost@two.example>\n <b@two.example>\n\nYes.\n"},
}

var flags = []string{"S", "RS", "", "FS"}

const (
	answerThread  = "* THREAD (1 2 4)(3)\n"
	answerSubject = "* SORT 3 4 1 2\n"
	answerDate    = "* SORT 4 1 2 3\n"
)

// A box is that mailbox in a form.
type box struct {
	name, path string
	mbox       bool
}

// boxes writes it in every form.
func boxes(t testing.TB, dir string) []box {
	t.Helper()
	md := filepath.Join(dir, "maildir")
	for _, sub := range []string{"cur", "new", "tmp"} {
		mkdir(t, filepath.Join(md, sub))
	}
	var mb bytes.Buffer
	for i, m := range mails {
		at, err := time.Parse(time.ANSIC, m.date)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(md, "cur", name(i)+":2,"+flags[i])
		writeFile(t, path, []byte(m.text))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		status := map[byte]string{'S': "Status: RO\n", 'R': "X-Status: A\n", 'F': "X-Status: F\n"}
		text := strings.ReplaceAll(m.text, "\nFrom ", "\n>From ")
		fmt.Fprintf(&mb, "From someone@example %s\n", m.date)
		for _, c := range []byte(flags[i]) {
			mb.WriteString(status[c])
		}
		fmt.Fprintf(&mb, "%s\n", text)
	}
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	if _, err := w.Write(mb.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := []box{{"maildir", md, false}}
	for _, f := range []struct {
		name string
		data []byte
	}{{"box", mb.Bytes()}, {"box.mbox.gz", gz.Bytes()}, {"box.mbox.zst", enc.EncodeAll(mb.Bytes(), nil)}} {
		path := filepath.Join(dir, f.name)
		writeFile(t, path, f.data)
		out = append(out, box{f.name, path, true})
	}
	return out
}

func name(i int) string { return fmt.Sprintf("%d.M%dP7.host", 1420106400+i, i) }

func mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A result is what a command printed and how it ended.
type result struct {
	out, errs string
	code      int
}

// mailbench runs the command in this process.
func mailbench(t testing.TB, args ...string) result {
	t.Helper()
	var out, errs strings.Builder
	code := run(append([]string{"mailbench"}, args...), &out, &errs)
	return result{out.String(), errs.String(), code}
}

// must runs the command, which has to succeed in silence, and returns its
// output.
func must(t testing.TB, args ...string) string {
	t.Helper()
	got := mailbench(t, args...)
	if got.code != 0 || got.errs != "" {
		t.Fatalf("mailbench %q: exit code %d, standard error %q", args, got.code, got.errs)
	}
	return got.out
}

// home sets up a home of this test's own and returns its directory.
func home(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	switch t := t.(type) {
	case *testing.T:
		t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
		t.Setenv("PWD", dir)
		for _, name := range []string{"CORPUS", "ROWS", "DESIGNS", "INDEX_DIR", "SCRATCH", "SAMPLES", "DROP_CACHES"} {
			t.Setenv("MAILBENCH_"+name, "")
		}
		t.Setenv("MAILBENCH_ALLOW_TMPFS", "true") // where dir may lie
	}
	return dir
}

// snapshot is everything stat tells of a tree, the access times apart where
// the reader does not own the files.
func snapshot(t testing.TB, root string) map[string]string {
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
		text := fmt.Sprintf("ino %d mode %o links %d owner %d.%d size %d mtime %v ctime %v", st.Ino, st.Mode, st.Nlink, st.Uid, st.Gid, st.Size, st.Mtim, st.Ctim)
		if !d.IsDir() { // a directory is opened to be listed
			text += fmt.Sprintf(" atime %v", st.Atim)
		}
		out[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
