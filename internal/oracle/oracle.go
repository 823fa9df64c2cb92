// Package oracle answers THREAD and SORT the slow and literal way: RFC 5256
// transliterated step by step, with maps and pointers, on go-message's
// charsets. Tests compare the fast packages with it, so it shares no code
// with them: it has its own reading of headers, dates, message ids, encoded
// words and addresses, each as simple as the RFC allows and as lenient as
// list mail needs (go-message refuses headers that lists are full of).
//
// It is not quadratic, but it allocates freely: about 20 microseconds a
// message. Recursion follows the depth of the tree.
//
// # Compat
//
// RFC follows RFC 5256 and the RFCs it cites. Dovecot answers as Dovecot
// 2.3.19 (Debian) does; every difference is marked by the word compat in the
// code, with the RFC's section beside it.
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

// Keys is what THREAD and SORT compare of one message.
type Keys struct {
	ID          string   // normalised Message-ID, "" when there is no valid one
	Refs        []string // References, else the first id of In-Reply-To
	Sent        int64    // sent date, RFC 5256 section 2.2
	Subject     string   // base subject under i;unicode-casemap
	Reply       bool     // the base subject lost a reply or forward marker
	From        string   // addr-mailbox of the first address, casemapped
	To          string
	Cc          string
	DisplayFrom string // RFC 5957 display name, casemapped
	DisplayTo   string
}

// A mail is one parsed message.
type mail struct {
	uid     uint32
	seq     int // sequence number - 1: the last tie-break everywhere
	arrival int64
	size    int64
	Keys
}

// A Mailbox holds parsed messages in sequence order.
type Mailbox struct {
	mails  []*mail
	compat Compat
}

// New parses msgs, which must be in sequence order, once for all questions.
func New(msgs []Message, c Compat) *Mailbox {
	box := &Mailbox{compat: c, mails: make([]*mail, len(msgs))}
	for i, m := range msgs {
		box.mails[i] = c.parse(m, i)
	}
	return box
}

// Keys returns what is compared of the message with sequence number i+1.
func (box *Mailbox) Keys(i int) Keys { return box.mails[i].Keys }

func (c Compat) parse(msg Message, seq int) *mail {
	f := fields(msg.Header)
	m := &mail{uid: msg.UID, seq: seq, arrival: msg.InternalDate, size: msg.RFC822Size}

	// RFC 5256 section 2.2: the Date field in UTC, else INTERNALDATE.
	m.Sent = msg.InternalDate
	if t, ok := c.parseDate(f["date"]); ok {
		m.Sent = t
	}
	// compat: to Dovecot the second 0 means "no Date".
	if c == Dovecot && m.Sent == 0 {
		m.Sent = msg.InternalDate
	}

	// RFC 5256 section 3, REFERENCES step (1)(A).
	if ids := messageIDs(f["message-id"]); len(ids) > 0 {
		m.ID = ids[0]
	}
	m.Refs = messageIDs(f["references"])
	// compat: Debian's fix for CVE-2026-40014 drops ids behind the 1000th. (It
	// also cuts chains after some 1000 levels; that is not done here.)
	if c == Dovecot && len(m.Refs) > 1000 {
		m.Refs = m.Refs[:1000]
	}
	if len(m.Refs) == 0 {
		if ids := messageIDs(f["in-reply-to"]); len(ids) > 0 {
			m.Refs = ids[:1]
		}
	}

	m.Subject, m.Reply = c.subjectKey(f["subject"])
	m.From, m.DisplayFrom = c.addressKeys(f["from"])
	m.To, m.DisplayTo = c.addressKeys(f["to"])
	m.Cc, _ = c.addressKeys(f["cc"])
	return m
}

// References answers THREAD REFERENCES by RFC 5256: the text after "* THREAD ".
func References(msgs []Message) string { return New(msgs, RFC).References() }

// OrderedSubject answers THREAD ORDEREDSUBJECT by RFC 5256: the text after "* THREAD ".
func OrderedSubject(msgs []Message) string { return New(msgs, RFC).OrderedSubject() }

// Sort answers SORT by RFC 5256 with the UIDs; keys is written as in IMAP, in
// any case: "subject reverse date". An unknown key panics.
func Sort(msgs []Message, keys string) []uint32 { return New(msgs, RFC).Sort(keys) }

// BaseSubject extracts the base subject (RFC 5256 section 2.1) of a raw
// Subject value in UTF-8; refwd says that a reply or forward marker went.
func BaseSubject(raw []byte) (base string, refwd bool) { return baseSubject(string(raw)) }

// ParseDate reads a Date value (RFC 5322 sections 3.3 and 4.3) as seconds
// since 1970 UTC; ok is false when RFC 5256 section 2.2 wants INTERNALDATE.
func ParseDate(raw []byte) (unix int64, ok bool) { return RFC.parseDate(string(raw)) }

// MessageIDs reads the ids of a Message-ID, References or In-Reply-To value,
// without brackets, normalised as RFC 5256 section 3 demands.
func MessageIDs(raw []byte) []string { return messageIDs(string(raw)) }

// Casemap is i;unicode-casemap (RFC 5051).
func Casemap(s string) string { return RFC.casemap(s) }
