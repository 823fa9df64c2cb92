package imap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A script is what a server says after each line that it reads: the lines it
// expects are those before "=". It ends with the connection closed.
func serve(t *testing.T, steps ...[2]string) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirs.Close()
		r := bufio.NewReader(theirs)
		for _, s := range steps {
			if s[0] != "" {
				got := make([]byte, len(s[0]))
				if _, err := io.ReadFull(r, got); err != nil || string(got) != s[0] {
					t.Errorf("server got %q, want %q (%v)", got, s[0], err)
					return
				}
			}
			if _, err := io.WriteString(theirs, s[1]); err != nil {
				t.Errorf("server: %v", err)
				return
			}
		}
	}()
	t.Cleanup(func() { ours.Close(); <-done })
	return New(ours)
}

func TestDo(t *testing.T) {
	literal := "* 1 FETCH (BODY[] {12}\r\na2 OK no\r\n{3 FLAGS ({2}\r\n\r\n))\r\n"
	reply := "* THREAD (1)(2 3)\r\n* ok [X] {5}\r\n" + literal + "* SEARCH\r\n"
	c := serve(t, [2]string{"", "* PREAUTH [CAPABILITY IMAP4rev1] ready\r\n"},
		[2]string{"a1 UID THREAD REFERENCES UTF-8 ALL\r\n", reply + "a1 OK [X] Done {3}\r\n"},
		[2]string{"a2 BOGUS\r\n", "* 2 EXISTS\r\na2 BAD Unknown.\r\n"},
		[2]string{"a3 NOOP\r\n", "a3 no\r\n"})
	var events []string
	c.Sending = func() { events = append(events, "sending") }
	c.Replied = func() { events = append(events, "replied") }
	if r, err := c.Greeting(t.Context()); err != nil || r.Status != "PREAUTH" || r.Text != "[CAPABILITY IMAP4rev1] ready" {
		t.Fatalf("%+v %v", r, err)
	}
	c.Digest = "thread"
	var lines []string
	r, err := c.Do(t.Context(), "UID THREAD REFERENCES UTF-8 ALL", func(l []byte) { lines = append(lines, string(l)) })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"THREAD (1)(2 3)", "ok [X] {5}", strings.TrimSuffix(literal[2:], "\r\n"), "SEARCH"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if r.Status != "OK" || r.Text != "[X] Done {3}" || r.Bytes != int64(len(reply)+len("a1 OK [X] Done {3}\r\n")) || r.LongestLine != int64(len(literal)) {
		t.Errorf("%+v", r)
	}
	if sum := xxhash.Sum64String("THREAD (1)(2 3)\n"); r.Digest != sum {
		t.Errorf("digest %x, want %x", r.Digest, sum)
	}
	var status *StatusError
	if _, err := c.Do(t.Context(), "BOGUS", nil); !errors.As(err, &status) || status.Status != "BAD" || status.Text != "Unknown." || status.Command != "BOGUS" {
		t.Errorf("%v", err)
	}
	if r, err := c.Do(t.Context(), "NOOP", nil); !errors.As(err, &status) || status.Status != "NO" || r.Status != "NO" {
		t.Errorf("%v", err)
	}
	if got := strings.Join(events, " "); got != "sending replied sending replied sending replied" {
		t.Error(got)
	}
}

func TestDo_errors(t *testing.T) {
	for name, c := range map[string]struct{ reply, want string }{
		"end":            {"* THREAD (1", `unexpected EOF (last seen: "* THREAD (1")`},
		"end of nothing": {"", `unexpected EOF (last seen: nothing)`},
		"end of literal": {"* 1 FETCH (BODY[] {100}\r\nabc", `unexpected EOF (last seen: "* 1 FETCH (BODY[] {100}")`},
		"bye":            {"* 1 EXISTS\r\n* BYE Out of memory\r\n", "NOOP: BYE Out of memory"},
		"foreign tag":    {"a99 OK\r\n", `not a line of IMAP: "a99 OK\r\n"`},
		"no tag":         {"Segmentation fault\r\n", `not a line of IMAP: "Segmentation fault\r\n"`},
		"empty":          {"\r\n", "not a line of IMAP"},
		"continuation":   {"+ idling\r\n", `wants more: "+ idling"`},
		"no status":      {"a1 FINE\r\n", "not a line of IMAP"},
	} {
		t.Run(name, func(t *testing.T) {
			client := serve(t, [2]string{"a1 NOOP\r\n", c.reply})
			_, err := client.Do(t.Context(), "NOOP", nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "imap: NOOP: ") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	if _, err := serve(t).Do(t.Context(), "NOOP\r\na2 LOGOUT", nil); err == nil {
		t.Error("two lines were sent")
	}
	for _, greeting := range []string{"* BYE go away\r\n", "hello\r\n", "a1 OK\r\n", "* 1 EXISTS\r\n", ""} {
		if r, err := serve(t, [2]string{"", greeting}).Greeting(t.Context()); err == nil {
			t.Errorf("%q: %+v", greeting, r)
		}
	}
}

// A server that hangs is left when ctx ends, its last line in the error; with
// another ctx the connection would work.
func TestTimeout(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		r := bufio.NewReader(theirs)
		r.ReadString('\n')
		io.WriteString(theirs, "* OK Searched 30% of the mailbox\r\n")
		r.ReadString('\n')
		io.WriteString(theirs, "a2 OK\r\n")
	}()
	c := New(ours)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("timed out after 50ms"))
	defer cancel()
	_, err := c.Do(ctx, "UID SORT (DATE) UTF-8 ALL", nil)
	if want := `imap: UID SORT (DATE) UTF-8 ALL: timed out after 50ms (last seen: "* OK Searched 30% of the mailbox")`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// closing is a connection without deadlines.
type closing struct {
	io.Reader
	io.Writer
	closed chan struct{}
}

func (c closing) Close() error { close(c.closed); return nil }

func TestTimeout_withoutDeadlines(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	c := closing{r, io.Discard, make(chan struct{})}
	go func() { <-c.closed; r.CloseWithError(io.ErrClosedPipe) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := New(c).Do(ctx, "NOOP", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestAppend(t *testing.T) {
	msg := "Subject: x\r\n\r\nbody {3}\r\n"
	capability := func(caps string) [2]string {
		return [2]string{"a1 CAPABILITY\r\n", "* CAPABILITY IMAP4rev1 " + caps + "\r\na1 OK\r\n"}
	}
	command := `a2 APPEND "a \"b\\" (\Seen $Label) "01-Feb-2003 04:05:06 +0000" {24`
	flags, date := []string{`\Seen`, "$Label"}, "01-Feb-2003 04:05:06 +0000"
	big := strings.Repeat("x", 4097)
	for name, c := range map[string]struct {
		msg   string
		steps [][2]string
		want  string // in the error
	}{
		"LITERAL+": {msg, [][2]string{capability("literal+"), {command + "+}\r\n" + msg + "\r\n", "* 1 EXISTS\r\na2 OK [APPENDUID 1 1] done\r\n"}}, ""},
		"LITERAL-": {msg, [][2]string{capability("LITERAL-"), {command + "+}\r\n" + msg + "\r\n", "a2 OK [APPENDUID 1 1] done\r\n"}}, ""},
		"neither":  {msg, [][2]string{capability("SORT"), {command + "}\r\n", "* 3 EXISTS\r\n+ go\r\n"}, {msg + "\r\n", "a2 OK [APPENDUID 1 1] done\r\n"}}, ""},
		"too large": {big, [][2]string{capability("LITERAL-"), {strings.TrimSuffix(command, "24") + "4097}\r\n", "+ \r\n"},
			{big + "\r\n", "a2 OK [APPENDUID 1 1] done\r\n"}}, ""},
		"refused":     {msg, [][2]string{capability(""), {command + "}\r\n", "a2 NO [OVERQUOTA] full\r\n"}}, "NO [OVERQUOTA] full"},
		"refused, +":  {msg, [][2]string{capability("LITERAL+"), {command + "+}\r\n" + msg + "\r\n", "a2 NO [TRYCREATE] none\r\n"}}, "NO [TRYCREATE] none"},
		"OK at once":  {msg, [][2]string{capability(""), {command + "}\r\n", "a2 OK\r\n"}}, "OK before"},
		"bye at once": {msg, [][2]string{capability(""), {command + "}\r\n", "* BYE sorry\r\n"}}, "BYE sorry"},
		"end":         {msg, [][2]string{capability(""), {command + "}\r\n", "+ go"}}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := serve(t, c.steps...).Append(t.Context(), `a "b\`, flags, date, []byte(c.msg))
			if c.want == "" && (err != nil || r.Text != "[APPENDUID 1 1] done" || r.Status != "OK") {
				t.Errorf("%+v %v", r, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	for _, bad := range [][2]string{{"a\r\nb", ""}, {"ä", ""}, {"a", "x)\r\n"}} {
		c := serve(t, capability(""))
		if _, err := c.Append(t.Context(), bad[0], []string{bad[1]}, "", nil); err == nil {
			t.Errorf("%q sent", bad)
		}
	}
}

func TestLogout(t *testing.T) {
	c := serve(t, [2]string{"a1 LOGOUT\r\n", "* BYE Logging out\r\na1 OK Logout completed.\r\n"})
	if err := c.Logout(t.Context()); err != nil {
		t.Error(err)
	}
}

// However the bytes of a reply are cut, it is read alike.
func TestDo_anyPieces(t *testing.T) {
	var reply strings.Builder
	for i := range 300 {
		fmt.Fprintf(&reply, "* %d FETCH (FLAGS () BODY[] {%d}\r\n%s)\r\n", i, i, strings.Repeat("\r\n{5}"[:i%5+1], 300)[:i])
		fmt.Fprintf(&reply, "* THREAD %s\r\n", strings.Repeat("(1 2)", i*i/50))
	}
	reply.WriteString("a1 OK done\r\n")
	type result struct {
		r   Response
		sum uint64
		n   int
	}
	var want result
	for name, read := range map[string]func(io.Reader) io.Reader{
		"":         func(r io.Reader) io.Reader { return r },
		"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "with error": iotest.DataErrReader,
	} {
		for _, size := range []int{headSize + 1, 1000, 256 << 10} {
			c := New(struct {
				io.Reader
				io.Writer
			}{read(strings.NewReader(reply.String())), io.Discard})
			c.in.buf = make([]byte, size)
			c.Digest = "THREAD"
			var got result
			h := xxhash.New()
			var err error
			got.r, err = c.Do(t.Context(), "x", func(l []byte) {
				h.Write(l)
				h.WriteString("|")
				got.n++
			})
			got.sum = h.Sum64()
			if err != nil || got.n != 600 || got.r.Bytes != int64(reply.Len()) {
				t.Fatal(name, size, got, err)
			}
			if want.n == 0 {
				want = got
			}
			if got != want {
				t.Errorf("%s, buffer of %d: %+v, want %+v", name, size, got, want)
			}
		}
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"* OK\r\na1 OK\r\n", "* 1 FETCH (X {3}\r\nabc)\r\na1 NO x\r\n", "+ \r\n", "* THREAD (1)\na1 BAD\n", "* BYE", "* x {99999999999999999999}\r\n",
		"* x {3+}\r\nabc{2}\r\n\r\n\r\na1 OK\r\n"} {
		f.Add([]byte(s), 170)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		read := func(size int, conn io.Reader) (Response, []string, bool) {
			c := New(struct {
				io.Reader
				io.Writer
			}{conn, io.Discard})
			c.in.buf = make([]byte, size)
			c.Digest = "THREAD"
			var lines []string
			r, err := c.Do(t.Context(), "x", func(l []byte) { lines = append(lines, string(l)) })
			return r, lines, err == nil
		}
		r1, l1, ok1 := read(64<<10, bytes.NewReader(b))
		r2, l2, ok2 := read(headSize+1+max(0, size)%1000, iotest.HalfReader(bytes.NewReader(b)))
		if r1 != r2 || ok1 != ok2 || !slices.Equal(l1, l2) {
			t.Errorf("%+v %v %q\n%+v %v %q", r1, ok1, l1, r2, ok2, l2)
		}
		if r1.Bytes > int64(len(b)) || r1.LongestLine > r1.Bytes {
			t.Errorf("%+v of %d bytes", r1, len(b))
		}
	})
}

// Reading the reply of a large mailbox needs no memory.
func BenchmarkThreadReply(b *testing.B) {
	var line bytes.Buffer
	line.WriteString("* THREAD ")
	for i := range 300_000 {
		fmt.Fprintf(&line, "(%d %d)", i+1, i+2)
	}
	line.WriteString("\r\na1 OK\r\n")
	b.SetBytes(int64(line.Len()))
	b.ReportAllocs()
	for b.Loop() {
		c := New(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(line.Bytes()), io.Discard})
		c.Digest = "THREAD"
		if _, err := c.Do(b.Context(), "UID THREAD", nil); err != nil {
			b.Fatal(err)
		}
	}
}
