package session

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mailbench/corpus"
	"mailbench/index"
	"mailbench/index/column"
	"mailbench/peer"
	"mailbench/peer/clone"
	"mailbench/peer/proc"
)

func TestMain(m *testing.M) {
	proc.Watchdog()
	os.Exit(m.Run())
}

// odd are messages as servers meet them.
var odd = []string{
	"From: a@b.example\nTo: Group: x@y.example, \"Z, Z\" <z@y.example>; , c@d.example\nSubject: plain\nDate: Mon, 5 Jan 2015 23:30:00 -0800\nMessage-ID: <o1@x>\n\nHello world\n",
	"From: =?iso-8859-1?q?J=F6rg?= <joerg@example.org>\nSender: list@example.org\nReply-To: reply@example.org\nSubject: =?utf-8?b?R3LDvMOfZQ==?= aus\n =?utf-8?q?_K=C3=B6ln?=\nDate: Tue, 6 Jan 2015 00:10:00 +0900\nMessage-ID: <o2@x>\nReferences: <o1@x>\nCc: a@b.example\nBcc: hidden@example.org\n\nzweiter Brief\n",
	"From: html@example.org\nSubject: multi\nDate: Wed, 7 Jan 2015 12:00:00 +0000\nMessage-ID: <o3@x>\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=\"=_b\"\n\npreamble text\n--=_b\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nCaf=E9 au lait, soft=\n break\n--=_b\nContent-Type: text/html; charset=utf-8\nContent-Disposition: inline\n\n<b>bold</b>\n--=_b--\nepilogue text\n",
	"From: fwd@example.org\nSubject: Fwd: inner\nDate: Thu, 8 Jan 2015 12:00:00 +0000\nMessage-ID: <o4@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=outer\n\n--outer\n\nsee below\n--outer\nContent-Type: message/rfc822\nContent-Description: the letter\n\nFrom: inner@example.org\nTo: fwd@example.org\nSubject: inside subject\nDate: Wed, 7 Jan 2015 11:00:00 +0000\nMessage-ID: <inner@x>\nContent-Type: multipart/mixed; boundary=in\n\n--in\nContent-Type: text/plain\n\ninner text\n--in\nContent-Type: application/octet-stream; name=a.bin\nContent-Disposition: attachment; filename=a.bin\nContent-Transfer-Encoding: base64\n\nAAECAw==\n--in--\n--outer--\n",
	"Subject: no from\nDate: nonsense\n\nbody without sender\n",
	"From: nobody\nSubject:\n\n\n\n",
	"From: \"A \\\"quoted\\\" name\" <q@example.org>\nSubject: tab\there\nX-Nul: a\x00b\nX-Spam: yes\nX-Spam: no\nDate: Fri, 9 Jan 2015 12:00:00 GMT\nMessage-ID: <o7@x>\nIn-Reply-To: <o3@x>\n\nline one\n\nline three\n",
	"From: (comment) c@example.org (Real Name)\nTo: undisclosed-recipients:;\nSubject: long\n folded\n\tsubject line\nDate: Sat, 10 Jan 2015 12:00:00 +0000\nMessage-ID: <o8@x>\nContent-Type: text/plain; charset=\"utf-8\"; format=flowed\nContent-Language: de, en\n\nschöne Grüße\n",
	"From: crlf@example.org\r\nSubject: crlf\r\nDate: Sun, 11 Jan 2015 12:00:00 +0000\r\nMessage-ID: <o9@x>\r\n\r\nwith\r\nCRLF\r\n",
	"From: last@example.org\nSubject: open end\nDate: Mon, 12 Jan 2015 12:00:00 +0000\nMessage-ID: <o10@x>\n\nno line end",
}

// oddMail is a maildir of them.
func oddMail(t *testing.T) string {
	t.Helper()
	mail := filepath.Join(t.TempDir(), "mail")
	for _, d := range []string{"cur", "new", "tmp"} {
		os.MkdirAll(filepath.Join(mail, d), 0o755)
	}
	flags := []string{"", "S", "RS", "F", "D", "T", "FRST", "S", "", ""}
	for i, text := range odd {
		deliver(t, mail, i, flags[i], text)
		name := filepath.Join(mail, "cur", fmt.Sprintf("%d.M%dP7.host:2,%s", 1420106400+i, i, flags[i]))
		when := time.Date(2015, 3, 1+i, 23, 59, i, 0, time.UTC)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	return mail
}

// rival is Dovecot on a maildir, and ours on the same files.
func rival(t *testing.T, mail string) (theirs, ours *talk) {
	t.Helper()
	user, err := proc.OrdinaryUser("")
	if err != nil {
		t.Skip("no ordinary user: ", err)
	}
	d := peer.NewDovecot(peer.DovecotOptions{})
	if err := d.Available(); err != nil {
		t.Skip(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	dir, err := proc.MakeDir("", user)
	if err != nil {
		t.Skip("no run directory: ", err)
	}
	t.Cleanup(func() { dir.Remove() })
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(stop)
	run, err := dir.Mkdir("dovecot")
	if err != nil {
		t.Skip(err)
	}
	x, err := d.Prepare(ctx, &peer.Run{Dir: run, Corpus: mail, Clone: clone.Copy, User: user, Timeout: 20 * time.Second, Log: testLog{t}})
	if err != nil {
		t.Skip("Dovecot cannot be run here: ", err)
	}
	t.Cleanup(func() { x.Close() })
	p, err := proc.Start(ctx, x.Task(peer.OpNoop).Command)
	if err != nil {
		t.Skip("Dovecot cannot be run here: ", err)
	}
	t.Cleanup(p.Kill)
	theirs = &talk{t: t, w: p, r: bufio.NewReader(p)}
	if s := theirs.line(); !strings.HasPrefix(s, "* PREAUTH") {
		t.Skipf("Dovecot cannot be run here: %q", s)
	}
	m, err := Open(Config{Path: mail, Design: column.Design, IndexDir: filepath.Join(t.TempDir(), "index"), Options: index.Options{Compat: index.CompatDovecot}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	ours = dial(t, m)
	for _, k := range []*talk{theirs, ours} {
		if got := k.say("SELECT INBOX"); !strings.Contains(got, " EXISTS") || strings.Contains(got, "* 0 EXISTS") {
			t.Fatal(got)
		}
	}
	return theirs, ours
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) { return len(b), nil }

// reply reads a reply with its literals, as a list of untagged answers.
func (k *talk) reply(command string) []string {
	k.t.Helper()
	k.n++
	tag := fmt.Sprintf("a%d ", k.n)
	go fmt.Fprintf(k.w, "%s%s\r\n", tag, command)
	var out []string
	for {
		s := k.line()
		for {
			size, _, ok := literalAt([]byte(s))
			if !ok {
				break
			}
			b := make([]byte, size)
			for i := range b {
				c, err := k.r.ReadByte()
				if err != nil {
					k.t.Fatal(err)
				}
				b[i] = c
			}
			s = s[:strings.LastIndexByte(s, '{')] + strconv.Quote(string(b)) + k.line()
		}
		s = strings.TrimRight(s, "\r\n")
		if rest, ok := strings.CutPrefix(s, tag); ok {
			status, _, _ := strings.Cut(rest, " ")
			return append(out, status)
		}
		out = append(out, s)
	}
}

// TestDovecot: what the real Dovecot answers about the same mail. Where ours
// is another answer on purpose, normal makes them alike, and says why.
func TestDovecot(t *testing.T) {
	theirs, ours := rival(t, oddMail(t))
	commands := []string{
		"FETCH 1:* (FLAGS UID RFC822.SIZE INTERNALDATE)", "FETCH 1:* ENVELOPE", "FETCH 1:* BODYSTRUCTURE", "FETCH 1:* BODY",
		"FETCH 1:* BODY.PEEK[HEADER.FIELDS (SUBJECT FROM X-SPAM)]", "FETCH 1:* BODY.PEEK[HEADER.FIELDS.NOT (SUBJECT DATE)]",
		"FETCH 1:* BODY.PEEK[HEADER]", "FETCH 1:* BODY.PEEK[TEXT]", "FETCH 1:* BODY.PEEK[]", "FETCH 1:* BODY.PEEK[]<5.20>", "FETCH 1:* BODY.PEEK[]<100000.20>",
		"FETCH 1:* BODY.PEEK[1]", "FETCH 1:* BODY.PEEK[1.MIME]", "FETCH 1:* BODY.PEEK[2]", "FETCH 1:* BODY.PEEK[2.MIME]",
		"FETCH 4 (BODY.PEEK[2.HEADER] BODY.PEEK[2.TEXT] BODY.PEEK[2.1] BODY.PEEK[2.2] BODY.PEEK[2.2.MIME] BODY.PEEK[2.HEADER.FIELDS (SUBJECT)])",
		"UID FETCH 2:3,7:* UID", "UID FETCH 100:* UID", "UID FETCH 100:200 UID", "FETCH *:8 UID",
	}
	for _, key := range []string{"ALL", "ANSWERED", "UNANSWERED", "DELETED", "UNDELETED", "DRAFT", "UNDRAFT", "FLAGGED", "UNFLAGGED", "SEEN", "UNSEEN",
		"2:4", "*", "8:*", "UID 3:5", "UID 9:100", "UID 100:*", "NOT UID 3:5", "OR 1 UID 3", "OR SEEN OR FLAGGED DRAFT", "(SEEN FLAGGED)", "NOT (SEEN FLAGGED)",
		"SINCE 3-Mar-2015", "BEFORE 3-Mar-2015", "ON 4-Mar-2015", "SENTSINCE 6-Jan-2015", "SENTBEFORE 7-Jan-2015 NOT 5:6", "SENTON 5-Jan-2015", "SENTON 6-Jan-2015", "SENTON 9-Jan-2015",
		"LARGER 200", "SMALLER 200", "LARGER 30 SMALLER 150", "SUBJECT inner", "SUBJECT INSIDE", "SUBJECT \"köln\"", "SUBJECT \"KÖLN\"", "SUBJECT \"aus Köln\"", "SUBJECT \"grüße\"", "SUBJECT \"\"",
		"SUBJECT \"folded subject\"", "SUBJECT \"tab here\"", "FROM \"jörg\"", "FROM JOERG@", "FROM \"Real Name\"", "FROM \"A \\\"quoted\"", "FROM nobody",
		"TO group", "TO z@y.example", "TO \"Z, Z\"", "TO undisclosed", "CC a@b", "BCC hidden", "HEADER X-Spam no", "HEADER X-Spam \"\"", "HEADER Message-ID <o3@x>", "HEADER Nothing \"\"", "HEADER References o1",
		"HEADER Content-Type utf-8", "HEADER Sender list", "BODY hello", "BODY WORLD", "BODY \"café\"", "BODY \"soft break\"", "BODY \"grüße\"", "BODY inside", "BODY \"inner text\"", "BODY preamble", "BODY epilogue", "BODY bold", "BODY \"<b>\"",
		"BODY subject", "BODY letter", "BODY plain", "BODY AAEC", "BODY \"CRLF\"", "TEXT inside", "TEXT crlf", "TEXT \"jörg\"", "TEXT X-Spam", "TEXT octet", "TEXT letter", "TEXT \"Subject: plain\"", "TEXT boundary", "TEXT folded",
		"NOT ALL", "1 2", "NOT 1,3,5:7"} {
		commands = append(commands, "SEARCH CHARSET UTF-8 "+key, "UID SEARCH CHARSET UTF-8 "+key)
	}
	for _, tail := range []string{"ALL", "UNDELETED", "SEEN", "SUBJECT inner", "NOT 2", "SUBJECT nowhere", "UID 2:3"} {
		for _, alg := range []string{"REFERENCES", "REFS", "ORDEREDSUBJECT"} {
			commands = append(commands, "THREAD "+alg+" UTF-8 "+tail, "UID THREAD "+alg+" UTF-8 "+tail)
		}
		for _, keys := range []string{"ARRIVAL", "CC", "DATE", "FROM", "SIZE", "SUBJECT", "TO", "DISPLAYFROM", "DISPLAYTO", "REVERSE DATE", "SUBJECT REVERSE DATE", "REVERSE FROM SIZE"} {
			commands = append(commands, "SORT ("+keys+") UTF-8 "+tail, "UID SORT ("+keys+") UTF-8 "+tail)
		}
	}
	commands = append(commands, "FETCH 11 UID", "FETCH 0 UID", "FETCH 1", "FETCH 1 (", "FETCH 1 NOTHING", "FETCH 1:x UID", "SEARCH", "SEARCH NOTHING", "SEARCH CHARSET nocharset ALL",
		"SORT () UTF-8 ALL", "SORT (DATE) UTF-8", "THREAD NOTHING UTF-8 ALL", "STATUS INBOX (NOTHING)", "STATUS INBOX ()", "NOCOMMAND", "UID", "UID NOOP")
	compare(t, theirs, ours, commands)
}

// compare says the same to both.
func compare(t *testing.T, theirs, ours *talk, commands []string) {
	t.Helper()
	for _, command := range commands {
		got, want := ours.reply(command), theirs.reply(command)
		for i := range max(len(got), len(want)) {
			var g, w string
			if i < len(got) {
				g = normal(got[i])
			}
			if i < len(want) {
				w = normal(want[i])
			}
			if g != w {
				t.Errorf("%s:\n    ours %.2000s\n dovecot %.2000s", command, g, w)
			}
		}
	}
}

// TestDovecot_corpus is TestDovecot with generated mail, or that of the maildir
// MAILBENCH_CORPUS.
func TestDovecot_corpus(t *testing.T) {
	mail := os.Getenv("MAILBENCH_CORPUS")
	if st, err := os.Stat(filepath.Join(mail, "cur")); err != nil || !st.IsDir() {
		mail = filepath.Join(t.TempDir(), "mail")
		if _, err := corpus.WriteMaildir(t.Context(), mail, corpus.Spec{Messages: 300}, nil); err != nil {
			t.Fatal(err)
		}
		withoutPassed(t, filepath.Join(mail, "cur"))
	}
	theirs, ours := rival(t, mail)
	commands := []string{"FETCH 1:* (FLAGS UID RFC822.SIZE INTERNALDATE)", "FETCH 1:* ENVELOPE", "FETCH 1:* BODYSTRUCTURE", "FETCH 1:* BODY",
		"FETCH 1:* BODY.PEEK[HEADER.FIELDS (SUBJECT FROM RECEIVED)]", "FETCH 1:* BODY.PEEK[]", "FETCH 1:* BODY.PEEK[1]", "FETCH 1:* BODY.PEEK[1.MIME]", "FETCH 1:* BODY.PEEK[2]"}
	for _, word := range []string{"patch", "re:", "the", "PGP", "linux", "zq", "ä", "é", "version", "="} {
		for _, key := range []string{"SUBJECT", "FROM", "TO", "CC", "BODY", "TEXT", "HEADER Received", "HEADER Message-ID"} {
			commands = append(commands, "SEARCH CHARSET UTF-8 "+key+" \""+word+"\"")
		}
	}
	for _, date := range []string{"1-Jan-2005", "15-Jun-2014", "1-Feb-2018", "7-Mar-2022"} {
		commands = append(commands, "SEARCH SENTSINCE "+date, "SEARCH SENTBEFORE "+date, "SEARCH SENTON "+date, "SEARCH SINCE "+date)
	}
	commands = append(commands, "SEARCH LARGER 5000", "SEARCH SMALLER 2000", "THREAD REFERENCES UTF-8 SUBJECT patch", "SORT (SUBJECT DATE) UTF-8 BODY linux", "SORT (SIZE) UTF-8 ALL")
	compare(t, theirs, ours, commands)
}

// withoutPassed takes P off the names in dir: ours is the keyword $Forwarded,
// theirs nothing (doc.go).
func withoutPassed(t *testing.T, dir string) {
	t.Helper()
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range names {
		base, flags, ok := strings.Cut(e.Name(), ":2,")
		if !ok || !strings.Contains(flags, "P") {
			continue
		}
		to := base + ":2," + strings.ReplaceAll(flags, "P", "")
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
}

var flagsList = regexp.MustCompile(`FLAGS \([^)]*\)`)

// same are what is told in another way on purpose: theirs, ours.
var same = strings.NewReplacer(
	// A part that is not there is NIL.
	`] ""`, `] NIL`,
	// The host of an address without one is empty.
	`"MISSING_DOMAIN"`, `""`,
	// Folds and tabs stay in an ENVELOPE.
	"\t", " ",
	// A part that says nothing of its charset has none to tell.
	`("charset" "us-ascii")`, "NIL",
	// The line end before a delimiter belongs to it (RFC 2046 section 5.1.1), also
	// behind the last delimiter of a multipart inside.
	`--in--\r\n"`, `--in--"`, `"7bit" 386`, `"7bit" 384`, `"mixed") 18`, `"mixed") 17`, `"in") NIL NIL NIL) 18`, `"in") NIL NIL NIL) 17`,
	// No \Recent.
	` \Recent`, ``, `\Recent`, ``,
)

// normal brings an answer into the form in which both give it.
func normal(s string) string {
	s = strings.TrimRight(same.Replace(s), " ")
	s = flagsList.ReplaceAllStringFunc(s, func(f string) string {
		words := strings.Fields(f[len("FLAGS (") : len(f)-1])
		slices.Sort(words)
		return "FLAGS (" + strings.Join(words, " ") + ")"
	})
	return s
}
