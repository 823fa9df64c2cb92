// Package mbox reads mbox files (RFC 4155 and its relatives) by offsets,
// without copying, and writes mboxrd.
//
// # Layout
//
//	[anything]                     before the first From_ line: no message
//	From SENDER DATE\n             From_ line        Message.Off
//	header\n ... \n body ...       stored bytes      Message.BodyOff to End
//	\n                             separator: one empty line, or none
//	From SENDER DATE\n ...
//
// Line ends are LF or CRLF, mixed as they come. The last message ends at the
// end of the file; one empty line there is a separator too. Every byte is in
// exactly one of these parts.
//
// # What is a From_ line
//
// The text "From " at the begin of a line, in a line of at most 1,024 bytes,
// depending on what follows it, what is before it and what is after it. Blank
// means that an empty line or the begin of the file is before it; header that
// the next line looks like one: a name of printable ASCII and a colon.
//
//	sender and date                     blank or header
//	sender, date and then other words   blank and header
//	nothing (as Thunderbird writes)     blank and header
//	anything else                       blank and header, and the file's own
//	                                    first line is a From_ line without date
//
// The date is asctime's ("Mon Jan  2 15:04:05 2006"), where the weekday, the
// seconds and two digits of the year may be missing and a zone may stand before
// or after the year, or "2 Jan 2006 15:04:05". The sender may be missing or hold
// spaces ("user at host"). "remote from HOST" may follow. A date without zone
// is UTC.
//
// So "From the office we write." is text, also after an empty line; a message
// is not lost when a writer forgot the empty line; and a pasted From_ line in
// the middle of a paragraph is text unless a header line is below it. A pasted
// From_ line after an empty line divides the message, in every dialect: that is
// what quoting is for, and Content-Length.
//
// # Dialects
//
// Only mboxrd's quoting can be undone (Unquote); of the others the bytes stay
// as stored. In mboxcl and mboxcl2 a Content-Length counts the bytes after the
// header's empty line. It is believed when a From_ line, or the end of the file,
// is where it leads to, or one line end further; a negative, repeated, absurd or
// wrong one is ignored and the From_ lines decide. Believed, it also says
// that an empty line before the From_ line is the message's own.
//
// # What is not done
//
// No lock is taken and no index of a server is read. UW-IMAP's pseudo message
// ("FOLDER INTERNAL DATA") is a message here; package corpus/source hides it.
// A file with CR alone as line end is garbage. MMDF (^A^A^A^A) is not read.
package mbox
