package catalog

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
)

// The framing of a message that sdbox and mdbox share, after the description of
// Dovecot's dbox: a head of fixed length, the mail, and metadata by which the
// message is found again without an index.
//
//	\1\2 N <id, 8 hex digits> <size, 16 hex digits> \n
//	the mail
//	\n \1\3 \n
//	R<received>\n Z<size>\n V<size with CRLF>\n G<128-bit GUID>\n   as Dovecot's
//	F<flags>\n K<keywords>\n X<xxhash64 of all before this line>\n  our own
//	\n
//
// Numbers are hexadecimal. Dovecot's has no checksum and no flags. F and K are
// those of the append: they save the list a sync, see L4 and Add.
const (
	DboxHead   = 30           // bytes before the mail
	DboxTail   = 256          // more than the bytes behind it
	DboxPre    = "\x01\x02N " // how a message begins
	dboxPost   = "\n\x01\x03\n"
	maxDboxID  = 1<<32 - 1
	maxDboxLen = 1 << 40
)

// DboxFile is the first line of a dbox file: version, length of a message's head,
// time of creation, which is 1970 when the clock is before that.
func DboxFile(now time.Time) string {
	return fmt.Sprintf("2 M%x C%08x\n", DboxHead, max(now.Unix(), 0))
}

// DboxFileLen is the length of that line at the begin of a file; 0: it is none.
func DboxFileLen(b []byte) int {
	i := bytes.IndexByte(b[:min(len(b), 64)], '\n')
	want := fmt.Sprintf("2 M%x C", DboxHead)
	if i < len(want)+8 || string(b[:len(want)]) != want {
		return 0
	}
	// Signed: files of before wrote "-0000001", and their mail is as good as any.
	if _, err := strconv.ParseInt(string(b[len(want):i]), 16, 64); err != nil {
		return 0
	}
	return i + 1
}

// DboxTorn reports whether b is what a crash leaves of a file with a first line and
// one message, or more, that was being written: it ends too early, or has sectors
// that were never written.
func DboxTorn(b []byte) bool {
	if hasZeroSector(b, 0) {
		return true
	}
	n := DboxFileLen(b)
	if n == 0 {
		line := fmt.Sprintf("2 M%x C", DboxHead)
		return len(b) < 64 && bytes.IndexByte(b, '\n') < 0 && (strings.HasPrefix(string(b), line) || strings.HasPrefix(line, string(b)))
	}
	return DboxTornAt(b[n:], int64(n))
}

// DboxTornAt is DboxTorn of one message that should lie at off of a file: b is it
// and DboxTail bytes more, or all up to the end of the file.
func DboxTornAt(b []byte, off int64) bool {
	if len(b) < DboxHead || hasZeroSector(b, off) {
		return true
	}
	_, size, err := ParseDboxHead(b)
	if err != nil {
		return false
	}
	rest := b[DboxHead:]
	return int64(len(rest)) < size || len(rest[size:]) < DboxTail && !bytes.HasSuffix(rest[size:], []byte("\n\n"))
}

// DboxForeign reports whether b is the begin of a file that is not one of dbox's.
func DboxForeign(b []byte) bool {
	return DboxFileLen(b) == 0 && !DboxTorn(b[:min(len(b), sector)])
}

// GUIDs makes GUIDs that no other store makes.
type GUIDs [16]byte

// NewGUIDs begins at random.
func NewGUIDs() (g GUIDs) {
	rand.Read(g[:]) // never fails
	return g
}

// Of is the GUID of a message.
func (g *GUIDs) Of(id uint64) [16]byte {
	out := [16]byte(*g)
	le.PutUint64(out[:], le.Uint64(out[:])+id*0x9e3779b97f4a7c15)
	return out
}

// AppendDbox appends a message with its framing.
func AppendDbox(dst []byte, id uint64, guid [16]byte, body []byte, r *Row) ([]byte, error) {
	if id > maxDboxID {
		return dst, errors.New("dbox: no ids are left: they have 8 hexadecimal digits")
	}
	start := len(dst)
	dst = append(dst, DboxPre...)
	dst = appendHex(dst, id, 8)
	dst = append(dst, ' ')
	dst = appendHex(dst, uint64(len(body)), 16)
	dst = append(dst, '\n')
	dst = append(dst, body...)
	dst = append(dst, dboxPost...)
	for _, m := range [...]struct {
		key byte
		v   int64
	}{{'R', r.Date}, {'Z', r.Size}, {'V', r.VSize}, {'F', int64(r.Flags)}, {'K', int64(r.Keywords)}} {
		dst = strconv.AppendInt(append(dst, m.key), m.v, 16)
		dst = append(dst, '\n')
	}
	dst = hex.AppendEncode(append(dst, 'G'), guid[:])
	dst = append(dst, '\n')
	sum := xxhash.Sum64(dst[start:])
	dst = appendHex(append(dst, 'X'), sum, 16)
	return append(dst, "\n\n"...), nil
}

func appendHex(dst []byte, v uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[v>>(4*i)&15])
	}
	return dst
}

// ParseDboxHead reads the head of a message.
func ParseDboxHead(b []byte) (id uint64, size int64, err error) {
	bad := func(what string) (uint64, int64, error) { return 0, 0, errors.New("dbox: " + what) }
	if len(b) < DboxHead {
		return bad("file ends in the head of a message")
	}
	if string(b[:len(DboxPre)]) != DboxPre || b[12] != ' ' || b[29] != '\n' {
		return bad("no message begins here")
	}
	id, err1 := strconv.ParseUint(string(b[4:12]), 16, 32)
	n, err2 := strconv.ParseUint(string(b[13:29]), 16, 63)
	if err1 != nil || err2 != nil || id == 0 || n > maxDboxLen {
		return bad("numbers in the head of a message")
	}
	return id, int64(n), nil
}

// ParseDbox checks the message at the begin of b, which holds DboxTail bytes
// more than head and mail or ends before, and returns its row, without a place,
// and its length with framing.
func ParseDbox(b []byte) (r Row, n int64, err error) {
	id, size, err := ParseDboxHead(b)
	if err != nil {
		return r, 0, err
	}
	if size > int64(len(b)-DboxHead) {
		return r, 0, errors.New("dbox: file ends in a message")
	}
	tail := b[DboxHead+size:]
	tail = tail[:min(len(tail), DboxTail)]
	rest, ok := bytes.CutPrefix(tail, []byte(dboxPost))
	if !ok {
		return r, 0, errors.New("dbox: no metadata behind the mail")
	}
	r = Row{Key: IDKey(id), Dir: index.DirNone, Size: size}
	seen := ""
	for {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			return r, 0, errors.New("dbox: file ends in metadata")
		}
		if len(line) == 0 {
			rest = after
			break
		}
		if seen += string(line[0]); line[0] == 'X' {
			end := len(b) - len(b[DboxHead+size:]) + len(tail) - len(rest)
			if string(line[1:]) != string(appendHex(nil, xxhash.Sum64(b[:end]), 16)) {
				return r, 0, errors.New("dbox: checksum of a message")
			}
		} else if line[0] != 'G' {
			v, err := strconv.ParseInt(string(line[1:]), 16, 64)
			if err != nil {
				return r, 0, fmt.Errorf("dbox: metadata %q", line)
			}
			switch line[0] {
			case 'R':
				r.Date = v
			case 'Z':
				r.Size = v
			case 'V':
				r.VSize = v
			case 'F':
				r.Flags = index.Flags(v)
			case 'K':
				r.Keywords = uint32(v)
			}
		}
		rest = after
	}
	if seen != "RZVFKGX" || r.Size != size {
		return r, 0, fmt.Errorf("dbox: metadata %q of %d bytes", seen, r.Size)
	}
	return r, DboxHead + size + int64(len(tail)-len(rest)), nil
}

// DboxMetaLen is the length of the metadata at the begin of b; 0: there is none.
func DboxMetaLen(b []byte) int {
	end := bytes.Index(b, []byte("\n\n"))
	if !bytes.HasPrefix(b, []byte(dboxPost)) || end < 0 {
		return 0
	}
	return end + 2
}
