package session

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"mailbench/store/box"
)

// TestStuck: a client that does not read keeps nobody from the mailbox, neither
// with mail nor with news on their way to it.
func TestStuck(t *testing.T) {
	dir := maildirOf(t)
	for i := 3; i < 2000; i++ {
		deliver(t, dir, i, "", "Subject: "+strings.Repeat("x", 60)+"\n\n")
	}
	m := served(t, Config{Path: dir, Write: true, Fsync: box.Never})
	within := func(say string) string {
		t.Helper()
		k := dial(t, m)
		k.w.(net.Conn).SetDeadline(time.Now().Add(20 * time.Second))
		k.say("SELECT INBOX")
		return k.say(say)
	}
	for _, say := range []string{"FETCH 1:* (BODY.PEEK[])", "NOOP", `STORE 1:* +FLAGS (\Answered)`, "FETCH 1:* (BODY[])"} {
		stuck := dial(t, m)
		stuck.say("SELECT INBOX")
		stuck.say("FETCH 1 FLAGS")
		if say == "NOOP" {
			within(`STORE 1:* +FLAGS.SILENT (\Flagged)`)
		}
		if _, err := io.WriteString(stuck.w, "x "+say+"\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		// The first of these opens the Box, which waits for all readers.
		for _, other := range []string{`STORE 2 +FLAGS.SILENT (\Draft)`, "NOOP"} {
			if got := within(other); !strings.Contains(got, "OK ") {
				t.Fatalf("%s beside %s: %s", other, say, got)
			}
		}
		lines := 0
		for {
			s := strings.TrimSpace(stuck.line())
			if strings.HasPrefix(s, "x ") {
				if s != "x OK "+strings.Fields(say)[0]+" completed" {
					t.Errorf("%s: %s", say, s)
				}
				break
			}
			lines++
		}
		if lines < 1999 {
			t.Errorf("%s: %d lines", say, lines)
		}
	}
}

// TestStrangeBeforeOurs: what others did before a change of ours is seen by the
// next NOOP, too.
func TestStrangeBeforeOurs(t *testing.T) {
	dir := maildirOf(t)
	k := dial(t, served(t, Config{Path: dir, Write: true, Fsync: box.Never}))
	k.say("SELECT INBOX")
	k.say(`STORE 1 +FLAGS (\Flagged)`)
	deliver(t, dir, 3, "", letters()[0])
	k.say(`STORE 2 +FLAGS (\Flagged)`)
	k.want("NOOP", "* 4 EXISTS\nOK NOOP completed")
	k.say(`STORE 1 +FLAGS (\Draft)`)
	k.want("NOOP", "OK NOOP completed")
}
