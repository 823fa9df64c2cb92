// Package mbox is store=mbox: all messages in one file, appended at its end.
//
//	mbox         the mailbox: mboxrd, see package mailbench/mbox
//	mbox.good    how much of it is known to be on disk, see "A torn end"
//
// Any reader of mboxes sees the messages, their flags and UIDs in it.
//
// # The file
//
//	From MAILER-DAEMON Thu Jan  1 00:00:00 1970       head: UW-IMAP's way to keep what is no mail;
//	Subject: ...                                      readers that know X-IMAP do not show it
//	X-IMAP: UIDVALIDITY LASTUID k0 k1 ... k31         LASTUID is a high-water mark, see B2
//	X-Mailbench-Store: 1 GENERATION LENGTH SUM        of the file when it was last written anew
//	Status: RO
//
//	...
//
//	From MAILER-DAEMON Tue Nov 14 22:13:20 2023       record of a message: INTERNALDATE, UTC
//	X-UID: 12                                         the key
//	X-Mailbench: SIZE VSIZE QUOTED OPEN WIDTH SUM HEADSUM   and spaces
//	X-Mailbench-State: FLAGS KEYWORDS SUM             state, for this package
//	Status: RO                                        and for others: R is \Seen
//	X-Status: AFDT                                    \Answered \Flagged \Deleted \Draft
//	X-Keywords: $Forwarded k0 k25                     padded with spaces to WIDTH
//	the message as appended, its "From " lines quoted, and a line end where it has none (OPEN is 1)
//	                                                  an empty line
//	From MAILER-DAEMON ...
//
// SIZE and VSIZE are the bytes of the message and those with CRLF line ends,
// QUOTED is how many '>' the quoting has added, SUM the xxhash64 of the quoted
// message, HEADSUM 32 bits of that of the record so far. So a message is given
// back byte for byte (S3), whatever it is: the quoting of mboxrd can be undone,
// SIZE tells about the last line end, CRLF is not touched, and fields of the
// message with these names stand below ours and are left alone.
//
// # Invariants
//
// B1. Records follow the head, and each other, without a gap; what stands
// between two listed records otherwise is damage, which Check tells.
//
// B2. UIDs rise strictly. The next one is above the last one in the file and
// above LASTUID, which every writing anew raises to the highest ever given: only
// that removes records. So no key is used twice (S4).
//
// B3. A change of flags in place is there whole or not at all. The four lines of
// the state are within one aligned sector of 512 bytes, for which spaces behind
// HEADSUM take care, and disks write sectors whole. Should a write end in the
// middle all the same: the first line counts when its SUM is right; when it is
// not, the write did not come to the lines below, and they tell what was. What is
// not as it should be then is written again at opening.
//
// B4. LENGTH, and the length in mbox.good when its generation is that of the
// file, are record boundaries, and up to there all was once on disk.
//
// B5. A record never follows damage directly, where nobody would find it. What is
// appended behind damage stands behind a zero and a line end, and these behind
// the place to which a record that was cut short would have come: with zeros up
// to there it cannot pass for whole, nor take what was appended for its own.
//
// # Append, flags, expunge
//
// A group is one write at the end and one fdatasync. If either fails the file is
// cut back.
//
// A change of flags is written over the state and synced, as servers do it, and
// like theirs fits as long as the padding of X-Keywords (50 bytes, Dovecot's)
// lasts; else the file is written anew with more.
//
// Expunge writes the file anew: a temporary file, fsync, rename, fsync of the
// directory. UW-IMAP and Dovecot move what follows down inside of the file and
// cut it: half the writing for a message in the middle, no second copy, and a
// crash in the middle leaves a mailbox in which messages are mixed. Here the
// promise (S2) is worth the copy. It costs O(mailbox), for one message as for
// many: the price of the format, which this store is there to show.
//
// # A torn end
//
// mbox.good is written after each fdatasync and not synced itself; it is 40
// bytes, little endian:
//
//	+----------+----------------+------------+-------------+-------------+
//	| mbgood1\n | generation u64 | length u64 | lastuid u64 | xxhash64    |
//	+----------+----------------+------------+-------------+-------------+
//
// So it never tells too much, and after a killed process all. At opening, records
// behind that length (or LENGTH) count only if their SUM is right, and from the
// first that is none the file is cut: nothing there was acknowledged. Before it,
// what is no record is damage: it is kept, also when the file is written anew,
// told by Check, and the records after it are found again. ReadMessage compares
// SUM each time.
//
// # Mail that vanished
//
// A file that is gone or empty though mbox.good tells of mail is an error at
// Open, and nothing is made: a mailbox that is empty all at once, and soon has
// new mail, is noticed later than one that does not open, and what was put back
// would be in its way. Who wants the empty one removes mbox.good. A file that is
// shorter than it was is opened, and told by Check until the next Open.
//
// # Not done
//
//   - No locks for other programs (fcntl, dotlock): that of store.Open keeps out
//     other Stores.
//   - What other programs change in Status, X-Status and X-Keywords is undone.
//   - Reading a header alone verifies nothing.
//   - An expunge of the last messages could cut the file instead of writing it
//     anew, and one in the middle could leave the front as it is.
//   - An INTERNALDATE outside the years 0 to 9999 is clamped. 2^32-1 messages in
//     all, then ErrFull.
//   - A failed fsync of the directory after an expunge leaves the messages gone;
//     nothing is acknowledged any more before that fsync has succeeded.
package mbox
