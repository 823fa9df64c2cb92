package maildir

import "strings"

// Flags are the six standard flags of a maildir file name.
type Flags uint8

const (
	FlagDraft   Flags = 1 << iota // D
	FlagFlagged                   // F
	FlagPassed                    // P: resent, forwarded or bounced
	FlagReplied                   // R
	FlagSeen                      // S
	FlagTrashed                   // T
)

// flagLetters are the letters of the bits, which are in ASCII order.
const flagLetters = "DFPRST"

// String returns the flags as sorted capitals, "" for none.
func (f Flags) String() string {
	var b [len(flagLetters)]byte
	return string(f.appendTo(b[:0]))
}

func (f Flags) appendTo(b []byte) []byte {
	for i := range len(flagLetters) {
		if f>>i&1 != 0 {
			b = append(b, flagLetters[i])
		}
	}
	return b
}

// Options say how names are read. The zero value is the standard's.
type Options struct {
	// Separator stands between the unique part and the info; 0 means ':'.
	// Programs on file systems without colons use ';' or '!'.
	Separator byte
}

func (o Options) separator() byte {
	if o.Separator == 0 {
		return ':'
	}
	return o.Separator
}

// Name is a file name taken apart.
type Name struct {
	Base     string // before the first separator: identifies the message
	Flags    Flags
	Keywords uint32 // bit i = letter 'a'+i, see Keywords

	// Size and VSize are the values of ,S= and ,W= in the base name: bytes as
	// stored and bytes with CRLF line ends, -1 if absent or not a number. They
	// are what the deliverer claimed; the file may have changed.
	Size, VSize int64

	HasInfo bool // there is a ":2," part, even an empty one

	// Unknown is what the info holds besides flags and keywords: other
	// letters, in the order found, and from a second comma on everything. Without HasInfo it is all from the first separator on, as
	// with the experimental ":1,".
	Unknown string
}

// Parse takes a file name apart. Every name is valid. The base ends before the
// first separator; flags come after the last ":2,", as Dovecot and the
// standard's wording have it; the order and repetition of letters do not
// matter. It does not allocate unless unknown letters stand between known ones.
func Parse(file string, o Options) Name {
	sep := o.separator()
	base, info := cut(file, sep)
	n := Name{Base: base}
	n.Size, n.VSize = sizes(base)
	var letters string
	if letters, n.HasInfo = infoFlags(info, sep); n.HasInfo {
		var rest int
		n.Flags, n.Keywords, rest = parseFlags(letters)
		n.Unknown = unknown(letters, rest)
	} else {
		n.Unknown = info
	}
	return n
}

// cut splits before the first separator; info keeps it.
func cut(file string, sep byte) (base, info string) {
	if i := strings.IndexByte(file, sep); i >= 0 {
		return file[:i], file[i:]
	}
	return file, ""
}

// infoFlags returns what follows the last ":2," of an info part.
func infoFlags(info string, sep byte) (letters string, ok bool) {
	for i := len(info) - 3; i >= 0; i-- {
		if info[i] == sep && info[i+1] == '2' && info[i+2] == ',' {
			return info[i+3:], true
		}
	}
	return "", false
}

// parseFlags reads letters up to a comma. rest is the position of that comma,
// len(letters) without one, or -1 if unknown letters came before it.
func parseFlags(letters string) (f Flags, keywords uint32, rest int) {
	odd := false
	for i := 0; i < len(letters); i++ {
		switch c := letters[i]; {
		case 'a' <= c && c <= 'z':
			keywords |= 1 << (c - 'a')
		case c == ',':
			if odd {
				return f, keywords, -1
			}
			return f, keywords, i
		default:
			if bit := flagOf(c); bit != 0 {
				f |= bit
			} else {
				odd = true
			}
		}
	}
	if odd {
		return f, keywords, -1
	}
	return f, keywords, len(letters)
}

func flagOf(c byte) Flags {
	switch c {
	case 'D':
		return FlagDraft
	case 'F':
		return FlagFlagged
	case 'P':
		return FlagPassed
	case 'R':
		return FlagReplied
	case 'S':
		return FlagSeen
	case 'T':
		return FlagTrashed
	}
	return 0
}

// unknown gathers the letters that parseFlags did not take.
func unknown(letters string, rest int) string {
	if rest >= 0 {
		return letters[rest:]
	}
	odd := func(c byte) bool { return flagOf(c) == 0 && (c < 'a' || c > 'z') }
	end := strings.IndexByte(letters, ',')
	if end < 0 {
		end = len(letters)
	}
	first := 0
	for !odd(letters[first]) {
		first++
	}
	i := first
	for i < end && odd(letters[i]) {
		i++
	}
	if i == end {
		return letters[first:]
	}
	if end == len(letters) && strings.IndexFunc(letters[i:], func(r rune) bool { return r > 'z' || odd(byte(r)) }) < 0 {
		return letters[first:i] // they stand together
	}
	var b []byte
	for i := first; i < end; i++ {
		if odd(letters[i]) {
			b = append(b, letters[i])
		}
	}
	return string(append(b, letters[end:]...))
}

// sizes finds ,S= and ,W=. The first of each counts, and only when its digits
// end at a comma or at the end, which is how Dovecot reads them.
func sizes(base string) (size, vsize int64) {
	size, vsize = -1, -1
	var haveS, haveW bool
	for {
		i := strings.IndexByte(base, ',')
		if i < 0 {
			return size, vsize
		}
		base = base[i+1:]
		if len(base) < 2 || base[1] != '=' {
			continue
		}
		switch base[0] {
		case 'S':
			if !haveS {
				haveS, size = true, decimal(base[2:])
			}
		case 'W':
			if !haveW {
				haveW, vsize = true, decimal(base[2:])
			}
		}
	}
}

// decimal reads digits up to a comma or the end; -1 for anything else and for
// more than 18 digits.
func decimal(s string) int64 {
	var v int64
	for i := 0; i < len(s); i++ {
		c := s[i] - '0'
		if c > 9 {
			if i > 0 && s[i] == ',' {
				return v
			}
			return -1
		}
		if i == 18 {
			return -1
		}
		v = v*10 + int64(c)
	}
	if s == "" {
		return -1
	}
	return v
}

// AppendFile appends the name that a message with these flags most likely has
// in dir: its base name, and flags as the standard wants them written. In new/
// there is no info part without flags. A name with unknown letters or in another
// order is not found by it.
func AppendFile(b []byte, base string, dir Dir, f Flags, keywords uint32, o Options) []byte {
	b = append(b, base...)
	if dir == New && f == 0 && keywords == 0 {
		return b
	}
	b = append(b, o.separator(), '2', ',')
	b = f.appendTo(b)
	return appendKeywords(b, keywords)
}

func appendKeywords(b []byte, keywords uint32) []byte {
	for i := range 26 {
		if keywords>>i&1 != 0 {
			b = append(b, 'a'+byte(i))
		}
	}
	return b
}

// Sizes returns what ,S= and ,W= of a base name claim, as in Name.
func Sizes(base string) (size, vsize int64) { return sizes(base) }

// File is the inverse of Parse: Parse(n.File(o), o) is n for every n that Parse
// returned. Letters come sorted and once, which is how the standard wants them
// written; of a doubled info part only the one that counts remains. A name
// without ":2," that has been given flags gets one, and loses what stood there.
func (n Name) File(o Options) string {
	b := make([]byte, 0, len(n.Base)+3+len(flagLetters)+len(n.Unknown)+8)
	b = append(b, n.Base...)
	if !n.HasInfo && n.Flags == 0 && n.Keywords == 0 {
		return string(append(b, n.Unknown...))
	}
	b = append(b, o.separator(), '2', ',')
	var tail string
	if n.HasInfo {
		tail = n.Unknown
	}
	letters, rest, comma := strings.Cut(tail, ",")
	if strings.IndexByte(letters, o.separator()) >= 0 {
		// Behind the flags a stray separator could come to stand before "2,".
		b = append(b, letters...)
		b = n.Flags.appendTo(b)
	} else {
		b = n.Flags.appendTo(b)
		b = append(b, letters...)
	}
	b = appendKeywords(b, n.Keywords)
	if comma {
		b = append(append(b, ','), rest...)
	}
	return string(b)
}
