package source

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/index"
)

// TestMessageOffset holds that a message's offset is where its first byte
// lies: behind the From_ line of an mbox, which may end in CRLF.
func TestMessageOffset(t *testing.T) {
	box := "From a@b Thu Jan  1 00:00:00 1970\r\nSubject: one\r\n\r\nbody\r\n\r\n" +
		"From a@b Thu Jan  1 00:00:01 1970\nSubject: two\n\n>From quoted\n\n" +
		"From a@b Thu Jan  1 00:00:02 1970\nSubject: three\n\n"
	dir := filepath.Join(t.TempDir(), "maildir")
	for _, sub := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "cur", "1.a.b:2,"), []byte("Subject: one\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want []int
	}{
		{write(t, "a.mbox", []byte(box)), []int{35, 93, 155}},
		{write(t, "a.mbox.gz", packed("a.mbox.gz", []byte(box))), []int{35, 93, 155}},
		{write(t, "1.eml", []byte("Subject: one\n\n")), []int{0}},
		{dir, []int{0}},
	} {
		s := open(t, c.path, Options{})
		l := list(t, s)
		if len(l.Entries) != len(c.want) {
			t.Fatalf("%s: %d entries", c.path, len(l.Entries))
		}
		for i := range l.Entries {
			got := s.(interface{ MessageOffset(*index.Entry) int64 }).MessageOffset(&l.Entries[i])
			if got != int64(c.want[i]) {
				t.Errorf("%s: message %d at %d, want %d", c.path, i+1, got, c.want[i])
			}
			if s.Kind() == "mbox" && !bytes.HasPrefix([]byte(box)[got:], []byte("Subject: ")) {
				t.Errorf("%s: offset %d is no header", c.path, got)
			}
		}
	}
}

func TestInside(t *testing.T) {
	root := t.TempDir()
	mail := filepath.Join(root, "mail")
	if err := os.MkdirAll(filepath.Join(mail, "cur"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(mail, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{
		"mail": true, "mail/cur": true, "mail/none/below": true, "link/cur/x": true, "mail/../mail/tmp": true,
		"mailbox": false, ".": false, "other/mail": false, "mail/..": false, "mail/../index": false,
	} {
		if got := Inside(mail, filepath.Join(root, dir)); got != want {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
		if got := Inside(filepath.Join(root, "link"), root+"/"+dir); got != want {
			t.Errorf("through a link, %s: %v, want %v", dir, got, want)
		}
	}
}

// What has no cur is no maildir, whether or not it has new: opening, listing
// and the documentation agree.
func TestOpen_newAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	if src, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "has new alone") {
		t.Errorf("%v, %v", src, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "cur"), 0o700); err != nil {
		t.Fatal(err)
	}
	src, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
}
