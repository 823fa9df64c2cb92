package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/store/box"
)

// TestRenamedBefore: STORE of a message that another program has just renamed
// looks again, and errors tell no directories.
func TestRenamedBefore(t *testing.T) {
	dir := maildirOf(t)
	k := dial(t, served(t, Config{Path: dir, Write: true, Fsync: box.Never}))
	k.say("SELECT INBOX")
	k.say(`STORE 1:* +FLAGS (\Flagged)`)
	names, err := filepath.Glob(filepath.Join(dir, "cur", "*"))
	if err != nil || len(names) == 0 {
		t.Fatal("no mail", err)
	}
	for _, name := range names {
		if err := os.Rename(name, name+"S"); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.say(`STORE 1:* +FLAGS (\Draft)`); !strings.Contains(got, "OK STORE") || strings.Count(got, `\Draft`) != 3 {
		t.Error(got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "tmp")); err != nil {
		t.Fatal(err)
	}
	if got := k.say("APPEND INBOX {1+}\r\nx"); !strings.HasPrefix(got, "NO ") || strings.Contains(got, filepath.Dir(dir)) {
		t.Error(got)
	}
}

// TestRemoved: a maildir that is removed under an open Box is told to be gone,
// and is not made again.
func TestRemoved(t *testing.T) {
	dir := maildirOf(t)
	k := dial(t, served(t, Config{Path: dir, IndexDir: filepath.Join(t.TempDir(), "i"), Write: true, Fsync: box.Never}))
	k.say("SELECT INBOX")
	k.say(`STORE 1 +FLAGS (\Flagged)`)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, say := range []string{"NOOP", "UID THREAD REFERENCES UTF-8 ALL", `STORE 1 +FLAGS (\Draft)`} {
		if got := k.say(say); !strings.Contains(got, "NO [NONEXISTENT]") {
			t.Errorf("%s: %s", say, got)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it has been made again")
	}
}
