// Package explain says of one message what THREAD and SORT made of it: every
// value between the bytes of its header and its place in the answers.
package explain

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// A Message is the explanation of one message. Offsets and sizes are in
// bytes, dates in seconds since 1970 UTC.
type Message struct {
	UID           uint32         `json:"uid"`
	Key           any            `json:"key"` // see field
	Folder        string         `json:"folder"`
	Flags         string         `json:"flags"` // sorted maildir letters of the IMAP flags: DFRST
	Keywords      []string       `json:"keywords"`
	Offset        *int64         `json:"offset"`         // of the From_ line; null outside an mbox
	MessageOffset *int64         `json:"message_offset"` // of the header's first byte
	Size          int64          `json:"size"`           // as stored
	RFC822Size    int64          `json:"rfc822_size"`    // with CRLF line ends
	HeaderSize    int64          `json:"header_size"`    // with the empty line
	InternalDate  int64          `json:"internal_date"`
	MessageID     *string        `json:"message_id"`
	References    []string       `json:"references"`
	InReplyTo     []string       `json:"in_reply_to"`
	DateRaw       *string        `json:"date_raw"`
	DateUnix      *int64         `json:"date_unix"` // null: the Date cannot be used
	SentUnix      int64          `json:"sent_unix"` // after the fallback to the internal date
	Subject       *string        `json:"subject"`   // decoded
	BaseSubject   string         `json:"base_subject"`
	IsReply       bool           `json:"is_reply"`
	From          *string        `json:"from"`
	To            *string        `json:"to"`
	Cc            *string        `json:"cc"`
	Warnings      []string       `json:"warnings"`
	ParentUID     *uint32        `json:"parent_uid"`        // in THREAD REFERENCES; null: none, or a message that is not there
	RootUID       *uint32        `json:"root_uid"`          // the first message of the thread
	By            string         `json:"by"`                // why it is below its parent: references, in-reply-to, subject, none
	Headers       map[string]any `json:"headers,omitempty"` // see field
}

// field is a header field on request as JSON has it: null when absent, a
// string, or an object with its bytes in base64 when they are not UTF-8.
func field(raw []byte, present bool) any {
	if !present {
		return nil
	}
	return Text(string(raw))
}

// Text is s as JSON has it without losing a byte: a string, or an object
// {"b64": ...} with its bytes in base64 when they are not UTF-8.
func Text(s string) any {
	if utf8.ValidString(s) {
		return s
	}
	return map[string]string{"b64": base64.StdEncoding.EncodeToString([]byte(s))}
}

// Options say what to add and whose reading of the RFC to follow.
type Options struct {
	Headers []string // fields to add, by name
	Compat  index.Compat
}

// wanted are the fields that the explanation is made of.
var wanted = func() rfc5322.Mask {
	var m rfc5322.Mask
	for _, f := range []rfc5322.Field{rfc5322.Date, rfc5322.Subject, rfc5322.From, rfc5322.To, rfc5322.Cc,
		rfc5322.MessageID, rfc5322.InReplyTo, rfc5322.References} {
		m |= f.Mask()
	}
	return m
}()

// Explain reads e from src. What the index says of it (UID, flags, keywords)
// comes in m; names are the source's keyword names by letter. A message that
// cannot be read gives an error; an odd one gives warnings. Only the header is
// held in memory, up to mostHeader bytes of it. The place in the threads is
// left to Put.
func Explain(src index.Source, e *index.Entry, m index.Message, keywords []string, o Options) (*Message, error) {
	head, size, vsize, err := read(src, e)
	if err != nil {
		return nil, err
	}
	x := &Message{
		UID: m.UID, Key: Text(strings.Clone(m.Key)), Folder: m.Folder, Flags: (m.Flags &^ index.FlagForwarded).String(),
		Keywords: nonNil(keywords), Size: size, RFC822Size: vsize, By: "none", Warnings: []string{},
	}
	if stored, internal, err := src.Stat(e); err == nil {
		x.Size, x.InternalDate = stored, internal
	} else if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	} else {
		x.Warnings = append(x.Warnings, "stat: "+err.Error())
	}
	if e.MTimeOK {
		x.InternalDate = e.MTime
	}
	if e.Off >= 0 {
		off := e.Off
		x.Offset = &off
	}
	if p, ok := src.(interface{ MessageOffset(*index.Entry) int64 }); ok {
		off := p.MessageOffset(e)
		x.MessageOffset = &off
	}
	if e.Size >= 0 && e.Size != x.Size {
		x.Warnings = append(x.Warnings, "size-lies")
	}
	if e.VSize >= 0 && e.VSize != x.RFC822Size {
		x.Warnings = append(x.Warnings, "vsize-lies")
	}
	if int64(len(head)) < size && !ends(head) {
		x.Warnings = append(x.Warnings, "header-cut")
	}
	x.header(head, o)
	return x, nil
}

// mostHeader is how much of a message is read in search of the end of a header
// that is longer than a source gives.
const mostHeader = 64 << 20

// read reads the header of a message, and its size as stored and with CRLF
// line ends without holding the message.
func read(src index.Source, e *index.Entry) (head []byte, size, vsize int64, err error) {
	sizer, ok := src.(interface {
		Sizes(e *index.Entry, buf []byte) (size, vsize int64, err error)
	})
	if ok {
		if size, vsize, err = sizer.Sizes(e, nil); err == nil {
			head, err = src.ReadHeader(e, nil)
		}
	}
	if err != nil {
		return nil, 0, 0, err
	}
	if !ok || int64(len(head)) < size && !ends(head) && size <= mostHeader {
		body, err := src.ReadMessage(e, nil)
		return body, int64(len(body)), CRLFSize(body), err
	}
	return head, size, vsize, nil
}

// ends reports whether b has the empty line that ends a header.
func ends(b []byte) bool { return rfc5322.HeaderEnd(b, 0) >= 0 }

// header fills in everything that the header says.
func (x *Message) header(b []byte, o Options) {
	var h rfc5322.Header
	rfc5322.Scan(b, wanted, &h)
	h.Inspect(b)
	x.HeaderSize = int64(h.BodyOff)
	x.Warnings = append(x.Warnings, h.Warn.Names()...)
	raw := func(f rfc5322.Field) []byte { return h.Raw(b, f) }

	x.References = ids(raw(rfc5322.References))
	x.InReplyTo = ids(raw(rfc5322.InReplyTo))
	if id, _, ok := rfc5322.FirstID(raw(rfc5322.MessageID), nil); ok {
		s := text(id)
		x.MessageID = &s
	} else if h.Present.Has(rfc5322.MessageID) {
		x.Warnings = append(x.Warnings, "message-id-invalid")
	} else {
		x.Warnings = append(x.Warnings, "message-id-missing")
	}

	compat := o.Compat
	x.SentUnix = x.InternalDate
	if h.Present.Has(rfc5322.Date) {
		s := text(rfc5322.Unfold(nil, raw(rfc5322.Date)))
		x.DateRaw = &s
		if sent, ok := compat.SentDate(raw(rfc5322.Date), x.InternalDate); ok {
			x.DateUnix, x.SentUnix = &sent, sent
		} else {
			x.Warnings = append(x.Warnings, "date-unusable")
		}
	} else {
		x.Warnings = append(x.Warnings, "date-missing")
	}

	base, reply := compat.BaseSubject(nil, raw(rfc5322.Subject))
	x.BaseSubject, x.IsReply = text(base), reply
	x.Subject = decoded(&h, b, rfc5322.Subject)
	x.From, x.To, x.Cc = decoded(&h, b, rfc5322.From), decoded(&h, b, rfc5322.To), decoded(&h, b, rfc5322.Cc)

	for _, name := range o.Headers {
		if x.Headers == nil {
			x.Headers = make(map[string]any)
		}
		v, ok := rfc5322.Get(b, name)
		x.Headers[name] = field(rfc5322.Unfold(nil, v), ok)
	}
}

// ids lists every message id of a raw value, never nil.
func ids(raw []byte) []string {
	out := []string{}
	rfc5322.EachID(raw, nil, func(id []byte) bool {
		out = append(out, text(id))
		return true
	})
	return out
}

// decoded is an unfolded field with its encoded words decoded; nil when the
// field is absent.
func decoded(h *rfc5322.Header, b []byte, f rfc5322.Field) *string {
	if !h.Present.Has(f) {
		return nil
	}
	s := text(rfc5322.DecodeWords(nil, rfc5322.Unfold(nil, h.Raw(b, f))))
	return &s
}

// text makes b a string that JSON can hold: what is not UTF-8 becomes U+FFFD.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

func nonNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// CRLFSize is the size of b with every line end as CRLF: RFC 3501,
// RFC822.SIZE. O(n).
func CRLFSize(b []byte) int64 {
	n := int64(len(b))
	for i, c := range b {
		if c == '\n' && (i == 0 || b[i-1] != '\r') {
			n++
		}
	}
	return n
}
