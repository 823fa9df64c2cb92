package mbox

import "fmt"

// A Dialect is one of the four ways in which mbox files protect body lines
// that begin with "From ".
type Dialect uint8

// The dialects. MboxRD is the zero value.
const (
	MboxRD  Dialect = iota // ">From " for "From ", one more '>' for each quoted line: reversible
	MboxO                  // ">From " for "From " only: cannot be undone, bytes stay as stored
	MboxCL                 // mboxo with a Content-Length field
	MboxCL2                // Content-Length field and no quoting
)

var dialectNames = [...]string{"mboxrd", "mboxo", "mboxcl", "mboxcl2"}

// String gives the dialect's usual name, such as "mboxrd".
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("dialect(%d)", uint8(d))
}

// ParseDialect is the inverse of String; "" is mboxrd.
func ParseDialect(s string) (Dialect, error) {
	if s == "" {
		return MboxRD, nil
	}
	for i, name := range dialectNames {
		if s == name {
			return Dialect(i), nil
		}
	}
	return MboxRD, fmt.Errorf("mbox: unknown dialect %q: one of mboxrd, mboxo, mboxcl, mboxcl2", s)
}

// usesLength reports whether Content-Length is looked at.
func (d Dialect) usesLength() bool { return d == MboxCL || d == MboxCL2 }

// A Message is the place of one message in an mbox. Offsets are bytes from the
// start of the (uncompressed) file.
type Message struct {
	Off     int64 // 'F' of the From_ line
	BodyOff int64 // first byte after the From_ line: the header's first byte
	End     int64 // end of the stored bytes; the empty separator line is not in it

	Date      int64 // time of the From_ line, unix seconds; without a zone it is UTC
	SenderOff int32 // sender, relative to Off
	SenderLen int32
	Quoted    int32 // lines that mboxrd has quoted (">From ", ">>From ", ...); only counted for MboxRD
	DateOK    bool  // Date is known
}

// Size is the number of stored bytes, From_ line and separator not counted.
func (m Message) Size() int64 { return m.End - m.BodyOff }
