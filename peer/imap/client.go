// Package imap is the client's side of IMAP for a program that measures
// servers: it sends commands and finds the end of their replies, and parses no
// more of them than that while a clock runs.
package imap

import (
	"context"
	"errors"
	"io"
)

var errNotYet = errors.New("imap: not yet")

// A Client speaks to one server. It is not for more than one goroutine.
type Client struct {
	// Sending is called immediately before the bytes of a command are written,
	// Replied when its tagged line has been read: the place to read a server's
	// clock. Nil: not called.
	Sending, Replied func()
	// Digest names the untagged reply whose lines Response.Digest covers: "THREAD".
	// "": none.
	Digest string
}

// A Response is what a server said to one command.
type Response struct {
	Status      string // "OK"
	Text        string // what follows it on the tagged line
	Bytes       int64  // of all lines, the tagged one too
	LongestLine int64  // bytes, literals in it counted
	Digest      uint64 // xxhash64 of the lines that Client.Digest names, without CRLF
}

// New makes a client of a connection. Reading ends with a ctx where c has
// SetReadDeadline or Close, as proc.Process and net.Conn have.
func New(c io.ReadWriter) *Client { return &Client{} }

// Greeting reads the server's first line: its Status is "OK" or "PREAUTH".
func (c *Client) Greeting(ctx context.Context) (Response, error) { return Response{}, errNotYet }

// Do sends a command, without tag and CRLF, and reads its reply. onLine gets
// every untagged line without "* " and CRLF, literals in it as they came; it is
// valid until onLine returns. Nil: lines are not assembled.
// NO and BAD are errors (*StatusError).
func (c *Client) Do(ctx context.Context, command string, onLine func(untagged []byte)) (Response, error) {
	return Response{}, errNotYet
}

// A StatusError is a NO, a BAD or a BYE.
type StatusError struct{ Command, Status, Text string }

func (e *StatusError) Error() string { return e.Command + ": " + e.Status + " " + e.Text }

// Append appends a message, whose lines must end in CRLF, with a literal that
// waits for no continuation where the server can do that. date "" is now; flags
// are as in IMAP: `\Seen`.
func (c *Client) Append(ctx context.Context, mailbox string, flags []string, date string, msg []byte) (Response, error) {
	return Response{}, errNotYet
}

// Logout says LOGOUT and reads until the end.
func (c *Client) Logout(ctx context.Context) error { return errNotYet }

// Capabilities are what the server can do, in upper case; it is asked once.
func (c *Client) Capabilities(ctx context.Context) ([]string, error) { return nil, errNotYet }

// A Node is a message of a thread. Num 0 is a parent that is not there.
type Node struct {
	Num      uint32
	Children []int32 // indexes into the Threads that hold it
}

// Threads are the trees of a THREAD reply, flat: Nodes in the order of the
// reply, Roots and Children are indexes into it.
type Threads struct {
	Nodes []Node
	Roots []int32
}

// ParseThread parses an untagged line "THREAD (...)...".
func ParseThread(line []byte) (Threads, error) { return Threads{}, errNotYet }

// ParseNumbers parses an untagged line "SORT 3 1 2" or "SEARCH ...", name being
// its first word, and appends to dst.
func ParseNumbers(dst []uint32, line []byte, name string) ([]uint32, error) { return dst, errNotYet }
