package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mailbench/index"
	"mailbench/index/column"
	"mailbench/index/envelope"
	"mailbench/index/linked"
	"mailbench/index/scan"
	"mailbench/store"
	"mailbench/store/box"
	maildirstore "mailbench/store/maildir"
	"mailbench/store/mdbox"
)

func (k *talk) want(say, want string) {
	k.t.Helper()
	got := strings.TrimSuffix(strings.ReplaceAll(k.say(say), "\r\n", "\n"), "\n")
	if got != want {
		k.t.Errorf("%s:\n got %q\nwant %q", say, got, want)
	}
}

// TestWrite: a maildir that may be written to, first read as it is, then as a
// Box: UIDs and flags stay.
func TestWrite(t *testing.T) {
	dir := maildirOf(t, "S", "", "FT")
	m := served(t, Config{Path: dir, Write: true, Fsync: box.Never})
	k, other := dial(t, m), dial(t, m)
	k.say("SELECT INBOX")
	if got := other.say("SELECT INBOX"); !strings.Contains(got, "[READ-WRITE]") || !strings.Contains(got, `\*)]`) {
		t.Fatalf("%s", got)
	}
	if f := m.open["INBOX"]; f.box != nil {
		t.Fatal("nothing has been written, and there is a Box")
	}
	k.want(`STORE 2 +FLAGS (\Seen $Work)`, `* FLAGS (\Answered \Flagged \Deleted \Seen \Draft $Forwarded $Work)
* OK [PERMANENTFLAGS (\Answered \Flagged \Deleted \Seen \Draft $Forwarded $Work \*)] flags permitted
* 2 FETCH (FLAGS (\Seen $Work))
OK STORE completed`)
	other.want("NOOP", "* 2 FETCH (UID 2 FLAGS (\\Seen $Work))\nOK NOOP completed")
	k.want("SEARCH KEYWORD $work", "* SEARCH 2\nOK SEARCH completed")
	k.want(`UID STORE 1 -FLAGS.SILENT (\Seen)`, "OK UID completed")
	k.want("FETCH 1 BODY[TEXT]", "* 1 FETCH (BODY[TEXT] {12}\nfirst text\n FLAGS (\\Seen))\nOK FETCH completed")
	k.want("APPEND INBOX (\\Flagged) \" 3-Feb-2015 04:05:06 +0100\" {28+}\r\nSubject: bananas\r\n\r\nyellow\r\n", "* 4 EXISTS\nOK [APPENDUID 77 4] APPEND completed")
	k.want("FETCH 4 (FLAGS INTERNALDATE RFC822.SIZE)", "* 4 FETCH (FLAGS (\\Flagged) INTERNALDATE \"03-Feb-2015 03:05:06 +0000\" RFC822.SIZE 28)\nOK FETCH completed")
	other.want("FETCH 4 FLAGS", "* 1 FETCH (UID 1 FLAGS (\\Seen))\n* 4 EXISTS\nBAD there is no message of that number")
	k.want("EXPUNGE", "* 3 EXPUNGE\nOK EXPUNGE completed")
	other.want("FETCH 1:3 UID", "* 1 FETCH (UID 1)\n* 2 FETCH (UID 2)\nNO [EXPUNGEISSUED] some of the messages are no longer there")
	other.want("SEARCH ALL", "* SEARCH 1 2 4\nOK SEARCH completed")
	other.want("NOOP", "* 3 EXPUNGE\nOK NOOP completed")
	other.want("UID SEARCH ALL", "* SEARCH 1 2 4\nOK UID completed")
	other.want("UID SORT (SUBJECT) UTF-8 ALL", "* SORT 1 2 4\nOK UID completed")
	other.want("SORT (SUBJECT) UTF-8 ALL", "* SORT 1 2 3\nOK SORT completed")
	// A stranger delivers.
	deliver(t, dir, 9, "", letters()[1])
	k.want("NOOP", "* 4 EXISTS\nOK NOOP completed")
	k.want("FETCH * (UID)", "* 4 FETCH (UID 5)\nOK FETCH completed")
	k.want("UID EXPUNGE 1:5", "OK UID completed")
	k.want(`STORE 1,4 FLAGS.SILENT (\Deleted)`, "OK STORE completed")
	k.want("UID EXPUNGE 5", "* 4 EXPUNGE\nOK UID completed")
	k.want("CLOSE", "OK CLOSE completed")
	other.want("NOOP", "* 1 EXPUNGE\nOK NOOP completed")
}

// TestArrival: mail that comes and goes while a mailbox of which nothing is
// written is selected is told, however little has been asked before.
func TestArrival(t *testing.T) {
	for _, d := range []index.Design{column.Design, linked.Design, envelope.Design, scan.Design} {
		for _, before := range []string{"NOOP", "SEARCH ALL"} {
			t.Run(d.Name()+"/"+before, func(t *testing.T) { arrival(t, d, before) })
		}
	}
}

func arrival(t *testing.T, d index.Design, before string) {
	dir := maildirOf(t)
	m := served(t, Config{Path: dir, Design: d})
	k, late := dial(t, m), dial(t, m)
	k.say("SELECT INBOX")
	late.say("SELECT INBOX")
	k.say(before)
	deliver(t, dir, 5, "", letters()[0])
	k.want("NOOP", "* 4 EXISTS\nOK NOOP completed")
	names, _ := filepath.Glob(filepath.Join(dir, "cur", "*M1P*"))
	if len(names) != 1 {
		t.Fatal(names)
	}
	os.Rename(names[0], names[0]+"F")
	k.want("FETCH 1 UID", "* 1 FETCH (UID 1)\n* 2 FETCH (UID 2 FLAGS (\\Flagged))\nOK FETCH completed")
	os.Remove(names[0] + "F")
	k.say("NOOP") // missing twice is gone
	k.say("NOOP")
	k.want("SEARCH ALL", "* SEARCH 1 2 3\nOK SEARCH completed")
	k.want("UID THREAD ORDEREDSUBJECT UTF-8 ALL", "* THREAD (1 4)(3)\nOK UID completed")
	// Who has asked for nothing meanwhile is told all of it, in its own numbers.
	late.want("UID SEARCH SUBJECT apples", "* SEARCH 1\n* 2 EXPUNGE\n* 3 EXISTS\nOK UID completed")
}

// TestSubfolders: Maildir++ folders are mailboxes.
func TestSubfolders(t *testing.T) {
	dir := maildirOf(t)
	sub := filepath.Join(dir, ".lists.go")
	for _, d := range []string{"cur", "new", "tmp"} {
		os.MkdirAll(filepath.Join(sub, d), 0o755)
	}
	deliver(t, sub, 0, "", letters()[0])
	k := dial(t, served(t, Config{Path: dir}))
	k.want(`LIST "" "*"`, `* LIST (\HasNoChildren) "/" "INBOX"
* LIST (\HasNoChildren) "/" "lists/go"
OK LIST completed`)
	k.want(`LIST "" %`, `* LIST (\HasNoChildren) "/" "INBOX"
* LIST (\Noselect \HasChildren) "/" "lists"
OK LIST completed`)
	k.want("STATUS lists/go (MESSAGES)", "* STATUS \"lists/go\" (MESSAGES 1)\nOK STATUS completed")
	if got := k.say("EXAMINE lists/go"); !strings.Contains(got, "* 1 EXISTS") {
		t.Error(got)
	}
	for _, name := range []string{"lists", "lists.go", "../x", "/", `""`} {
		if got := k.say("SELECT " + name); !strings.HasPrefix(got, "NO ") {
			t.Errorf("SELECT %s: %s", name, got)
		}
	}
}

// TestManyFolders: a client that asks about all of them does not have all open.
func TestManyFolders(t *testing.T) {
	dir := maildirOf(t)
	const n = maxOpen + 20
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf(".f%d", i))
		os.MkdirAll(filepath.Join(sub, "cur"), 0o755)
		os.MkdirAll(filepath.Join(sub, "new"), 0o755)
		deliver(t, sub, i, "", letters()[0])
	}
	m := served(t, Config{Path: dir, Design: scan.Design})
	k, sitting := dial(t, m), dial(t, m)
	sitting.say("SELECT f0")
	for range 2 {
		for i := range n {
			k.want(fmt.Sprintf("STATUS f%d (MESSAGES)", i), fmt.Sprintf("* STATUS \"f%d\" (MESSAGES 1)\nOK STATUS completed", i))
			if got := m.opened.Load(); got > maxOpen+1 {
				t.Fatalf("%d are open", got)
			}
		}
	}
	deliver(t, filepath.Join(dir, ".f0"), n, "", letters()[1])
	sitting.want("NOOP", "* 2 EXISTS\nOK NOOP completed")
	sitting.say("UNSELECT")
}

// TestSessions_together: many connections append, store, ask and expunge at once
// in one mailbox; nothing is lost or told twice, and all see the same in the end.
func TestSessions_together(t *testing.T) {
	for _, f := range []store.Format{maildirstore.Format, mdbox.Format} {
		t.Run(f.Name(), func(t *testing.T) {
			m := served(t, Config{Path: filepath.Join(t.TempDir(), "mail"), Store: f, Write: true, Fsync: box.Never})
			const clients, mails = 8, 12
			var wg sync.WaitGroup
			for i := range clients {
				k := dial(t, m)
				wg.Go(func() {
					k.say("SELECT INBOX")
					for j := range mails {
						body := fmt.Sprintf("Subject: s%d\r\nMessage-ID: <%d.%d@x>\r\n\r\ntext\r\n", j, i, j)
						got := k.say(fmt.Sprintf("APPEND INBOX {%d+}\r\n%s", len(body), body))
						_, after, _ := strings.Cut(got, "[APPENDUID 77 ")
						uid, _, ok := strings.Cut(after, "]")
						if !ok {
							t.Errorf("%s", got)
							return
						}
						if got := k.say("UID STORE " + uid + ` +FLAGS (\Seen)`); !strings.Contains(got, "UID "+uid+" FLAGS (\\Seen)") {
							t.Errorf("%s: %q", uid, got)
						}
						k.say("UID THREAD REFERENCES UTF-8 ALL")
						if got := k.say("UID FETCH " + uid + " (BODY.PEEK[])"); !strings.Contains(got, fmt.Sprintf("<%d.%d@x>", i, j)) {
							t.Errorf("%s: %q", uid, got)
						}
						if j%3 == 0 {
							k.say("UID STORE " + uid + ` +FLAGS.SILENT (\Deleted)`)
							k.say("UID EXPUNGE " + uid)
						}
					}
				})
			}
			wg.Wait()
			k := dial(t, m)
			k.want("STATUS INBOX (MESSAGES UNSEEN)", fmt.Sprintf("* STATUS \"INBOX\" (MESSAGES %d UNSEEN 0)\nOK STATUS completed", clients*mails*2/3))
		})
	}
}

// TestServe_ends: with its context, and it says nothing wrong to who is there.
func TestServe_ends(t *testing.T) {
	m := served(t, Config{Path: maildirOf(t)})
	ctx, stop := context.WithCancel(t.Context())
	r, w := newPipe()
	done := make(chan error)
	go func() { done <- Serve(ctx, r, m) }()
	buf := make([]byte, 100)
	w.Read(buf)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// formatMdbox is a store that is no maildir.
var formatMdbox = mdbox.Format
