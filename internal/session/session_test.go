package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mailbench/index"
	"mailbench/index/column"
)

// letters are the messages of the test mailbox.
func letters() []string {
	return []string{
		"From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nSubject: apples\r\nDate: Thu, 1 Jan 2015 10:00:00 +0000\r\nMessage-ID: <1@x>\r\n\r\nfirst text\r\n",
		"From: Bob <bob@example.org>\nTo: ann@example.org\nSubject: Re: apples\nDate: Fri, 2 Jan 2015 10:00:00 +0000\nMessage-ID: <2@x>\nIn-Reply-To: <1@x>\nReferences: <1@x>\n\nsecond text\n",
		"From: \"Zoë, Z\" <zoe@example.net>\nSubject: =?utf-8?q?B=C3=A4nke?=\nDate: Thu, 1 Jan 2015 09:00:00 -0500\nMessage-ID: <3@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ==\n--b\nContent-Type: text/html\n\n<p>hi</p>\n--b--\n",
	}
}

// maildirOf makes a maildir of letters, whose flags are those behind the colon.
func maildirOf(t testing.TB, flags ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mail")
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, l := range letters() {
		f := ""
		if i < len(flags) {
			f = flags[i]
		}
		deliver(t, dir, i, f, l)
	}
	return dir
}

func deliver(t testing.TB, dir string, i int, flags, text string) {
	t.Helper()
	name := filepath.Join(dir, "cur", fmt.Sprintf("%d.M%dP7.host:2,%s", 1420106400+i, i, flags))
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func served(t testing.TB, cfg Config) *Mailboxes {
	t.Helper()
	if cfg.Design == nil {
		cfg.Design = column.Design
	}
	if cfg.IndexDir == "" {
		cfg.IndexDir = filepath.Join(t.TempDir(), "index")
	}
	cfg.Options = index.Options{UIDValidity: 77}
	m, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// A talk is a connection.
type talk struct {
	t testing.TB
	w io.Writer
	r *bufio.Reader
	n int
}

func dial(t testing.TB, m *Mailboxes) *talk {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(context.Background(), server, m)
		server.Close()
	}()
	t.Cleanup(func() { client.Close(); <-done })
	k := &talk{t: t, w: client, r: bufio.NewReader(client)}
	if s := k.line(); !strings.HasPrefix(s, "* PREAUTH ") {
		t.Fatalf("greeting %q", s)
	}
	return k
}

func (k *talk) line() string {
	k.t.Helper()
	s, err := k.r.ReadString('\n')
	if err != nil {
		k.t.Fatalf("after %q: %v", s, err)
	}
	return s
}

// say sends a command and returns what is answered, the tag left out.
func (k *talk) say(command string) string {
	k.t.Helper()
	k.n++
	tag := fmt.Sprintf("a%d ", k.n)
	go fmt.Fprintf(k.w, "%s%s\r\n", tag, command)
	var out strings.Builder
	for {
		s := k.line()
		if rest, ok := strings.CutPrefix(s, tag); ok {
			return out.String() + rest
		}
		out.WriteString(s)
	}
}

func newPipe() (server, client net.Conn) {
	client, server = net.Pipe()
	return server, client
}
