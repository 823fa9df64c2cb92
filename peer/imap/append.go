package imap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Append appends a message, whose lines must end in CRLF. The literal waits for
// no continuation where the server can do that (LITERAL+, or LITERAL- up to 4096
// bytes: RFC 7888); then the whole command is one write. date "" is now, else as
// in IMAP: "1-Feb-2003 04:05:06 +0700"; flags too: `\Seen`.
func (c *Client) Append(ctx context.Context, mailbox string, flags []string, date string, msg []byte) (r Response, err error) {
	caps, err := c.Capabilities(ctx)
	if err != nil {
		return r, err
	}
	atOnce := slices.Contains(caps, "LITERAL+") || len(msg) <= 4096 && slices.Contains(caps, "LITERAL-")
	command, err := appendCommand(mailbox, flags, date)
	if err != nil {
		return r, err
	}
	defer c.bind(ctx)()
	tag := c.begin()
	c.out = append(c.out, command...)
	c.out = append(c.out, " {"...)
	c.out = strconv.AppendInt(c.out, int64(len(msg)), 10)
	if atOnce {
		c.out = append(c.out, "+}\r\n"...)
		c.out = append(c.out, msg...)
		c.out = append(c.out, "\r\n"...)
		if err := c.send(); err != nil {
			return r, c.failed(ctx, command, err)
		}
		return c.reply(ctx, tag, command, nil)
	}
	c.out = append(c.out, "}\r\n"...)
	if err := c.send(); err != nil {
		return r, c.failed(ctx, command, err)
	}
	for {
		l, err := c.in.next(wants{tag: tag}, nil)
		switch {
		case err != nil:
			return r, c.failed(ctx, command, err)
		case l.kind == tagged:
			if c.Replied != nil {
				c.Replied()
			}
			if l.word == "OK" {
				return r, fmt.Errorf("imap: %s: OK before the message was sent", command)
			}
			return Response{Status: l.word, Text: l.text, Bytes: l.size, LongestLine: l.size}, &StatusError{command, l.word, l.text}
		case l.word == "BYE":
			return r, &StatusError{command, "BYE", l.text}
		}
		r.Bytes += l.size
		r.LongestLine = max(r.LongestLine, l.size)
		if l.kind == continuation {
			break
		}
	}
	c.out = append(append(c.out[:0], msg...), "\r\n"...)
	if err := c.write(c.out); err != nil {
		return r, c.failed(ctx, command, err)
	}
	rest, err := c.reply(ctx, tag, command, nil)
	rest.Bytes += r.Bytes
	rest.LongestLine = max(rest.LongestLine, r.LongestLine)
	return rest, err
}

// appendCommand is the command up to its literal.
func appendCommand(mailbox string, flags []string, date string) (string, error) {
	name, err := Quote(mailbox)
	if err != nil {
		return "", err
	}
	command := "APPEND " + name
	if len(flags) > 0 {
		list := strings.Join(flags, " ")
		if strings.ContainsAny(list, "(){%*\"]\r\n") {
			return "", fmt.Errorf("imap: flags %q", flags)
		}
		command += " (" + list + ")"
	}
	if date != "" {
		if date, err = Quote(date); err != nil {
			return "", err
		}
		command += " " + date
	}
	return command, nil
}

// Quote makes a quoted string of s, which must be printable ASCII.
func Quote(s string) (string, error) {
	b := []byte{'"'}
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~':
			return "", errors.New("imap: " + strconv.Quote(s) + " cannot be quoted")
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"')), nil
}
