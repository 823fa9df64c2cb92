// Package oracle answers THREAD and SORT the slow and literal way: RFC 5256
// transliterated step by step, with maps and pointers. Tests compare the fast
// packages with it, so it shares no code with them.
package oracle

// A Message is what THREAD and SORT see of one mail.
type Message struct {
	UID          uint32
	Header       []byte // raw header block, with or without its blank line
	InternalDate int64  // INTERNALDATE, seconds since 1970 UTC
	RFC822Size   int64  // size with CRLF line ends
}

// Compat says whose rules hold where Dovecot leaves the RFC.
type Compat uint8

const (
	RFC     Compat = iota // RFC 5256 and what it cites, to the letter
	Dovecot               // as Dovecot 2.3.19 answers
)

// A Mailbox holds the parsed messages, in sequence order.
type Mailbox struct {
	msgs   []Message
	compat Compat
}

// New parses msgs, which must be in sequence order, once for all questions.
func New(msgs []Message, c Compat) *Mailbox { return &Mailbox{msgs: msgs, compat: c} }

// References answers THREAD REFERENCES: the text after "* THREAD ".
func (m *Mailbox) References() string { return "" }

// Refs answers Dovecot's THREAD REFS.
func (m *Mailbox) Refs() string { return "" }

// OrderedSubject answers THREAD ORDEREDSUBJECT.
func (m *Mailbox) OrderedSubject() string { return "" }

// Sort answers SORT; keys as in IMAP, lower case ("subject reverse date").
func (m *Mailbox) Sort(keys string) []uint32 { return nil }

// References answers THREAD REFERENCES by RFC 5256.
func References(msgs []Message) string { return New(msgs, RFC).References() }

// OrderedSubject answers THREAD ORDEREDSUBJECT by RFC 5256.
func OrderedSubject(msgs []Message) string { return New(msgs, RFC).OrderedSubject() }

// Sort answers SORT by RFC 5256.
func Sort(msgs []Message, keys string) []uint32 { return New(msgs, RFC).Sort(keys) }

// BaseSubject extracts the base subject (RFC 5256 section 2.1) of a raw
// Subject value; refwd says that a reply or forward marker was removed.
func BaseSubject(raw []byte) (base string, refwd bool) { return "", false }
