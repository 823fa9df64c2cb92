package mbox

import (
	"io"
	"time"
)

// A Writer writes an mboxrd. Each message goes out in one call of the
// underlying Write, so that a bufio.Writer is not needed.
type Writer struct {
	w   io.Writer
	buf []byte // kept between messages
}

// NewWriter returns a Writer that appends to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes one message: a From_ line with the time in UTC, msg with its
// "From " lines quoted, a final newline if msg has none, and an empty line.
// Bytes of sender that would spoil the From_ line become '-'; an empty sender
// is MAILER-DAEMON, as after a bounce (RFC 4155). Years outside 0 to 9999 are
// clamped. No allocation once the buffer has grown to the largest message.
func (w *Writer) Write(sender string, t time.Time, msg []byte) error {
	b := append(w.buf[:0], fromSpace...)
	b = appendSender(b, sender)
	b = append(b, ' ')
	b = clampYear(t.UTC()).AppendFormat(b, time.ANSIC)
	b = append(b, '\n')
	b = Quote(b, msg)
	if n := len(msg); n > 0 && msg[n-1] != '\n' {
		b = append(b, '\n')
	}
	b = append(b, '\n')
	w.buf = b
	_, err := w.w.Write(b)
	return err
}

// maxSender leaves room for the date in a line of maxFromLine bytes.
const maxSender = 512

func appendSender(dst []byte, sender string) []byte {
	if sender == "" {
		return append(dst, "MAILER-DAEMON"...)
	}
	for i := range min(len(sender), maxSender) {
		c := sender[i]
		if c <= ' ' || c == 127 {
			c = '-'
		}
		dst = append(dst, c)
	}
	return dst
}

func clampYear(t time.Time) time.Time {
	switch {
	case t.Year() < 0:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.Year() > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t
}
