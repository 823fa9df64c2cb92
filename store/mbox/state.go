package mbox

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
)

// A state is what the four lines tell that change in place.
type state struct {
	flags    index.Flags
	keywords uint32
}

const (
	ownField      = "X-Mailbench-State: "
	statusField   = "Status: "
	xStatusField  = "X-Status: "
	keywordsField = "X-Keywords: "
	forwarded     = "$Forwarded"

	ownLen = len(ownField) + 2 + 1 + 8 + 1 + 8 + 1

	// stateFixed is the length of the state without the keywords.
	stateFixed = ownLen + len(statusField) + 3 + len(xStatusField) + 5 + len(keywordsField) + 1

	padding  = 50  // width of the keywords of a new record
	maxWidth = 256 // more than all names together need
)

// xStatus are the letters of X-Status in the order in which they are written.
var xStatus = []struct {
	letter byte
	flag   index.Flags
}{{'A', index.FlagAnswered}, {'F', index.FlagFlagged}, {'D', index.FlagDeleted}, {'T', index.FlagDraft}}

var keywordNames = func() (names [32]string) {
	for i := range names {
		names[i] = "k" + strconv.Itoa(i)
	}
	return names
}()

// names are the keywords as X-Keywords has them.
func (s state) names() string {
	var b strings.Builder
	if s.flags&index.FlagForwarded != 0 {
		b.WriteString(forwarded)
	}
	for i, name := range keywordNames {
		if s.keywords>>i&1 != 0 {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(name)
		}
	}
	return b.String()
}

// width is the room that a new record with this state gets for keywords.
func (s state) width() int {
	if n := len(s.names()); n > padding {
		return n + padding
	}
	return padding
}

// append appends the four lines; names must fit width.
func (s state) append(dst []byte, uid uint32, width int) []byte {
	dst = fmt.Appendf(dst, "%s%02x %08x %08x\n", ownField, uint16(s.flags), s.keywords, s.sum(uid))
	dst = append(dst, statusField...)
	if s.flags&index.FlagSeen != 0 {
		dst = append(dst, "RO\n"...)
	} else {
		dst = append(dst, "O \n"...)
	}
	dst = append(dst, xStatusField...)
	n := 0
	for _, x := range xStatus {
		if s.flags&x.flag != 0 {
			dst = append(dst, x.letter)
			n++
		}
	}
	dst = append(dst, "    \n"[n:]...)
	names := s.names()
	dst = append(append(dst, keywordsField...), names...)
	for range width - len(names) {
		dst = append(dst, ' ')
	}
	return append(dst, '\n')
}

func (s state) sum(uid uint32) uint32 {
	var b [10]byte
	binary.LittleEndian.PutUint32(b[:], uid)
	binary.LittleEndian.PutUint32(b[4:], s.keywords)
	binary.LittleEndian.PutUint16(b[8:], uint16(s.flags))
	return uint32(xxhash.Sum64(b[:]))
}

// parseState reads what append has written (B3): the first line if its sum is
// right; else, when that was torn or damaged, the others, which are then as they
// were before. whole is false when not all is as it should be.
func parseState(b []byte, uid uint32, width int) (s state, whole bool) {
	p := fieldReader{b: b, ok: true}
	p.literal(ownField)
	s = state{index.Flags(p.hex(2, ' ')), uint32(p.hex(8, ' '))}
	if sum := p.hex(8, '\n'); !p.ok || uint32(sum) != s.sum(uid) || s.flags&^knownFlags != 0 {
		s = parseVisible(string(b[min(len(b), ownLen):]))
	}
	return s, len(s.names()) <= width && string(s.append(nil, uid, width)) == string(b)
}

// parseVisible reads the lines for other readers.
func parseVisible(text string) (s state) {
	lines := strings.SplitN(text+"\n\n\n", "\n", 4)
	if v, ok := strings.CutPrefix(lines[0], statusField); ok && strings.Contains(v, "R") {
		s.flags |= index.FlagSeen
	}
	if v, ok := strings.CutPrefix(lines[1], xStatusField); ok {
		for _, x := range xStatus {
			if strings.IndexByte(v, x.letter) >= 0 {
				s.flags |= x.flag
			}
		}
	}
	if v, ok := strings.CutPrefix(lines[2], keywordsField); ok {
		for _, name := range strings.Fields(v) {
			if name == forwarded {
				s.flags |= index.FlagForwarded
			}
			for i, known := range keywordNames {
				if name == known {
					s.keywords |= 1 << i
				}
			}
		}
	}
	return s
}
