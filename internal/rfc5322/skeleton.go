package rfc5322

// Compat says whose reading counts where the RFCs and Dovecot 2.3 differ.
type Compat uint8

// RFC follows RFC 5322, 2047, 5256 and 5957 to the letter; Dovecot gives what
// Dovecot 2.3 computes.
const (
	RFC Compat = iota
	Dovecot
)

// Field is a header field that Scan can pick.
type Field uint8

// The fields Scan knows.
const (
	Date Field = iota
	Subject
	From
	To
	Cc
	Bcc
	Sender
	ReplyTo
	MessageID
	InReplyTo
	References
	ListID
	NumFields
)

// Mask is a set of fields.
type Mask uint32

// Mask returns the set that holds only f.
func (f Field) Mask() Mask { return 1 << f }

// Sets that callers want often.
const (
	MaskThread = 1<<Date | 1<<Subject | 1<<MessageID | 1<<InReplyTo | 1<<References
	MaskSort   = 1<<Date | 1<<Subject | 1<<From | 1<<To | 1<<Cc
	MaskAll    = 1<<NumFields - 1
)

// String returns the name of the field as it is usually written.
func (f Field) String() string { return "" }

// Span is a piece of the scanned bytes.
type Span struct{ Off, Len int32 }

// Bytes returns the piece of b that s describes.
func (s Span) Bytes(b []byte) []byte { return b[s.Off : s.Off+s.Len : s.Off+s.Len] }

// Header is what Scan found.
type Header struct {
	Span    [NumFields]Span
	Present Mask
	BodyOff int
	Warn    Warnings
}

// Raw returns the raw value of f in b, the bytes given to Scan; nil when the
// field is absent.
func (h *Header) Raw(b []byte, f Field) []byte {
	if h.Present&f.Mask() == 0 {
		return nil
	}
	return h.Span[f].Bytes(b)
}

// Warnings is a set of oddities of a header.
type Warnings uint32

// Names returns the names of the warnings, sorted by bit.
func (w Warnings) Names() []string { return nil }

// Scan finds the first occurrence of each wanted field.
func Scan(b []byte, want Mask, h *Header) (complete bool) { *h = Header{BodyOff: len(b)}; return false }

// HeaderEnd returns the offset of the body or -1.
func HeaderEnd(b []byte, from int) int { return -1 }

// Get returns the raw value of the first field called name.
func Get(b []byte, name string) (raw []byte, ok bool) { return nil, false }

// All calls fn with the raw value of each field called name until it returns
// false.
func All(b []byte, name string, fn func(raw []byte) bool) {}

// Unfold appends raw without its line ends, trimmed, to dst.
func Unfold(dst, raw []byte) []byte { return dst }

// ParseDate reads the value of a Date field.
func ParseDate(raw []byte) (unix int64, ok bool) { return ParseDateCompat(raw, RFC) }

// ParseDateCompat is ParseDate as c reads it.
func ParseDateCompat(raw []byte, c Compat) (unix int64, ok bool) { return 0, false }

// NextID returns the next message id in raw and what follows it; ok is false
// when there is none. id is a piece of raw or of scratch: valid until the next
// call with the same scratch.
func NextID(raw, scratch []byte) (id, rest, newScratch []byte, ok bool) {
	return nil, nil, scratch, false
}

// FirstID returns the first message id of raw.
func FirstID(raw, scratch []byte) (id, newScratch []byte, ok bool) { return nil, scratch, false }

// EachID calls fn with each id of raw until it returns false.
func EachID(raw, scratch []byte, fn func(id []byte) bool) (newScratch []byte) { return scratch }

// DecodeWords appends raw, unfolded and with its RFC 2047 encoded words
// decoded to UTF-8, to dst.
func DecodeWords(dst, raw []byte) []byte { return DecodeWordsCompat(dst, raw, RFC) }

// DecodeWordsCompat is DecodeWords as c reads it.
func DecodeWordsCompat(dst, raw []byte, c Compat) []byte { return dst }

// Address is one address of a field, or the start of a group (Group true,
// Mailbox the group's name).
type Address struct {
	Name    []byte // display name or comment, unquoted, not decoded
	Route   []byte
	Mailbox []byte // local part, unquoted
	Host    []byte
	Group   bool
	Invalid bool
}

// FirstAddress returns the first address of raw. Its parts are written into
// scratch[:0], or into new memory when its capacity is too small.
func FirstAddress(raw, scratch []byte) (a Address, ok bool) { return a, false }

// AddressList returns all addresses of raw.
func AddressList(raw []byte) []Address { return nil }

// AppendDisplay appends the RFC 5957 display name of the first address of raw:
// its decoded display name, else mailbox@host.
func AppendDisplay(dst, raw []byte, c Compat) []byte { return dst }
