// Package source opens what a user has: a maildir, an mbox (plain, gzip, zstd)
// or one message file. What it returns is an index.Source: read only, nothing
// of the mail is written, renamed, moved from new/ to cur/ or touched.
//
// # What a path is
//
//	directory with cur/ or new/               maildir
//	file, empty                               mbox without messages
//	file with a From_ line at its begin       mbox
//	file that begins with a header line       message, or mbox if it is called
//	                                          .mbox or .mbx and has a From_ line
//	file with a From_ line further down       mbox with garbage before it
//	any other file                            message
//
// A file that is a gzip or zstd stream is looked at after decompression, and
// .gz or .zst is ignored in its name. Options.Kind overrides all this. What a
// From_ line is, package mbox says.
//
// # Keys
//
// A key names a message for as long as it exists. In a maildir it is the base
// name of the file; of a message file it is the file's name. In an mbox it is
// made from the header, so that it stays when messages before it are expunged
// and the file is written anew:
//
//	xxhash64 of the header's bytes, 16 hexadecimal digits
//	.
//	1 for the first message with this header, 2 for the next one, ...
//
// The empty line is not in the header. Fields in which servers and mail readers
// keep their own state are left out, with their folds: Status, X-Status,
// X-Keywords, X-UID, X-UIDL, X-IMAP, X-IMAPbase, X-Mozilla-Status,
// X-Mozilla-Status2, X-Mozilla-Keys, Content-Length. A message without any
// other header is known by its From_ line. If one of several messages with the
// same header goes, the last number goes; a header made on purpose to have the
// hash of another is taken for its duplicate.
//
// # Flags of an mbox
//
//	Status: R \Seen (O, D and others tell nothing)
//	X-Status: A \Answered, F \Flagged, D \Deleted, T \Draft
//	X-Mozilla-Status: 0001 \Seen, 0002 \Answered, 0004 \Flagged, 0008 \Deleted, 1000 $Forwarded
//	X-Keywords: names; bit i is the i-th name of X-IMAP or X-IMAPbase, then of first use
//
// # UW-IMAP's internal message
//
// If the first message has an X-IMAP field with a number it is not mail: UW-IMAP
// and Dovecot keep the UIDVALIDITY there. List leaves it out; Mbox.IMAPBase
// tells the numbers (also those of an X-IMAPbase in a real first message) and
// Mbox.UID the X-UID of a message. Package mbox shows it like any other.
package source
