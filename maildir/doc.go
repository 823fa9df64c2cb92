// Package maildir reads maildirs: names, flags, listings, headers, folders.
//
// A maildir is a directory with cur/, new/ and tmp/. Each message is one file
// whose name is
//
//	unique[,S=bytes][,W=bytes as CRLF]:2,FLAGS
//
// The part before the first separator is the base name. It identifies the
// message for life; the rest, and the move from new/ to cur/, may change at any
// moment by the hand of any program, without a lock.
//
// # What is promised
//
//   - Nothing is written, moved or touched. Mail in new/ stays there; files and
//     directories are opened with O_NOATIME where the owner allows it. Only
//     Deliverer and MoveNew change anything; they are for scratch mailboxes.
//   - A listing takes one pass over each directory and no stat, except for
//     names whose type the directory does not tell and for symbolic links.
//   - new/ is listed before cur/, so a message moved meanwhile is seen at least
//     once. A file renamed within a directory during the pass may be seen under
//     both names or under none: see Scan.Unique, and take a name for expunged
//     only if it is missing twice or the State did not change around the scan.
//   - Of a header longer than MaxHeader, 1 MiB, only so much is read: fields
//     behind that are as if they were not there.
//   - A file that changed its flags or its directory since the listing is found
//     again when it is read.
//
// File names are bytes. They may hold anything but NUL and '/'.
package maildir
