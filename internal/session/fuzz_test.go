package session

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mailbench/internal/mime"
	"mailbench/store/box"
)

// monologue is a client that does not listen.
type monologue struct {
	io.Reader
	out bytes.Buffer
}

func (m *monologue) Write(b []byte) (int, error) {
	if m.out.Len() < 1<<20 {
		m.out.Write(b)
	}
	return len(b), nil
}

// FuzzServe: whatever is sent, the session ends when that does, and answers
// with lines only.
func FuzzServe(f *testing.F) {
	dir := maildirOf(f, "S", "", "FT")
	read := served(f, Config{Path: dir})
	write := served(f, Config{Path: filepath.Join(f.TempDir(), "mail"), Store: formatMdbox, Write: true, Fsync: box.Never, Literal: 1000})
	for _, s := range []string{
		"a NOOP\r\n", "a SELECT INBOX\r\nb FETCH 1:* (FLAGS BODY.PEEK[HEADER.FIELDS (SUBJECT)]<0.10>)\r\nc LOGOUT\r\n",
		"a SELECT INBOX\r\nb UID SEARCH CHARSET UTF-8 OR (SUBJECT {3}\r\nabc) NOT 1:3,*\r\nc UID THREAD REFERENCES UTF-8 ALL\r\nd SORT (REVERSE DATE) UTF-8 UNDELETED\r\n",
		"a APPEND INBOX (\\Seen $x) \" 1-Jan-2015 10:00:00 +0000\" {3+}\r\nabc\r\nb SELECT INBOX\r\nc STORE 1:* +FLAGS.SILENT (\\Deleted)\r\nd EXPUNGE\r\ne CLOSE\r\n",
		"a SELECT INBOX\r\nb IDLE\r\nDONE\r\nc STATUS INBOX (MESSAGES)\r\nd LIST \"\" (\"*\" %)\r\n", "a {5}\r\n", "a APPEND x {99999999999}\r\n", "\r\n\r\n* x\r\n", "a LIST \"\" ()\n",
		"a SELECT INBOX\r\nb FETCH 3 (BODY[1.MIME] BODY BODYSTRUCTURE ENVELOPE RFC822.SIZE BODY[2]<1.1>)\r\n",
	} {
		f.Add([]byte(s))
	}
	tagged := regexp.MustCompile(`^(\* |\+ |[!-~]+ (OK|NO|BAD) )`)
	f.Fuzz(func(t *testing.T, said []byte) {
		for _, m := range []*Mailboxes{read, write} {
			ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
			c := &monologue{Reader: bytes.NewReader(said)}
			Serve(ctx, c, m)
			if ctx.Err() != nil {
				t.Error("it does not end")
			}
			stop()
			out := c.out.String()
			if c.out.Len() >= 1<<20 {
				continue
			}
			for out != "" {
				line, rest, ok := strings.Cut(out, "\r\n")
				if !ok || !tagged.MatchString(line) {
					t.Fatalf("%q is answered by %q", said, c.out.String())
				}
				for {
					size, _, literal := literalAt([]byte(line))
					if !literal {
						break
					}
					if int(size) > len(rest) {
						t.Fatalf("%q: a literal of %d bytes has %d", said, size, len(rest))
					}
					line, rest, _ = strings.Cut(rest[size:], "\r\n")
				}
				out = rest
			}
		}
	})
}

// FuzzShort: the short form of any structure is a list as long as the
// parentheses say.
func FuzzShort(f *testing.F) {
	for _, l := range append(letters(), odd...) {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		long := mime.AppendBodyStructure(nil, msg)
		short := appendShort(nil, long)
		if len(short) > len(long) || again(short) != string(short) {
			t.Errorf("%s of %s", short, long)
		}
		appendShort(nil, msg) // nor does anything else hurt
	})
}

// again shortens what is short: nothing goes.
func again(s []byte) string { return string(appendShort(nil, s)) }
