//go:build linux

package suite

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mailbench/corpus"
)

// Rows whose operation is on the corpus itself, one of each kind: Many and Grow
// make mail of their own, and what a Fetch draws is no other reading.
const (
	fetches1 = "Fetch/.*/op=(all|window|header)/.*/pass=(first|again)/mails=[a-z]*/index=[a-z]*$"
	onMail   = "(Select|Resync|Thread|SortDate|Compact|Changes|Floor|HeaderScan)|" + fetches1
)

// userMaildir writes a maildir as a mail server leaves it: with files of its
// own beside the mail and a folder below.
func userMaildir(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "Mail")
	spec, err := corpus.Parse("synthetic:60,seed=3")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.WriteMaildir(t.Context(), path, spec, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.WriteMaildir(t.Context(), filepath.Join(path, ".Sent"), spec, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dovecot.index.log", "dovecot-keywords", "subscriptions", "tmp/1.half.written", "cur/:2,S", "cur/.hidden"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// stats is all that stat tells of a tree but the access times of directories,
// which are opened to be listed.
func stats(t *testing.T, root string) map[string]string {
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
		if d.IsDir() {
			st.Atim = unix.Timespec{}
		}
		out[path] = fmt.Sprintf("%+v", st)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestUserMail_isNeverTouched runs the rows that open a user's maildir and
// compares all that stat tells of it before and after. With MAILBENCH_LONG it
// runs every row, also of a second design.
func TestUserMail_isNeverTouched(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	mail := userMaildir(t, dir)
	before := stats(t, mail)
	rows, args := onMail, []string{"-corpus=Mail", "-designs=column", "-rows=all"}
	if long() {
		rows, args = ".", []string{"-corpus=Mail", "-designs=column,scan", "-rows=all", "-metrics=all"}
	}
	got := benchmarkEnv(t, []string{freshEnv + "=1"}, dir, rows, args...)
	if got.code != 0 || len(lines(got.out, "Benchmark")) < 40 {
		t.Fatalf("exit code %d:\n%s%s", got.code, got.out, got.errs)
	}
	for _, line := range lines(got.out, "# skipped") {
		if !strings.Contains(line, "cold needs -drop-caches") {
			t.Errorf("a maildir with other files in it: %s", line)
		}
	}
	after := stats(t, mail)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was\n%s, is\n%s", path, was, after[path])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files and directories, were %d", len(after), len(before))
	}
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestUserMail_nameTwice holds that a name that is there twice is one message
// for the suite too, the one that the designs take, and that neither file of
// it is touched.
func TestUserMail_nameTwice(t *testing.T) {
	t.Parallel()
	dir := diskDir(t)
	mail := userMaildir(t, dir)
	names, err := mailNames(mail)
	if err != nil {
		t.Fatal(err)
	}
	n, twice := 0, 0
	for base, at := range names { // one or two more files for each third message: flags or folder differ, and the subject
		if n++; n%3 > 0 {
			continue
		}
		twice++
		text, err := os.ReadFile(filepath.Join(mail, at.dir, at.file))
		if err != nil {
			t.Fatal(err)
		}
		subject := bytes.Index(text, []byte("\nSubject: ")) + len("\nSubject: ") // of the same size, which is in the name
		for i, file := range []string{"cur/" + base + ":2,FT", "cur/" + base + ":2,RS", "new/" + base} {
			if n%2 == i%2 {
				continue
			}
			text[subject] = byte('0' + i)
			if err := os.WriteFile(filepath.Join(mail, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := stats(t, mail)
	args := []string{"-corpus=Mail", "-designs=column", "-rows=all"}
	if long() {
		args[1] = "-designs=column,scan"
	}
	got := benchmarkEnv(t, []string{freshEnv + "=1"}, dir, "(Select|Resync|Thread)|"+fetches1, args...)
	if got.code != 0 || len(lines(got.out, "Benchmark")) < 20 || twice != 20 {
		t.Fatalf("%d names twice, exit code %d:\n%s%s", twice, got.code, got.out, got.errs)
	}
	after := stats(t, mail)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was\n%s, is\n%s", path, was, after[path])
		}
	}
}
