//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"mailbench/index/designs"
)

// said runs a session in a process of its own, says lines and returns what it
// answers, line by line.
func said(t testing.TB, args []string, lines ...string) []string {
	t.Helper()
	cmd := sessionProcess(args...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\r\n") + "\r\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, stderrOf(err))
	}
	return strings.Split(strings.TrimSuffix(string(out), "\r\n"), "\r\n")
}

func sessionProcess(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"session"}, args...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// TestSession_answers holds what a session answers against the commands of the
// same name, for each form of mail and each design; and that nothing of the mail
// is touched.
func TestSession_answers(t *testing.T) {
	dir := home(t)
	forms := boxes(t, dir)
	before := snapshot(t, forms[0].path)
	check := func(b box, more ...string) {
		t.Helper()
		var lines, want []string
		for i, alg := range []string{"references", "refs", "orderedsubject"} {
			lines = append(lines, fmt.Sprintf("t%d UID THREAD %s UTF-8 ALL", i, strings.ToUpper(alg)))
			want = append(want, strings.TrimSpace(must(t, append(append([]string{"thread", "-alg", alg}, more...), b.path)...)))
		}
		for i, keys := range []string{"date", "subject", "reverse from size", "arrival", "displayto"} {
			lines = append(lines, fmt.Sprintf("s%d UID SORT (%s) UTF-8 ALL", i, keys))
			want = append(want, strings.TrimSpace(must(t, append(append([]string{"sort", "-keys", keys}, more...), b.path)...)))
		}
		got := said(t, append(append([]string{}, more...), b.path), append(append([]string{"a SELECT INBOX"}, lines...), "z LOGOUT")...)
		var answers []string
		for _, l := range got {
			if strings.HasPrefix(l, "* THREAD") || strings.HasPrefix(l, "* SORT") {
				answers = append(answers, l)
			}
		}
		if !slices.Equal(answers, want) {
			t.Errorf("%s %q: %q, want %q in %q", b.name, more, answers, want, got)
		}
	}
	for _, b := range forms {
		check(b)
	}
	for _, d := range designs.Names() {
		check(forms[0], "-design", d, "-index-dir", filepath.Join(dir, "ix", d))
	}
	if after := snapshot(t, forms[0].path); !maps.Equal(before, after) {
		t.Errorf("the mail was %v, is %v", before, after)
	}
}

// TestSession_refuses what cannot be served, in one line, before anything is said.
func TestSession_refuses(t *testing.T) {
	dir := home(t)
	md := boxes(t, dir)
	for _, args := range [][]string{
		{}, {filepath.Join(dir, "nothing")}, {"-design", "nothing", md[0].path}, {"-store", "nothing", md[0].path}, {"-fsync", "now", md[0].path},
		{"-write", md[1].path}, {"-index-dir", md[0].path, md[0].path}, {"-listen", md[1].path, md[0].path},
	} {
		got := child(t, append([]string{"session"}, args...)...)
		if got.code != 2 || got.out != "" || strings.Count(got.errs, "\n") != 1 {
			t.Errorf("%q: %+v", args, got)
		}
	}
	said(t, []string{"-index-dir", filepath.Join(dir, "ix"), md[0].path}, "a SELECT INBOX", "b LOGOUT")
	if got := child(t, "session", "-index-dir", filepath.Join(dir, "ix"), md[1].path); got.code != 2 || !strings.Contains(got.errs, "holds the index of") {
		t.Errorf("another mailbox's index: %+v", got)
	}
}

// pipes are a process's standard input and output as a connection.
type pipes struct {
	io.Reader
	io.WriteCloser
}

func (pipes) LocalAddr() net.Addr              { return nil }
func (pipes) RemoteAddr() net.Addr             { return nil }
func (pipes) SetDeadline(time.Time) error      { return nil }
func (pipes) SetReadDeadline(time.Time) error  { return nil }
func (pipes) SetWriteDeadline(time.Time) error { return nil }

// TestSession_client: the client of go-imap/v2 over the command's pipes, in a
// store that is made by it.
func TestSession_client(t *testing.T) {
	dir := home(t)
	for _, store := range []string{"maildir", "mbox", "cydir", "sdbox", "mdbox", "sql"} {
		cmd := sessionProcess("-write", "-fsync", "never", "-store", store, filepath.Join(dir, store))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c := imapclient.New(pipes{out, in}, nil)
		for _, m := range mails {
			a := c.Append("INBOX", int64(len(m.text)), &imap.AppendOptions{Flags: []imap.Flag{imap.FlagSeen}})
			io.WriteString(a, m.text)
			if err := a.Close(); err != nil {
				t.Fatalf("%s: %v %s", store, err, errs.String())
			}
			if _, err := a.Wait(); err != nil {
				t.Fatalf("%s: APPEND: %v", store, err)
			}
		}
		sel, err := c.Select("INBOX", nil).Wait()
		if err != nil || sel.NumMessages != 4 {
			t.Fatalf("%s: SELECT: %+v %v", store, sel, err)
		}
		trees, err := c.UIDThread(&imapclient.ThreadOptions{Algorithm: imap.ThreadReferences, SearchCriteria: &imap.SearchCriteria{}}).Wait()
		if err != nil || len(trees) != 2 || !slices.Equal(trees[0].Chain, []uint32{1, 2, 4}) {
			t.Errorf("%s: THREAD: %+v %v", store, trees, err)
		}
		if _, err := c.Store(imap.UIDSetNum(1, 3), &imap.StoreFlags{Op: imap.StoreFlagsAdd, Flags: []imap.Flag{imap.FlagDeleted}}, nil).Collect(); err != nil {
			t.Errorf("%s: STORE: %v", store, err)
		}
		if gone, err := c.Expunge().Collect(); err != nil || len(gone) != 2 {
			t.Errorf("%s: EXPUNGE: %v %v", store, gone, err)
		}
		section := &imap.FetchItemBodySection{Peek: true}
		msgs, err := c.Fetch(imap.SeqSetNum(1, 2), &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{section}}).Collect()
		if err != nil || len(msgs) != 2 || string(msgs[1].FindBodySection(section)) != strings.ReplaceAll(mails[3].text, "\n", "\r\n") {
			t.Errorf("%s: FETCH: %v %v", store, msgs, err)
		}
		if err := c.Logout().Wait(); err != nil {
			t.Errorf("%s: LOGOUT: %v", store, err)
		}
		c.Close()
		if err := cmd.Wait(); err != nil || errs.String() != "" {
			t.Errorf("%s: %v %s", store, err, errs.String())
		}
	}
}

// TestSession_listen: several clients on one socket, which nobody else may use,
// and which goes when the process is told to end.
func TestSession_listen(t *testing.T) {
	dir := home(t)
	name := filepath.Join(dir, "sock")
	// What a killed process left.
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		t.Skip("no unix sockets: ", err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	cmd := sessionProcess("-write", "-fsync", "group", "-store", "mdbox", "-listen", name, filepath.Join(dir, "mail"))
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	dial := func() net.Conn {
		for range 500 {
			if c, err := net.Dial("unix", name); err == nil {
				return c
			}
			time.Sleep(10 * time.Millisecond)
		}
		return nil
	}
	idle := dial() // and says nothing
	if idle == nil {
		t.Fatalf("nobody listens: %s", errs.String())
	}
	defer idle.Close()
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	const clients, each = 30, 5
	var mu sync.Mutex
	uids := map[string]bool{}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c := dial()
			defer c.Close()
			r := bufio.NewReader(c)
			r.ReadString('\n')
			for j := range each {
				body := fmt.Sprintf("Message-ID: <%d.%d@x>\r\n\r\nx\r\n", i, j)
				fmt.Fprintf(c, "a APPEND INBOX {%d+}\r\n%s\r\n", len(body), body)
				answer, _ := r.ReadString('\n')
				mu.Lock()
				if !strings.HasPrefix(answer, "a OK [APPENDUID") || uids[answer] {
					t.Errorf("%q", answer)
				}
				uids[answer] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if got := child(t, "session", "-listen", name, filepath.Join(dir, "mail")); got.code != 2 || !strings.Contains(got.errs, "another process listens") {
		t.Errorf("the second: %+v", got)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || errs.String() != "" {
		t.Errorf("%v %s", err, errs.String())
	}
	if _, err := os.Lstat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket: %v", err)
	}
	got := said(t, []string{"-store", "mdbox", filepath.Join(dir, "mail")}, "a STATUS INBOX (MESSAGES)", "b LOGOUT")
	if !slices.Contains(got, fmt.Sprintf(`* STATUS "INBOX" (MESSAGES %d)`, clients*each)) {
		t.Errorf("%q", got)
	}
}

// TestSession_signal ends a session that waits for its client.
func TestSession_signal(t *testing.T) {
	dir := home(t)
	cmd := sessionProcess(boxes(t, dir)[0].path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
