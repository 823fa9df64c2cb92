package session

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"

	"mailbench/index"
)

// capabilities are what CAPABILITY and the greeting tell.
const capabilities = "IMAP4rev1 LITERAL+ UIDPLUS UNSELECT IDLE NAMESPACE ID CHILDREN SORT SORT=DISPLAY " +
	"THREAD=REFERENCES THREAD=REFS THREAD=ORDEREDSUBJECT"

// conn is one connection.
type conn struct {
	ctx   context.Context
	m     *Mailboxes
	r     reader
	w     *bufio.Writer
	to    *outlet  // what w writes to
	view  *view    // of the selected mailbox; nil: none
	words keywords // that the client has been told of
	out   []byte
	mail  scratch
	bye   bool
}

// scratch is what is used again for each message.
type scratch struct {
	head, body, wire, text []byte
}

// refusal is a tagged NO, with its text.
type refusal string

func (r refusal) Error() string { return string(r) }

// print writes strings and numbers. Errors show at the next flush.
func (c *conn) print(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			c.w.WriteString(p)
		case []byte:
			c.w.Write(p)
		case uint32:
			c.w.Write(strconv.AppendUint(c.w.AvailableBuffer(), uint64(p), 10))
		case int:
			c.w.Write(strconv.AppendInt(c.w.AvailableBuffer(), int64(p), 10))
		case uint64:
			c.w.Write(strconv.AppendUint(c.w.AvailableBuffer(), p, 10))
		}
	}
}

func (c *conn) expunged(seq uint32) { c.print("* ", seq, " EXPUNGE\r\n") }
func (c *conn) exists(n uint32)     { c.print("* ", n, " EXISTS\r\n") }

func (c *conn) changed(seq, uid uint32, flags index.Flags, keywords uint32) {
	c.tellChanged(seq, uid, flags, keywords, true)
}

// tellChanged tells the flags of a message; f.mu is held.
func (c *conn) tellChanged(seq, uid uint32, flags index.Flags, keywords uint32, withUID bool) {
	c.out = c.view.f.words.appendFlags(c.out[:0], flags, keywords)
	c.print("* ", seq, " FETCH (")
	if withUID {
		c.print("UID ", uid, " ")
	}
	c.print("FLAGS ", c.out, ")\r\n")
}

// ask is folder.ask of the selected mailbox, for an fn that tells the client
// something: it waits until nothing is held.
func (c *conn) ask(how look, fn func(m index.Mailbox) error) error {
	c.to.held = true
	err := c.view.f.ask(how, fn)
	c.to.held = false
	c.to.Write(nil)
	return err
}

// An outlet is what a connection is written to. What is written while it is held
// waits in memory: a client that does not read must not keep others from the
// mailbox.
type outlet struct {
	w    io.Writer
	held bool
	wait []byte
	err  error // stays
}

func (o *outlet) Write(b []byte) (int, error) {
	if o.held {
		o.wait = append(o.wait, b...)
		return len(b), nil
	}
	if len(o.wait) > 0 && o.err == nil {
		_, o.err = o.w.Write(o.wait)
		o.wait = nil
	}
	if o.err != nil || len(b) == 0 {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	o.err = err
	return n, err
}

// hear tells what has happened to the selected mailbox.
func (c *conn) hear(how look, expunges bool, known func(uid uint32) bool) error {
	v := c.view
	if v == nil {
		return nil
	}
	err := c.ask(how, func(m index.Mailbox) error {
		return v.update(m, c, expunges, known)
	})
	if errors.Is(err, errNewMailbox) {
		c.print("* BYE ", err.Error(), "\r\n")
		c.bye = true
	}
	return err
}

// lacks is a NO for a mailbox that cannot be had, whatever the reason.
func lacks(err error) error {
	var r refusal
	if errors.As(err, &r) {
		return r
	}
	return refusal(why(err))
}
