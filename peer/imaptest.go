package peer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mailbench/peer/imap"
	"mailbench/peer/proc"
)

// imaptest is Dovecot's own load generator, as a driver: what it does is its
// own affair and changes from version to version. It can only connect and log
// in, so it speaks through a relay. Nothing that it prints is read: messages are
// counted in the mailbox afterwards, commands by the relay.
const (
	imaptestAppend = "imaptest append" // nothing but APPEND, as fast as each client can
	imaptestMix    = "imaptest mix"    // what it does by itself
)

// imaptestProgram is where it is, or why there are no such rows.
func imaptestProgram(given string) (string, error) {
	name := given
	if name == "" {
		name = "imaptest"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &Missing{What: named(given, "imaptest"), Install: "build it from its source, github.com/dovecot/imaptest, which wants dovecot-dev"}
	}
	return filepath.Abs(path)
}

// imaptestArgs are its arguments, of which those after the "-" are the only
// commands it gives.
func imaptestArgs(driver string, port, clients, seconds int, mbox string) []string {
	args := []string{
		"host=127.0.0.1", fmt.Sprint("port=", port), "user=mailbench", "pass=mailbench", "mbox=" + mbox,
		fmt.Sprint("clients=", clients), fmt.Sprint("secs=", seconds), "seed=1", "no_tracking",
	}
	if driver == imaptestAppend {
		args = append(args, "msgs=10000000", "-", "append=100,0", "logout=0")
	}
	return args
}

// writeCRLFMbox writes messages, whose lines end in CRLF, as imaptest wants them.
func writeCRLFMbox(path string, messages [][]byte) error {
	var b bytes.Buffer
	for _, m := range messages {
		b.WriteString("From mailbench@localhost Fri Jan  1 00:00:00 2010\r\n")
		b.Write(m)
		b.WriteString("\r\n")
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// imaptestRun is a sample of a row whose driver is imaptest.
func (o *AppendOptions) imaptestRun(ctx context.Context, box appendBox, run *Run, row *AppendRow, messages [][]byte) (sample AppendSample, err error) {
	mbox := filepath.Join(run.Dir, "imaptest.mbox")
	if err := writeCRLFMbox(mbox, messages); err != nil {
		return sample, err
	}
	server, err := box.Start(ctx)
	if err != nil {
		return sample, err
	}
	defer server.Kill()
	relay, err := newRelay(ctx, server)
	if err != nil {
		return sample, err
	}
	defer relay.Close()
	log := filepath.Join(run.Dir, "imaptest.log")
	p, err := proc.Start(ctx, proc.Command{
		Path: o.Imaptest, Args: imaptestArgs(row.Driver, relay.Port(), row.Clients, o.Seconds, mbox),
		Env: append([]string{"HOME=" + run.Dir, "PATH=/usr/bin:/bin", "LC_ALL=C"}, o.Env...),
		Dir: run.Dir, User: run.User, Stderr: log,
	})
	if err != nil {
		return sample, err
	}
	use, err := p.Wait(ctx)
	if err != nil {
		return sample, err
	}
	if use.Exit != 0 {
		return sample, fmt.Errorf("imaptest: exit status %d: %s", use.Exit, lastLine(log))
	}
	// It is told how long to run, and takes a moment to begin and to end.
	sample.Wall = max(use.Wall, time.Duration(o.Seconds)*time.Second)
	if err := relay.Close(); err != nil {
		return sample, err
	}
	if err := server.End(ctx); err != nil {
		return sample, err
	}
	sum := usageOf(server)
	sample.CPU, sample.Written = sum.cpu, sum.written
	sample.Messages = int(relay.ok.Load())
	if row.Driver == imaptestAppend {
		sample.Messages, err = messagesIn(ctx, box)
	}
	if err == nil && sample.Messages == 0 {
		err = fmt.Errorf("imaptest: it has done nothing in %d sessions, %d of its commands were refused", relay.sessions.Load(), relay.refused.Load())
	}
	return sample, err
}

// messagesIn counts the mailbox in a new session.
func messagesIn(ctx context.Context, box appendBox) (n int, err error) {
	s, err := connect(ctx, box, 1)
	if err != nil {
		return 0, err
	}
	c := imap.New(s.conns[0])
	if _, err = c.Greeting(ctx); err == nil {
		_, err = c.Do(ctx, "EXAMINE INBOX", func(line []byte) {
			if digits, ok := strings.CutSuffix(string(line), " EXISTS"); ok {
				fmt.Sscan(digits, &n)
			}
		})
	}
	if err == nil {
		err = c.Logout(ctx)
	}
	if err != nil {
		s.kill()
		return 0, err
	}
	return n, s.end(ctx)
}
