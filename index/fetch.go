package index

import (
	"errors"
	"fmt"
	"io/fs"

	"mailbench/internal/rfc5322"
)

// EnvelopeFields are the header fields that IMAP's ENVELOPE is made of (RFC
// 3501 section 7.4.2), in its order.
var EnvelopeFields = []string{"Date", "Subject", "From", "Sender", "Reply-To", "To", "Cc", "Bcc", "In-Reply-To", "Message-ID"}

// A Fetcher is a Mailbox that answers FETCH of header fields.
type Fetcher interface {
	// Fetch calls fn for each of uids that is there, in the order of uids, with
	// the values of the named fields (in any case): of the first field of that
	// name, as AppendValue makes it; nil: the message has no such field. Values
	// are valid until fn returns. An error of fn ends it and is returned. What
	// is cached is taken from there, the rest is read from the mail, and a
	// design may cache it then.
	Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error
}

// A Changer is a Mailbox that answers what CONDSTORE and QRESYNC clients ask
// (RFC 7162): what happened since a MODSEQ.
type Changer interface {
	// ChangesSince calls changed for each message that is there with a greater
	// MODSEQ (new ones too), in UID order, and vanished for each UID expunged
	// after it, until either returns false. It tells what the last Sync left.
	ChangesSince(modseq uint64, changed func(Message) bool, vanished func(uid uint32) bool) error
}

// A Counter is a Mailbox that counts what it does: lookups, records read,
// bytes decoded. Names are lower case with dashes, the same for the same thing
// in each design: "cache-lookups", "records-read", "bytes-decoded",
// "mails-opened", "keys-read", "rows-read", "compares" (of sort keys). Counts
// are since Open.
type Counter interface {
	Counts() map[string]int64
}

// AppendValue appends a field's raw value (RFC 5322 section 2.2.3), as Fetch
// returns it: unfolded, white space at both ends removed, not decoded.
func AppendValue(dst, raw []byte) []byte { return rfc5322.Unfold(dst, raw) }

// FetchFrom is Fetch straight from the mail: one header read for each UID.
// entry gives the source's entry of a UID, nil when there is none. A message
// that has gone meanwhile is passed over.
func FetchFrom(src Source, uids []uint32, fields []string, entry func(uid uint32) *Entry, fn func(uid uint32, values [][]byte) error) error {
	var header []byte
	text := make([]byte, 0, 1024) // not nil: an empty value is not a missing one
	values, ends := make([][]byte, len(fields)), make([]int, len(fields))
	for _, uid := range uids {
		e := entry(uid)
		if e == nil {
			continue
		}
		h, err := src.ReadHeader(e, header)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: uid %d: %w", src.Path(), uid, err)
		}
		header, text = h, text[:0]
		for i, name := range fields {
			ends[i] = -1
			if raw, ok := rfc5322.Get(h, name); ok {
				text = AppendValue(text, raw)
				ends[i] = len(text)
			}
		}
		from := 0
		for i, end := range ends {
			values[i] = nil
			if end >= 0 {
				values[i] = text[from:end:end]
				from = end
			}
		}
		if err := fn(uid, values); err != nil {
			return err
		}
	}
	return nil
}
