package maildir

import "bytes"

const (
	// MaxHeader bounds what ReadHeader reads. A result of this length that
	// does not end in an empty line was cut: see CutHeader.
	MaxHeader = 1 << 20

	// firstRead covers 87% of the headers of kernel lists in one call; whole
	// messages have a median of 6 KB, so reading more would seldom copy more.
	firstRead = 8 << 10
)

// CutHeader reports whether a header that ReadHeader returned goes on in the
// file.
func CutHeader(header []byte) bool {
	if len(header) < MaxHeader {
		return false
	}
	return !bytes.HasSuffix(header, []byte("\n\n")) && !bytes.HasSuffix(header, []byte("\n\r\n"))
}

// headerEnd looks for the empty line that ends a header, in lines that start at
// from. It returns the offset behind it, or -1 and where to go on when b has
// grown. An empty line is LF or CRLF; a bare CR is part of its line.
func headerEnd(b []byte, from int) (end, next int) {
	for i := from; i < len(b); {
		switch {
		case b[i] == '\n':
			return i + 1, 0
		case b[i] == '\r' && i+1 == len(b):
			return -1, i
		case b[i] == '\r' && b[i+1] == '\n':
			return i + 2, 0
		}
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return -1, i
		}
		i += n + 1
		from = i
	}
	return -1, from
}
