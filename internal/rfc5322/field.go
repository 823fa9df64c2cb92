package rfc5322

// Field is a header field that Scan can pick.
type Field uint8

// The fields that Scan knows.
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

var fieldNames = [NumFields]string{
	Date:       "Date",
	Subject:    "Subject",
	From:       "From",
	To:         "To",
	Cc:         "Cc",
	Bcc:        "Bcc",
	Sender:     "Sender",
	ReplyTo:    "Reply-To",
	MessageID:  "Message-ID",
	InReplyTo:  "In-Reply-To",
	References: "References",
	ListID:     "List-ID",
}

// String returns the name of the field as it is usually written.
func (f Field) String() string {
	if f < NumFields {
		return fieldNames[f]
	}
	return "field-?"
}

// Mask returns the set that holds only f.
func (f Field) Mask() Mask { return 1 << f }

// Mask is a set of fields.
type Mask uint32

// Sets that callers want: the columns of THREAD, the text columns of SORT,
// both, and all fields.
const (
	MaskThread = 1<<Date | 1<<Subject | 1<<MessageID | 1<<InReplyTo | 1<<References
	MaskSort   = 1<<Date | 1<<Subject | 1<<From | 1<<To | 1<<Cc
	MaskQuery  = MaskThread | MaskSort
	MaskAll    = 1<<NumFields - 1
)

// Has says whether f is in the set.
func (m Mask) Has(f Field) bool { return m>>f&1 != 0 }

// candidates lists, for a first letter, the fields that begin with it; no
// letter begins more than two. Unused places hold NumFields.
type candidates [2]Field

// byLetter is indexed by the low five bits of a letter, which are the same in
// both cases.
var byLetter = func() (t [32]candidates) {
	for i := range t {
		t[i] = candidates{NumFields, NumFields}
	}
	for f := Field(0); f < NumFields; f++ {
		c := &t[fieldNames[f][0]&31]
		if c[0] == NumFields {
			c[0] = f
		} else {
			c[1] = f
		}
	}
	return t
}()

// letters returns the first letters of the fields in m, as a set of their low
// five bits.
func (m Mask) letters() (set uint32) {
	for f := Field(0); f < NumFields; f++ {
		if m.Has(f) {
			set |= 1 << (fieldNames[f][0] & 31)
		}
	}
	return set
}

// hasName reports whether the line at the start of b is a field called name
// (ASCII, any case), and where its value begins. White space may stand before
// the colon (RFC 5322 4.5, obsolete fields).
func hasName(b []byte, name string) (value int, ok bool) {
	if len(b) <= len(name) {
		return 0, false
	}
	// Most names are written as usual, and that comparison is cheap.
	if n := b[:len(name)]; string(n) != name && !equalFold(n, name) {
		return 0, false
	}
	for i := len(name); i < len(b); i++ {
		switch b[i] {
		case ':':
			return i + 1, true
		case ' ', '\t':
		default:
			return 0, false
		}
	}
	return 0, false
}

// equalFold compares b with name, which has the same length, without regard
// to the case of ASCII letters.
func equalFold(b []byte, name string) bool {
	if len(b) != len(name) {
		return false
	}
	for i := range b {
		if x := b[i] ^ name[i]; x != 0 {
			if x != 0x20 {
				return false
			}
			if c := b[i] | 0x20; c < 'a' || c > 'z' {
				return false
			}
		}
	}
	return true
}
