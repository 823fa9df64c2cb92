package session

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"time"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	"mailbench/maildir"
)

// A candidate is a message that a search looks at.
type candidate struct {
	mail
	values [][]byte // of plan.fields; nil: the index was not asked
	src    index.Source
	s      *scratch
	header []byte // nil: not read
	body   []byte // the whole message; nil: not read
	wire   []byte // the message, or its header, with CRLF line ends; nil: not made
	size   int64  // RFC822.SIZE, -1: not known
}

// readHeader reads the header, once.
func (c *candidate) readHeader() (err error) {
	if c.header != nil {
		return nil
	}
	if c.body != nil {
		c.header = headOf(c.body)
		return nil
	}
	c.s.head, err = c.src.ReadHeader(&c.entry, c.s.head)
	c.header = c.s.head
	if c.header == nil {
		c.header = []byte{}
	}
	return err
}

func headOf(msg []byte) []byte {
	if end := rfc5322.HeaderEnd(msg, 0); end >= 0 {
		return msg[:end:end]
	}
	return msg
}

// readBody reads the message, once.
func (c *candidate) readBody() (err error) {
	if c.body != nil {
		return nil
	}
	c.s.body, err = c.src.ReadMessage(&c.entry, c.s.body)
	c.body = c.s.body
	if c.body == nil {
		c.body = []byte{}
	}
	return err
}

// onWire is the message, or its header, as it is sent. It has been read.
func (c *candidate) onWire(body bool) []byte {
	if c.wire == nil {
		text := c.header
		if body {
			text = c.body
		}
		c.s.wire = crlf(c.s.wire[:0], text)
		// No literal of IMAP4rev1 may have NUL in it (RFC 3501 section 4.3.1).
		// Dovecot sends this in its place.
		for at := bytes.IndexByte(c.s.wire, 0); at >= 0; {
			c.s.wire[at] = 0x80
			next := bytes.IndexByte(c.s.wire[at:], 0)
			if next < 0 {
				break
			}
			at += next
		}
		c.wire = c.s.wire
		if c.wire == nil {
			c.wire = []byte{}
		}
	}
	return c.wire
}

// rfc822Size is the size with CRLF line ends.
func (c *candidate) rfc822Size() (int64, error) {
	if c.size >= 0 {
		return c.size, nil
	}
	if c.entry.VSize >= 0 {
		c.size = c.entry.VSize
		return c.size, nil
	}
	if s, ok := c.src.(interface {
		Sizes(e *index.Entry, buf []byte) (size, vsize int64, err error)
	}); ok && c.body == nil {
		_, n, err := s.Sizes(&c.entry, c.s.body[:0])
		c.size = n
		return n, err
	}
	if err := c.readBody(); err != nil {
		return 0, err
	}
	c.size = maildir.CRLFSize(c.body)
	return c.size, nil
}

// internalDate is INTERNALDATE in unix seconds.
func (c *candidate) internalDate() (int64, error) {
	if c.entry.MTimeOK {
		return c.entry.MTime, nil
	}
	_, date, err := c.src.Stat(&c.entry)
	return date, err
}

// judgeField is judge for a field whose value the index gave; nil: there is none.
func (n *node) judgeField(c *candidate, value []byte) verdict {
	if value == nil {
		return no
	}
	if n.op == opSent {
		day, ok := sentDay(value)
		return verdictOf(ok && n.from <= day && day < n.to)
	}
	if len(n.needle) == 0 {
		return yes
	}
	return verdictOf(n.needle.in(headerText(nil, value), &c.s.text))
}

// judgeMail is judge from the mail.
func (n *node) judgeMail(c *candidate) (verdict, error) {
	found := false
	look := func(text []byte) bool {
		found = n.needle.in(text, &c.s.text)
		return !found
	}
	var err error
	switch n.op {
	case opDate:
		var t int64
		if t, err = c.internalDate(); err == nil {
			day := dayOf(time.Unix(t, 0))
			found = n.from <= day && day < n.to
		}
	case opSize:
		var size int64
		if size, err = c.rfc822Size(); err == nil {
			found = n.from < size && size < n.to
		}
	case opHeader, opAddress, opSent:
		if err = c.readHeader(); err == nil {
			rfc5322.All(c.header, n.name, func(raw []byte) bool {
				if n.op == opSent {
					day, ok := sentDay(raw)
					found = ok && n.from <= day && day < n.to
					return false
				}
				return look(headerText(nil, raw))
			})
		}
	case opBody, opText:
		if err = c.readBody(); err == nil {
			eachText(c.body, n.op == opText, look)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return no, nil // somebody has removed it
	}
	return verdictOf(found), err
}

// dayOf numbers the day of a time in its own zone.
func dayOf(t time.Time) int64 {
	y, m, d := t.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

const (
	firstDay = math.MinInt64
	lastDay  = math.MaxInt64
)

// sentDay is the day that a Date field has written in it, whatever its zone.
func sentDay(raw []byte) (int64, bool) {
	unix, ok := rfc5322.ParseDate(raw)
	if !ok {
		return 0, false
	}
	// Zones are less than a day: the day written is the UTC day, or one beside it.
	utc := floorDay(unix)
	for day := utc - 1; day <= utc+1; day++ {
		if y, m, d := time.Unix(day*86400, 0).UTC().Date(); names(raw, y, m, d) {
			return day, true
		}
	}
	return utc, true
}

func floorDay(unix int64) int64 {
	if unix < 0 {
		return (unix - 86399) / 86400
	}
	return unix / 86400
}

// names reports whether a Date field begins with that day, perhaps after the
// day of the week.
func names(raw []byte, _ int, month time.Month, day int) bool {
	b := rfc5322.Unfold(nil, raw)
	i := 0
	for i < len(b) && (b[i] < '0' || b[i] > '9') {
		i++
	}
	n := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' && n < 100 {
		n = 10*n + int(b[i]-'0')
		i++
	}
	for i < len(b) && (b[i] == ' ' || b[i] == '-') {
		i++
	}
	if i+3 > len(b) {
		return false
	}
	name := month.String()[:3]
	return n == day && b[i]|32 == name[0]|32 && b[i+1]|32 == name[1]|32 && b[i+2]|32 == name[2]|32
}
