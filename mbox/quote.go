package mbox

import "bytes"

// Quote appends b to dst as the body of an mboxrd message: each line that
// begins with any number of '>' and "From " gets one '>' more. O(len(b)).
func Quote(dst, b []byte) []byte {
	for {
		at := quotable(b, 0)
		if at < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:at]...)
		dst = append(dst, '>')
		// Over the '>' and "From ", so that the same line is not found again.
		f := at + bytes.IndexByte(b[at:], 'F')
		dst = append(dst, b[at:f+1]...)
		b = b[f+1:]
	}
}

// Unquote appends b, a message as stored in an mbox of dialect d, to dst with
// the quoting undone. Only mboxrd's can be: in mboxo and mboxcl nobody knows
// whether ">From " was quoted, and mboxcl2 does not quote. O(len(b)).
func Unquote(dst, b []byte, d Dialect) []byte {
	if d != MboxRD {
		return append(dst, b...)
	}
	for {
		at := quotable(b, 1)
		if at < 0 {
			return append(dst, b...)
		}
		dst = append(dst, b[:at]...)
		f := at + bytes.IndexByte(b[at:], 'F')
		dst = append(dst, b[at+1:f+1]...)
		b = b[f+1:]
	}
}

// quotable returns the begin of the first line of b that begins with at least
// least '>' and then "From ", or -1. b begins at a line's begin, or after the F
// of a line that was found before.
func quotable(b []byte, least int) int {
	for i := 0; i < len(b); {
		j := bytes.IndexByte(b[i:], 'F')
		if j < 0 {
			return -1
		}
		at := i + j
		if bytes.HasPrefix(b[at:], fromSpace) {
			k := at
			for k > i && b[k-1] == '>' {
				k--
			}
			if at-k >= least && (k == 0 || b[k-1] == '\n') {
				return k
			}
		}
		i = at + 1
	}
	return -1
}
