package source

import (
	"bytes"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
)

// headerEnd is the offset of the body: after the first empty line, or the end.
func headerEnd(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] == '\n' {
			return i + 1
		}
		if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
			return i + 2
		}
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			break
		}
		i += j + 1
	}
	return len(b)
}

// A fieldWalk is what one pass over a header finds out.
type fieldWalk struct {
	hash     uint64 // of the header without mail readers' own fields, see package comment
	hashed   int    // bytes that went into it
	raw      uint64 // hash of all of the header but its empty line
	rawEnd   int    // offset of the empty line
	end      int    // offset of the body
	flags    index.Flags
	uid      uint32 // X-UID, 0 if none
	keywords []byte // value of X-Keywords
	imap     []byte // value of X-IMAP
	imapBase []byte // value of X-IMAPbase

	digest xxhash.Digest
}

// walk reads the header of b. One look at the begin of each line, one pass of
// the hash (two if there are mail readers' fields); no allocation. The slices it leaves are parts of b.
func (h *fieldWalk) walk(b []byte) {
	h.hash, h.hashed, h.flags, h.uid, h.keywords, h.imap, h.imapBase = 0, 0, 0, 0, nil, nil, nil
	from := 0 // begin of what is not hashed yet
	parts := false
	i := 0
	for i < len(b) && b[i] != '\n' {
		if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
			break
		}
		next := lineEnd(b, i)
		switch b[i] | 0x20 {
		case 'x', 's', 'c':
			name := fieldName(b[i:next])
			if !isState(name) {
				break
			}
			for next < len(b) && (b[next] == ' ' || b[next] == '\t') {
				next = lineEnd(b, next)
			}
			h.take(name, bytes.TrimSpace(b[i+len(name):next]))
			if !parts {
				h.digest.Reset()
				parts = true
			}
			h.digest.Write(b[from:i])
			h.hashed += i - from
			from = next
		}
		i = next
	}
	if parts {
		h.digest.Write(b[from:i])
		h.hash = h.digest.Sum64()
		h.raw = xxhash.Sum64(b[:i])
	} else {
		h.hash = xxhash.Sum64(b[:i])
		h.raw = h.hash
	}
	h.rawEnd = i
	h.hashed += i - from
	h.end = i + headerEnd(b[i:min(len(b), i+2)])
}

// lineEnd is the begin of the next line.
func lineEnd(b []byte, i int) int {
	if j := bytes.IndexByte(b[i:], '\n'); j >= 0 {
		return i + j + 1
	}
	return len(b)
}

// longestState bounds the search for the colon.
const longestState = len("x-mozilla-status2:")

// fieldName returns the name with its colon, nil if the name is longer than
// any that matters.
func fieldName(line []byte) []byte {
	if j := bytes.IndexByte(line[:min(len(line), longestState)], ':'); j > 0 {
		return line[:j+1]
	}
	return nil
}

var stateFields = [...]string{"status:", "x-status:", "x-keywords:", "x-uid:", "x-uidl:", "x-imap:", "x-imapbase:",
	"x-mozilla-status:", "x-mozilla-status2:", "x-mozilla-keys:", "content-length:"}

// isState reports whether a field belongs to a mail reader or server, not to
// the message.
func isState(name []byte) bool {
	for _, s := range stateFields {
		if equalName(name, s) {
			return true
		}
	}
	return false
}

func equalName(name []byte, lower string) bool {
	return len(name) == len(lower) && strings.EqualFold(string(name), lower)
}

func (h *fieldWalk) take(name, value []byte) {
	switch {
	case equalName(name, "status:"):
		if bytes.IndexByte(value, 'R') >= 0 {
			h.flags |= index.FlagSeen
		}
	case equalName(name, "x-status:"):
		for _, c := range value {
			switch c {
			case 'A':
				h.flags |= index.FlagAnswered
			case 'F':
				h.flags |= index.FlagFlagged
			case 'D':
				h.flags |= index.FlagDeleted
			case 'T':
				h.flags |= index.FlagDraft
			}
		}
	case equalName(name, "x-mozilla-status:"):
		h.flags |= mozillaFlags(value)
	case equalName(name, "x-uid:"):
		h.uid, _ = decimal(value)
	case equalName(name, "x-keywords:"):
		h.keywords = value
	case equalName(name, "x-imap:"):
		h.imap = value
	case equalName(name, "x-imapbase:"):
		h.imapBase = value
	}
}

// mozillaFlags reads four hexadecimal digits.
func mozillaFlags(value []byte) (f index.Flags) {
	n, ok := hex(string(value))
	if !ok {
		return 0
	}
	for _, bit := range [...]struct {
		mask uint64
		flag index.Flags
	}{{1, index.FlagSeen}, {2, index.FlagAnswered}, {4, index.FlagFlagged}, {8, index.FlagDeleted}, {0x1000, index.FlagForwarded}} {
		if n&bit.mask != 0 {
			f |= bit.flag
		}
	}
	return f
}

// decimal reads the number that b begins with and returns what follows it;
// 0 if there is none or it has more than 32 bits.
func decimal(b []byte) (n uint32, rest []byte) {
	var v uint64
	i := 0
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + uint64(b[i]-'0')
		i++
		if v > 1<<32-1 {
			return 0, nil
		}
	}
	return uint32(v), b[i:]
}

// hex reads up to 16 hexadecimal digits.
func hex(s string) (n uint64, ok bool) {
	if len(s) == 0 || len(s) > 16 {
		return 0, false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		n = n<<4 | uint64(c)
	}
	return n, true
}
