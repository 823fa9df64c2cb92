// Package rfc5322 reads the header of a mail message: fields, dates, message
// ids, addresses and encoded words, straight from the stored bytes.
//
// Mail is data written by strangers, so nothing here fails: every function
// takes any bytes, returns what can be read, costs time linear in its input
// and never panics. What is odd is told by Warnings.
//
// # Header
//
// A header is a run of lines ended by LF; a CR before the LF belongs to the
// line end, any other CR is text. A line that begins with space or tab
// continues the line before it, even if it holds nothing else (RFC 5322 4.2,
// obs-FWS). The first line that holds nothing at all ends the header. A field
// is a line NAME *WSP ":" VALUE with its continuations; lines without a colon
// are passed over. The first field of a name counts, later ones are reported
// (RFC 5322 3.6 allows one).
//
// # Raw and decoded
//
// Scan, Get and All hand out raw values: what follows the colon, line ends
// and all. Unfold removes the line ends. DecodeWords unfolds and decodes RFC
// 2047; NextID, ParseDate and FirstAddress want the raw value, where comments
// and quotes still mean what they say.
//
// # Whose reading
//
// Where the RFCs are silent, Dovecot 2.3 is followed, because trees and
// orders are compared with it message by message. Where it departs from an
// RFC, functions with the suffix Compat take a Compat that chooses; the
// others follow the RFC. The differences are listed at each of them.
package rfc5322

// Compat says whose reading counts where the RFCs and Dovecot 2.3 differ.
type Compat uint8

// RFC follows RFC 5322, 2047, 5256 and 5957; Dovecot gives what Dovecot
// 2.3.19 computes.
const (
	RFC Compat = iota
	Dovecot
)
