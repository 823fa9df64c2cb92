// Package maildir is store=maildir: one file for each message, its flags in the
// name. Package mailbench/maildir says what the names mean; this one writes them.
//
//	tmp/SECS.MUSECPPIDQn.HOST                   being written
//	cur/SECS.MUSECPPID.HOST,S=bytes,W=bytes:2,FLAGS
//	new/SECS.MUSECPPID.HOST,S=bytes,W=bytes     with Extra "into"="new", as long as there are no flags
//	mailbench-newest                            the highest name ever, see M3
//
// The key is the base name. S= is the size, W= the size with CRLF line ends, the
// modification time the INTERNALDATE.
//
// # Append
//
// A message is written into tmp/, given its time, fsynced, renamed into cur/ or
// new/, and the directory it came into is fsynced: then Append returns. A group
// writes up to syncBatch files, fsyncs them beside each other, and so on; then
// renames all and syncs each directory once. What several goroutines append at
// the same time is renamed and its directory synced together, whoever comes
// first doing it for those who wait.
//
// # Which directory entries are synced, and why
//
//   - cur/ and new/, after the renames into them: the name is what makes the
//     message be there (S1).
//   - tmp/ never. An entry there is no promise: a file that is still in tmp/
//     after a crash is nobody's and goes with the next cleaning; one that a crash
//     leaves in both is whole in the one that counts. The data of the file are on
//     disk by its own fsync, wherever its name is.
//   - new/ and cur/ when flags move a message from one to the other: cur/ so that
//     the change lasts, new/ so that it is not found in both.
//   - the mailbox's directory and its parent when the three are made.
//
// # Invariants
//
// M1. Files of cur/ and new/ are complete: they got there by a rename after
// their fsync. What a crash leaves in tmp/ is removed by the first opening that
// is 36 hours later, by the time in the name and by the modification time, which
// may be an INTERNALDATE of long ago.
//
// M2. Base names rise strictly (maildir.Compare) in the order of append, also
// when the clock goes back, and after reopening: a new name is above every name
// that is there and above mailbench-newest. A clock beyond the year 5138 is taken
// for that year, so that there is room above it; where there is none Append
// fails (ErrFull). Strangers' names of the year 33658 and later are not risen above.
//
// M3. Before the newest message is removed mailbench-newest holds its time, on
// disk: so a key is never used twice though no file remembers it (S4).
//
// M4. A name is canonical: flags and keywords sorted, each once. Opening renames
// what is not.
//
// # What fails
//
// An Append that fails takes back what it has written: all of it before the
// first rename, and after a failed sync of a directory the whole batch. A rename
// that fails in the middle leaves the messages before it. SetFlags renames back
// what it has renamed; Expunge cannot. What could not be taken back is so before
// the next messages get names, and at Close; after a crash it is an append that
// nobody acknowledged, and there.
//
// # Not done
//
//   - No checksums: a file system that returns other bytes of the same number is
//     believed. A file of another size than its name says is an error.
//   - No dovecot-uidlist, and no lock but that of store.Open, which keeps out other
//     Stores.
//   - Keywords are the letters a to z; a bit above is ErrKeyword.
//   - INTERNALDATEs outside what the file system keeps (1901 to 2446 on ext4) are
//     what it makes of them once the mailbox has been opened again.
//   - No quota, no subfolders. Purge has nothing to do.
//   - A base name that is there twice is listed once and told by Check.
package maildir
