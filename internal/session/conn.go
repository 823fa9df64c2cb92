package session

import (
	"bufio"
	"context"
	"errors"
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

// hear tells what has happened to the selected mailbox.
func (c *conn) hear(how look, expunges bool, known func(uid uint32) bool) error {
	v := c.view
	if v == nil {
		return nil
	}
	err := v.f.ask(how, func(m index.Mailbox) error {
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
