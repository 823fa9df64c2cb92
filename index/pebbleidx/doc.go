// Package pebbleidx is an index and cache in pebble, the LSM engine of
// CockroachDB: what a mail program gets that leaves files to an embedded engine.
//
// # Keys
//
// A key is a letter and what is behind it, numbers big-endian, so that all
// messages' values of one kind lie together in the order of UIDs and THREAD
// scans nothing but what it needs:
//
//	s               the state, 134 bytes: version u8, compat u8, uidvalidity, uidnext,
//	                messages, unseen, deleted u32, highest modseq, generation, seq,
//	                identity, sum of the rows in two lanes u64, index.Known 64 bytes
//	m UID           flags (bits 0-5) and folder (6-7) u8, keywords uvarint,
//	                MODSEQ uvarint, the name
//	v MODSEQ UID    an expunged message; no value
//	h UID           index.AppendFields: message id, references, sent date, base
//	                subject, address and display keys
//	e UID           the envelope: ten strings in the order of index.EnvelopeFields,
//	                each uvarint (0: no such field, else length + 1) and bytes
//	i UID           INTERNALDATE, varint
//	z UID           RFC822.SIZE, uvarint
//
// Behind each value of h, e, i and z stands a CRC-32C (u32) of identity, key and
// value. There is no key from names to UIDs: whoever compares a listing with the
// rows has all rows in memory, and nobody else asks for a name.
//
// # What is cached when
//
// Sync reads no mail: rows alone are written. h is filled by the first THREAD
// or SORT that misses it, for the messages that miss it, and with
// fields=envelope e along with it; i and z by the first SORT ARRIVAL and SIZE. With
// fields=thread FETCH reads the mail, with fields=envelope it fills in e where it
// is missing. So the costs lie as in package column, and the two compare: an
// engine that fills at Sync would only move ThreadFirst into SelectFirst.
//
// # Options
//
// sync: whether a commit waits for the disk. flush: whether closing writes the
// memtable to a table (the next opening then replays nothing) or leaves it to
// the log. memtable: its size. compression: of tables at all levels.
// Options.CacheBytes is pebble's block cache, 16 MiB if 0.
//
// # Invariants
//
// P1. A change (Follow's Save) is one batch: rows, vanished messages, removed
// values and the state with the next seq; it is on disk when Sync returns. Notes
// and cached values are not synced, but for the last batch of a fill: losing
// them costs a listing, or reading the mail again.
//
// P2. A new index is written by several commits, the state last. Without it
// there is no index.
//
// P3. The state has the sum of a hash of every row and vanished message. Rows
// that a fault puts together from tables and logs of different states do not
// add up to it, and values of another index do not match identity.
//
// P4. Pebble is opened for reading only until something has to be written, so
// that looking changes no byte; one that was opened for writing stays so until
// the last mailbox of the directory in this process is closed.
//
// P5. A damaged index is removed (the note of UIDVALIDITYs stays), and the next
// Sync builds it anew with a greater UIDVALIDITY. It is damage when pebble says
// so, when it cannot be opened for another reason than the disk's, when P3 does
// not hold, or when a value is not one of ours.
//
// # Pebble's files and this program
//
// All of pebble's input and output goes through Config.FS (engineFS), so its
// calls are counted and its crashes are played like those of the other designs.
// That showed two things. Pebble syncs the directory once after it has made a
// manifest, made its marker and removed the old marker; where a file system
// loses unsynced names in any order, there is then a marker without its manifest,
// or no marker. engineFS syncs before a marker is made and before one is removed:
// two more syncs of a directory each time pebble is opened for writing. And
// pebble has no way to go on after a failed write: it ends the process, from
// whatever goroutine sees it, by its Logger or a panic. Here that goroutine
// stops for good, the engine is given up (nothing it does later reaches the
// disk), its memory is lost, the caller has an error, and the next call opens
// the files anew. No log is written.
//
// Damage: pebble has a sum of each block, log record and manifest record; what it
// cannot know, that files of different states or indexes were mixed, P3 tells.
// With both, no flip of any bit, cut of any file or mix of files that the
// conformance kit tries gives a wrong answer, and the design says so. What a log
// that was not flushed (flush=never) has lost at its end cannot be told from a
// torn write: it is an older index.
//
// Pebble opens a directory once. Mailboxes of one process share it; between
// processes the directory is locked (flock, no file): any number may read, one
// may write, and none while others have it open. Who does not get it within a
// second has fsys.ErrLocked.
//
// Closing removes the logs that were flushed; pebble keeps up to three of them
// until it is next opened for writing, for a second use that engineFS never
// makes of them.
//
// # Not done
//
// The list of vanished messages is never shortened. Reading all rows for one
// message's answer: rows are loaded once per mailbox handle. The sum of the
// rows is counted anew at each change, O(n), about 40 ns a row.
package pebbleidx
