package sort

import "errors"

// A Key is one sort criterion of RFC 5256 section 3 (or RFC 5957).
type Key uint8

const (
	Arrival     Key = iota // INTERNALDATE, date and time
	Cc                     // addr-mailbox of the first Cc address
	Date                   // sent date, RFC 5256 section 2.2
	From                   // addr-mailbox of the first From address
	Size                   // RFC822.SIZE, counted with CRLF
	Subject                // base subject, RFC 5256 section 2.1
	To                     // addr-mailbox of the first To address
	DisplayFrom            // RFC 5957
	DisplayTo              // RFC 5957
	NumKeys
)

// A Criterion is a key and its direction.
type Criterion struct {
	Key     Key
	Reverse bool
}

// ParseCriteria reads "reverse date subject".
func ParseCriteria(s string) ([]Criterion, error) { return nil, errors.New("sort: not yet") }

// Compat says whose way is followed where Dovecot and the RFCs part.
type Compat uint8

const (
	RFC     Compat = iota // the RFCs (default)
	Dovecot               // Dovecot 2.3.19
)
