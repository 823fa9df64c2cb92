// Package imap is the client's side of IMAP for a program that measures
// servers: it sends commands and finds the end of their replies, and parses no
// more of them than that while a clock runs.
//
// A reply is read in pieces of 256 KiB into one buffer. Its lines are put
// together only for those who ask for them, a digest of the wanted ones is made
// as they pass: a THREAD line of tens of megabytes needs no memory.
package imap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Client speaks to one server. It is not for more than one goroutine, and not
// usable after an error that is no NO or BAD.
type Client struct {
	// Sending is called immediately before the bytes of a command are written,
	// Replied when its tagged line has been read: the place to read a server's
	// clock. Nil: not called.
	Sending, Replied func()
	// Digest names the untagged reply whose lines Response.Digest covers: "THREAD".
	// "": none.
	Digest string

	conn io.ReadWriter
	in   reader
	out  []byte
	tags int
	caps []string // nil: not asked yet
}

// A Response is what a server said to one command.
type Response struct {
	Status      string // "OK"
	Text        string // what follows it on the tagged line
	Bytes       int64  // of all lines, the tagged one too
	LongestLine int64  // bytes of a line, literals in it and CRLF counted
	Digest      uint64 // xxhash64 of the lines that Client.Digest names, without "* " and with LF for CRLF at their ends
}

// A StatusError is a NO, a BAD or a BYE.
type StatusError struct{ Command, Status, Text string }

func (e *StatusError) Error() string {
	return fmt.Sprintf("imap: %s: %s %s", e.Command, e.Status, e.Text)
}

// New makes a client of a connection. Reading and writing end with a ctx where c
// has SetReadDeadline and SetWriteDeadline, as proc.Process and net.Conn have,
// or else Close.
func New(c io.ReadWriter) *Client {
	return &Client{conn: c, in: reader{from: c, buf: make([]byte, 256<<10)}}
}

// Greeting reads the server's first line: its Status is "OK" or "PREAUTH". BYE
// is an error.
func (c *Client) Greeting(ctx context.Context) (r Response, err error) {
	defer c.bind(ctx)()
	l, err := c.in.next(wants{text: true}, nil)
	if err != nil {
		return r, c.failed(ctx, "greeting", err)
	}
	r.Bytes, r.LongestLine = l.size, l.size
	r.Status, r.Text = l.word, l.text
	if l.kind != untagged || r.Status != "OK" && r.Status != "PREAUTH" {
		if r.Status == "BYE" {
			return r, &StatusError{"greeting", "BYE", r.Text}
		}
		return r, fmt.Errorf("imap: no greeting: %q", c.in.last())
	}
	return r, nil
}

// Do sends a command, without tag and CRLF, and reads its reply. onLine gets
// every untagged line without "* " and CRLF, literals in it as they came; it is
// valid until onLine returns. Nil: lines are not put together.
//
// NO, BAD and BYE are errors (*StatusError); so are an end of the connection
// before the tagged line, a line that is none of IMAP, and the end of ctx, each
// with the last line seen.
func (c *Client) Do(ctx context.Context, command string, onLine func(untagged []byte)) (Response, error) {
	if strings.ContainsAny(command, "\r\n\x00") {
		return Response{}, fmt.Errorf("imap: %q: a command is one line", command)
	}
	defer c.bind(ctx)()
	tag := c.begin()
	c.out = append(c.out, command...)
	c.out = append(c.out, "\r\n"...)
	if err := c.send(); err != nil {
		return Response{}, c.failed(ctx, command, err)
	}
	return c.reply(ctx, tag, command, onLine)
}

// begin starts a command with a new tag.
func (c *Client) begin() (tag []byte) {
	c.tags++
	c.out = append(c.out[:0], 'a')
	c.out = strconv.AppendInt(c.out, int64(c.tags), 10)
	tag = append(tag, c.out...)
	c.out = append(c.out, ' ')
	return tag
}

// send writes c.out as the first bytes of a command.
func (c *Client) send() error {
	c.in.forget()
	if c.Sending != nil {
		c.Sending()
	}
	return c.write(c.out)
}

func (c *Client) write(b []byte) error {
	n, err := c.conn.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// reply reads until the tagged line.
func (c *Client) reply(ctx context.Context, tag []byte, command string, onLine func([]byte)) (r Response, err error) {
	w := wants{tag: tag, digest: c.Digest, lines: onLine != nil}
	c.in.resetDigest()
	for {
		l, err := c.in.next(w, onLine)
		if err != nil {
			return r, c.failed(ctx, command, err)
		}
		r.Bytes += l.size
		r.LongestLine = max(r.LongestLine, l.size)
		switch {
		case l.kind == tagged:
			if c.Replied != nil {
				c.Replied()
			}
			r.Status, r.Text, r.Digest = l.word, l.text, c.in.digest.Sum64()
			if r.Status != "OK" {
				return r, &StatusError{command, r.Status, r.Text}
			}
			return r, nil
		case l.kind == continuation:
			return r, fmt.Errorf("imap: %s: the server wants more: %q", command, c.in.last())
		case l.word == "BYE" && !strings.EqualFold(command, "LOGOUT"):
			return r, &StatusError{command, "BYE", l.text}
		}
	}
}

// Logout says LOGOUT and reads until the connection is at its end.
func (c *Client) Logout(ctx context.Context) error {
	if _, err := c.Do(ctx, "LOGOUT", nil); err != nil {
		return err
	}
	defer c.bind(ctx)()
	for {
		_, err := c.in.next(wants{}, nil)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return c.failed(ctx, "LOGOUT", err)
		}
	}
}

// Capabilities are what the server can do, in upper case; it is asked once.
func (c *Client) Capabilities(ctx context.Context) ([]string, error) {
	if c.caps != nil {
		return c.caps, nil
	}
	var caps []string
	_, err := c.Do(ctx, "CAPABILITY", func(line []byte) {
		if words := strings.Fields(string(bytes.ToUpper(line))); len(words) > 0 && words[0] == "CAPABILITY" {
			caps = append(caps, words[1:]...)
		}
	})
	if err != nil {
		return nil, err
	}
	c.caps = append([]string{}, caps...)
	return c.caps, nil
}

// bind makes the end of ctx end reading and writing until the function that it
// returns has been called.
func (c *Client) bind(ctx context.Context) (release func()) {
	type deadlines interface {
		SetReadDeadline(time.Time) error
		SetWriteDeadline(time.Time) error
	}
	d, can := c.conn.(deadlines)
	closer, canClose := c.conn.(io.Closer)
	if ctx.Done() == nil || !can && !canClose {
		return func() {}
	}
	ran := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ran)
		past := time.Unix(1, 0)
		if !can || d.SetReadDeadline(past) != nil || d.SetWriteDeadline(past) != nil {
			if canClose {
				closer.Close()
			}
		}
	})
	return func() {
		if !stop() {
			<-ran
			if can {
				d.SetReadDeadline(time.Time{})
				d.SetWriteDeadline(time.Time{})
			}
		}
	}
}

// failed makes the error of a command that was not answered.
func (c *Client) failed(ctx context.Context, command string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	last := "nothing"
	if l := c.in.last(); l != "" {
		last = strconv.Quote(l)
	}
	return fmt.Errorf("imap: %s: %w (last seen: %s)", command, err, last)
}
