package peer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"mailbench/peer/imap"
)

// relayed is a relay before an empty maildir of the real Dovecot.
func relayed(t *testing.T) (context.Context, *relay, appendServer) {
	t.Helper()
	sys := NewDovecot(DovecotOptions{})
	if err := sys.Available(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	run := indexerRun(t, 1)
	run.Corpus = ""
	inst, err := sys.Prepare(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	server, err := (&pipeBox{inst}).Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRelay(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return ctx, r, server
}

func dialRelay(t *testing.T, r *relay) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.Port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRelay has several clients log in, append, and read all back through the
// relay.
func TestRelay(t *testing.T) {
	t.Parallel()
	ctx, r, server := relayed(t)
	const clients = 3
	messages := newAppended(5, clients*2)
	var done []*imap.Client
	for i := range clients {
		c := imap.New(dialRelay(t, r))
		if g, err := c.Greeting(ctx); err != nil || g.Status != "OK" {
			t.Fatalf("greeting %+v: %v", g, err)
		}
		if _, err := c.Do(ctx, `LOGIN "anybody" "secret"`, nil); err != nil {
			t.Fatal(err)
		}
		for _, m := range messages[i*2 : i*2+2] {
			if _, err := c.Append(ctx, "INBOX", nil, "", m); err != nil {
				t.Fatal(err)
			}
		}
		var status *imap.StatusError
		if _, err := c.Do(ctx, "SELECT nowhere", nil); !errors.As(err, &status) || status.Status != "NO" {
			t.Errorf("a mailbox that is not there: %v", err)
		}
		done = append(done, c)
	}
	// The replies hold literals whose lines look like tagged ones.
	lure := []byte("Subject: x\r\n\r\na1 OK no\r\na2 BAD no\r\n")
	if _, err := done[0].Append(ctx, "INBOX", nil, "", lure); err != nil {
		t.Fatal(err)
	}
	if _, err := done[0].Do(ctx, "SELECT INBOX", nil); err != nil {
		t.Fatal(err)
	}
	bodies := map[string]bool{}
	if _, err := done[0].Do(ctx, "UID FETCH 1:* BODY.PEEK[]", func(line []byte) {
		if b, ok, err := fetchedBody(line); ok && err == nil {
			bodies[string(b)] = true
		}
	}); err != nil {
		t.Fatal(err)
	}
	for i, m := range append(messages, lure) {
		if !bodies[string(m)] {
			t.Errorf("message %d is not there", i)
		}
	}
	for _, c := range done {
		if err := c.Logout(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := server.End(ctx); err != nil {
		t.Error(err)
	}
	// Each: CAPABILITY, two APPEND, LOGOUT; the first: APPEND, SELECT, FETCH.
	ok, refused, sessions := r.ok.Load(), r.refused.Load(), r.sessions.Load()
	if sessions != clients || refused != clients || ok != clients*4+3 && ok != clients*3+3 {
		t.Errorf("%d sessions, %d OK, %d refused", sessions, ok, refused)
	}
	if n := len(server.Procs()); n != clients {
		t.Errorf("%d processes", n)
	}
}

// TestRelay_beforeLogin speaks to the part that is the relay's own.
func TestRelay_beforeLogin(t *testing.T) {
	for _, c := range []struct {
		name, says, want string
		in, bad          bool
	}{
		{"login", "a LOGIN u p\r\nb SELECT x\r\n", "a OK [CAPABILITY X] logged in", true, false},
		{"literals", "a login {1}\r\nu {1+}\r\np\r\nb NOOP\r\n", "+ go on\r\na OK [CAPABILITY X] logged in", true, false},
		{"questions", "a CAPABILITY\r\nb noop\r\nc AUTHENTICATE PLAIN\r\nd LOGOUT\r\n",
			"* CAPABILITY X\r\na OK done\r\nb OK done\r\nc BAD not before LOGIN\r\n* BYE logging out\r\nd OK done", false, false},
		{"gone", "a LOG", "", false, false},
		{"a long line", strings.Repeat("x", 100_000), "", false, true},
		{"a long literal", "a LOGIN {9999999999}\r\n", "", false, true},
		{"rubbish", "\r\n}\r\n{}\r\n\x00\r\nz LOGOUT\r\n", " BAD not before LOGIN\r\n} BAD not before LOGIN\r\n{} BAD not before LOGIN\r\n\x00 BAD not before LOGIN\r\n* BYE logging out\r\nz OK done", false, false},
	} {
		var out bytes.Buffer
		in, err := relayLogin(&out, bufio.NewReaderSize(strings.NewReader(c.says), 64<<10), "X")
		got := strings.TrimSuffix(strings.TrimPrefix(out.String(), "* OK [CAPABILITY X] relay\r\n"), "\r\n")
		if got != c.want || (in != nil) != c.in || (err != nil) != c.bad {
			t.Errorf("%s: %q, in %v, %v", c.name, got, in != nil, err)
		}
		if in != nil {
			if rest, _ := io.ReadAll(in); !strings.HasPrefix(string(rest), "b ") {
				t.Errorf("%s: what follows is %q", c.name, rest)
			}
		}
	}
}

func TestAnnounced(t *testing.T) {
	for line, want := range map[string]string{
		"a LOGIN {3}": "3 false", "a LOGIN {3+}": "3 true", "{0}": "0 false",
		"a": "", "": "", "}": "", "{}": "", "{+}": "", "{++}": "", "{+3}": "", "{-3}": "", "{3": "", "{x}": "", "{99999999999999999999}": "",
	} {
		got := ""
		if n, plus, ok := announced([]byte(line)); ok {
			got = fmt.Sprint(n, plus)
		}
		if got != want {
			t.Errorf("%q: %q, not %q", line, got, want)
		}
	}
}

// TestRelay_serverGone holds that a client is not left waiting.
func TestRelay_serverGone(t *testing.T) {
	t.Parallel()
	ctx, r, server := relayed(t)
	c := imap.New(dialRelay(t, r))
	if _, err := c.Greeting(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(ctx, "LOGIN u p", nil); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if _, err := c.Do(ctx, "NOOP", nil); err == nil {
		t.Error("a reply of a server that is gone")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", r.Port())); err == nil {
		t.Error("it still listens")
	}
}
