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
package session
