// Package session serves IMAP4rev1 over any index design and store: what a mail
// client, or the benchmarks of real servers, may say to one mailbox and its
// subfolders, already authenticated.
//
// # Two ways to a mailbox
//
// Mail that is only read is opened as it is (package corpus/source), and a design
// indexes it: SELECT of a maildir that has not changed costs two stats and a
// page of the index, whatever its size. What is written goes through a box.Box,
// which holds every key in memory. A maildir is opened the first way also when
// it may be written to, and the second way by the first command that writes:
// both find the same keys, so the index and its UIDs stay what they are.
//
// # What a connection sees
//
// Each connection that has selected a mailbox has a view of it: its UIDs by
// sequence number. What others have changed is told at the end of a command,
// EXPUNGE only where RFC 3501 section 7.4.1 allows it. A view is empty as long
// as nothing needs it: UID THREAD and UID SORT of all messages are answered by
// the index, and its answer is written as it is.
//
// The mail is looked at by NOOP, CHECK, SELECT, STATUS and IDLE. Other commands
// ask for the times of its directories alone, which do not tell of a change in the
// two seconds after the one before.
//
// # Several processes
//
// A process holds the lock of the index directory for the length of a command,
// or, with a Box, for as long as that is open: others that want it wait and are
// then told NO [INUSE].
//
// # What is other than in Dovecot 2.3
//
// TestDovecot holds every answer against the real one. On purpose other are:
//
//   - No message is \Recent. Maildir's P is the keyword $Forwarded.
//   - A part that is not there is NIL, not "". The host of an address without
//     one is empty. Tabs stay in an ENVELOPE; what is no address ("a at b (A)") is
//     guessed otherwise.
//   - The line end before a delimiter belongs to it also after a multipart inside
//     (RFC 2046 section 5.1.1): such a part is two bytes shorter.
//   - BODYSTRUCTURE has its parameters sorted, and tells no charset that the part
//     does not.
//   - FROM, TO, CC look in the field as it is, decoded, comments too, not in the
//     addresses in it. A message without a date is on no side of a SENT key.
//   - A flag that no message has is not made known by searching for it.
//
// # Not done
//
//   - RENAME, SUBSCRIBE, MOVE, extensions of LIST and SEARCH, CONDSTORE,
//     COMPRESS: a tagged NO.
//   - CREATE, DELETE and more than one mailbox in stores other than a maildir.
//   - Keywords beyond the 26 of maildir. Two sessions that name a new keyword at
//     the same time, in two processes, may give it two letters.
//   - The first UNSEEN in SELECT, where it would have to be looked for.
//   - RFC822.SIZE of mail whose name does not tell it is found by reading it, once
//     in the life of the process.
//   - Mail is stored as it is sent, with CRLF.
//   - The header fields that a message has once at most are searched as the index
//     knows them: the first of a name.
package session
