package session

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// Serve speaks IMAP with client, already authenticated, until LOGOUT, the end of
// what is sent, or the end of ctx, which closes client if it can be closed. One
// that goes away is no error.
func Serve(ctx context.Context, client io.ReadWriter, m *Mailboxes) error {
	to := &outlet{w: client}
	w := bufio.NewWriterSize(to, 64<<10)
	c := &conn{ctx: ctx, m: m, w: w, to: to, r: reader{r: bufio.NewReaderSize(client, 16<<10), w: w, limit: m.cfg.Literal}}
	defer c.leave()
	if closer, ok := client.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { closer.Close() })
		defer stop()
	}
	c.print("* PREAUTH [CAPABILITY ", capabilities, "] mailbench session\r\n")
	if err := w.Flush(); err != nil {
		return ended(err)
	}
	for !c.bye {
		if err := c.next(); err != nil {
			return ended(err)
		}
	}
	return nil
}

// ended is nil for what is no more than a client that is gone.
func ended(err error) error {
	if errors.Is(err, errFlood) {
		return err
	}
	return nil
}

// next reads a command and answers it.
func (c *conn) next() error {
	b, err := c.r.command()
	var long *tooLong
	switch {
	case errors.As(err, &long):
		c.print(long.tag, " NO ", long.why, "\r\n")
		return c.w.Flush()
	case errors.Is(err, errFlood):
		c.print("* BYE ", "too much of nothing\r\n")
		return errors.Join(err, c.w.Flush())
	case err != nil:
		return err
	}
	if len(b) == 0 {
		return nil // an empty line
	}
	tag := tagOf(b)
	if tag == "*" {
		c.print("* BAD no tag\r\n")
		return c.w.Flush()
	}
	p := &parser{b: b, at: len(tag)}
	p.sp()
	name := strings.ToUpper(p.word(atomStop))
	if p.err != nil {
		c.print(tag, " BAD no command\r\n")
		return c.w.Flush()
	}
	code, err := c.do(name, p)
	if code == "" {
		code = "OK "
	}
	var wrong bad
	var no refusal
	switch {
	case err == nil:
		c.print(tag, " ", code, name, " completed\r\n")
	case errors.As(err, &wrong):
		c.print(tag, " BAD ", line(wrong), "\r\n")
	case errors.As(err, &no):
		c.print(tag, " NO ", line(no), "\r\n")
	default:
		c.print(tag, " NO ", why(err), "\r\n")
	}
	return c.w.Flush()
}

// A command is what a name does. code stands before the text of its OK:
// "OK [READ-ONLY] ".
type command struct {
	do       func(c *conn, p *parser) (code string, err error)
	selected bool // it needs a selected mailbox
	quiet    bool // what has happened to the mailbox is not told at its end
}

// do does a command and tells what has happened to the mailbox.
func (c *conn) do(name string, p *parser) (code string, err error) {
	if name == "UID" {
		p.sp()
		name = "UID " + p.upper()
	}
	cmd, ok := lookup(name)
	switch {
	case !ok && isKnown(name):
		return "", refusal(name + " is not supported by this server")
	case !ok:
		return "", bad("no command " + name)
	case cmd.selected && c.view == nil:
		return "", bad("no mailbox is selected")
	}
	if err := c.m.rest(); err != nil {
		return "", err
	}
	code, err = cmd.do(c, p)
	if cmd.quiet || c.view == nil || c.bye {
		return code, err
	}
	// FETCH, STORE and SEARCH by sequence number must not be told of expunges,
	// nor THREAD and SORT, whose answers have such numbers.
	expunges := true
	switch name {
	case "FETCH", "STORE", "SEARCH", "SORT", "THREAD":
		expunges = false
	}
	how := lookState
	if name == "NOOP" || name == "CHECK" {
		how = lookFully
	}
	if herr := c.hear(how, expunges, nil); err == nil {
		err = herr
	}
	return code, err
}

// isKnown reports whether a command is one of IMAP4rev1 or of a well-known
// extension that is not there.
func isKnown(name string) bool {
	switch name {
	case "LOGIN", "AUTHENTICATE", "STARTTLS", "RENAME", "SUBSCRIBE", "UNSUBSCRIBE", "MOVE",
		"UID MOVE", "ENABLE", "GETQUOTA", "GETQUOTAROOT", "SETQUOTA", "GETACL", "SETACL", "MYRIGHTS",
		"LISTRIGHTS", "DELETEACL", "GETMETADATA", "SETMETADATA", "COMPRESS", "NOTIFY", "XLIST", "UNAUTHENTICATE":
		return true
	}
	return false
}
