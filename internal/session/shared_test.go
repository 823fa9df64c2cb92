package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/linked"
	"mailbench/index/scan"
	"mailbench/store/box"
)

// TestTwoProcesses: two sessions that share nothing but the files see the same
// mail under the same UIDs, whoever of them finds it first.
func TestTwoProcesses(t *testing.T) {
	for _, d := range []index.Design{column.Design, linked.Design, scan.Design} {
		dir, ix := maildirOf(t), filepath.Join(t.TempDir(), "index")
		a := dial(t, served(t, Config{Path: dir, IndexDir: ix, Design: d}))
		b := dial(t, served(t, Config{Path: dir, IndexDir: ix, Design: d}))
		a.say("SELECT INBOX")
		b.say("SELECT INBOX")
		for i := range 6 {
			deliver(t, dir, 10+i, "", letters()[i%3])
			one, other := a, b
			if i%2 == 1 {
				one, other = b, a
			}
			want := fmt.Sprintf("* %d EXISTS\nOK NOOP completed", 4+i)
			one.want("NOOP", want)
			other.want("NOOP", want)
			thread := "UID THREAD REFERENCES UTF-8 ALL"
			if x, y := one.say(thread), other.say(thread); x != y {
				t.Errorf("%s: %s and %s", d.Name(), x, y)
			}
			uids := "UID FETCH 1:* (INTERNALDATE)"
			if x, y := one.say(uids), other.say(uids); x != y {
				t.Errorf("%s: %s and %s", d.Name(), x, y)
			}
		}
	}
}

// TestInUse: who writes has the index for himself; others are told so.
func TestInUse(t *testing.T) {
	old := patience
	patience = 50 * time.Millisecond
	defer func() { patience = old }()
	dir, ix := maildirOf(t), filepath.Join(t.TempDir(), "index")
	m := served(t, Config{Path: dir, IndexDir: ix, Write: true, Fsync: box.Never})
	a := dial(t, m)
	b := dial(t, served(t, Config{Path: dir, IndexDir: ix, Write: true, Fsync: box.Never}))
	a.say("SELECT INBOX")
	if got := b.say("SELECT INBOX"); !strings.Contains(got, "READ-WRITE") {
		t.Error(got)
	}
	a.say(`STORE 1 +FLAGS (\Flagged)`)
	for _, say := range []string{"NOOP", "SELECT INBOX", "STATUS INBOX (MESSAGES)", "APPEND INBOX {1+}\r\nx"} {
		if got := b.say(say); !strings.HasPrefix(got, "NO [INUSE]") {
			t.Errorf("%s: %s", say, got)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if got := b.say("SELECT INBOX"); !strings.Contains(got, "READ-WRITE") {
		t.Error(got)
	}
	b.want("FETCH 1 FLAGS", "* 1 FETCH (FLAGS (\\Flagged))\nOK FETCH completed")
	if got := a.say("NOOP"); !strings.HasPrefix(got, "NO ") {
		t.Errorf("a closed one: %s", got)
	}
}

// TestDamage: an index that is damaged is built anew, and the answer is right.
func TestDamage(t *testing.T) {
	dir, ix := maildirOf(t), filepath.Join(t.TempDir(), "index")
	thread := "UID THREAD REFERENCES UTF-8 ALL"
	want := "* THREAD (1 2)(3)\nOK UID completed"
	m := served(t, Config{Path: dir, IndexDir: ix})
	k := dial(t, m)
	k.say("SELECT INBOX")
	k.want(thread, want)
	m.Close()
	files, _ := os.ReadDir(ix)
	hurt := 0
	for _, f := range files {
		name := filepath.Join(ix, f.Name())
		b, err := os.ReadFile(name)
		if err != nil || len(b) < 64 {
			continue
		}
		for _, at := range []int{9, len(b) / 2, len(b) - 3} {
			damaged := append([]byte(nil), b...)
			damaged[at] ^= 0x55
			if err := os.WriteFile(name, damaged, 0o644); err != nil {
				t.Fatal(err)
			}
			hurt++
			m := served(t, Config{Path: dir, IndexDir: ix})
			k := dial(t, m)
			if got := k.say("SELECT INBOX"); !strings.Contains(got, "* 3 EXISTS") {
				t.Errorf("%s: byte %d: %s", f.Name(), at, got)
			}
			k.want(thread, want)
			m.Close()
			if b, err = os.ReadFile(name); err != nil || len(b) < 64 {
				break
			}
		}
	}
	if hurt == 0 {
		t.Fatal("nothing was damaged")
	}
}
