// Package index keeps UIDs, flags and MODSEQ of a mailbox on disk, and is the
// ground that index designs stand on: it defines what a Source of mail is and
// what a Design promises, and has the parts that several designs share (Base,
// Tracker, the reading of headers into Columns).
//
// # Files
//
//	mailbench.index        the snapshot, a blockfile
//	mailbench.log          what has changed since the snapshot
//	mailbench.uidvalidity  the last UIDVALIDITY given out in this directory
//	mailbench.index.damaged a snapshot that could not be read, kept to look at
//
// # The snapshot
//
// A container of package blockfile, of kind "index", version 2. The meta bytes
// of its header page are an identity (a random u64, drawn when the index is
// built anew) and a summary:
//
//	+-------------+---------+----------+--------+---------+------+----------------+
//	| uidvalidity | uidnext | messages | unseen | deleted | bits | highest modseq |
//	| u32         | u32     | u32      | u32    | u32     | u32  | u64            |
//	+-------------+---------+----------+--------+---------+------+----------------+
//	| source state u64 * 4  | digest of the names u64 * 2 | names in it u64       |
//	+-----------------------+---+-------------------------+-----------------------+
//	| hash of the set u64 * 2   | added u64               |
//	+---------------------------+-------------------------+
//
// bits: 1 the source was racy. All sections are zstd, rows in UID order:
//
//	key       names, 16,384 to a block: patterns, and columns of the numbers in
//	          them (seconds, microseconds, process, S=, W=), see keyEncoder
//	keylen    bytes of the names in each of these blocks, uvarint, raw
//	uid       uvarint differences, from 0 in each block of 65,536 rows
//	flags     a byte: flags (bits 0-5), folder (6-7: cur, new, none)
//	keywords  uvarint; the section is missing when all are 0
//	modseq    zigzag uvarint differences, from 0 in each block
//	vanished  expunged messages: UID (zigzag difference), MODSEQ (difference)
//	lost      a UID, then UID (zigzag difference) and hash (u64, lane 0) of the
//	          expunged messages from that UID on; missing: nothing was expunged
//
// # The log
//
//	+---------------------------------------------+ +--------+---
//	| header, 64 bytes: magic "mblog\0\0\2",      | | record | ...
//	| identity u64, generation u64, uidvalidity   | +--------+---
//	| u32, zeros, xxhash64 of bytes 0..55         |
//	+---------------------------------------------+
//
//	record:
//	+-------+--------+-----+------+---+----------+---------+------------+--------+-------+---------------+
//	| magic | length | seq | kind | 0 | xxhash64 | summary | operations | length | magic | xxhash64      |
//	| u32   | u32    | u64 | u32  |u32| of these | 112     |            | u32    | u32   | of all before |
//	+-------+--------+-----+------+---+----------+---------+------------+--------+-------+---------------+
//
// kind 0 is a change, 1 a note: the names were listed and had not changed, only
// the source's state. Operations are in appendOps. The summary is the one after
// the record, so that the state of the mailbox is in the last record: opening
// reads the header page of the snapshot, the header of the log and its end.
//
// # Invariants
//
// I1. UIDs ascend strictly, are below uidnext, and are never given out twice
// under one UIDVALIDITY. New mail gets them in Source.Order.
//
// I2. UIDVALIDITY is greater than any earlier one of the directory, also after
// the index files were removed (RFC 3501 section 2.3.1.1).
//
// I3. The log belongs to the snapshot with its identity and generation; a log
// of an older generation is ignored. Folding the log makes a new snapshot with
// the next generation, renamed into place, after which the log is removed.
//
// I4. A change is one write and one fdatasync, after which it is acknowledged.
// A note is not synced: losing it costs one listing. So a bad record is a torn
// write, and dropped, if it ends in the middle or in zeros and no whole record
// follows, or if it is a note; else it is damage (walkLog).
//
// I5. The log appears whole, with its header and first record.
//
// I6. HighestModSeq rises by one with every Sync that adds, expunges or changes
// the flags of messages, and those rows carry it (RFC 7162). Moving from new/ to
// cur/ changes nothing that a client sees.
//
// I7. Every byte that an answer depends on was checked against its checksum.
// Damage is a *CorruptError; the index is built anew from the mail.
//
// I8. A name is expunged after one listing around which the source stood still,
// or when it was missing in four listings in a row. A name seen twice counts
// once. A listing of a source that had changed within the last two seconds does
// not spare the next one.
//
// I9. The hash of the set (SetHash) is the sum of setSeed.hash over (UID, key)
// of the messages that are there, added that of lane 0 over all that ever were,
// both under a seed from the identity. They change with each message that comes
// or goes, and Check counts them again. So an index that was put back from a
// backup and went another way from there is never taken for the one that
// something was computed from, even when UIDNEXT and counts are the same
// again (Table.AddedBelow, BaseHeader.Set).
//
// Crash promise: whatever call the machine stops at, opening gives the state
// before or after the interrupted Sync, and the next Sync continues from there.
//
// # What a source may do beside its duty
//
// A Source lists entries, 136 bytes each. For large mailboxes it can do better:
// a Glancer tells that nothing has changed before it makes any, a Newcomer that
// mail came and nothing else happened, by the digests alone (then no row of the
// snapshot is read: Base.arrive), a Seeder hands over a first listing in order, a Walker compares known names where they are
// and makes entries of new messages, a Namer makes the entry of a message from
// what the index keeps, so that THREAD after SELECT lists nothing. The answers
// are the same without (TestBaseHistory, column's TestNamer).
//
// A Journal tells what came, changed and went since a known listing. With the
// rows loaded a Sync then costs what happened, in time and in bytes written,
// whatever the size of the mailbox: names are found by their hash, expunged rows
// stay in the columns until somebody asks for rows (Table.bury), and counts and
// hashes are kept by difference. Designs with rows of their own get the same
// through Follow, at best as an Appender. The index is the one that a comparison
// of all names gives (part Journal of indextest).
//
// # Not done
//
// Locking: a second writer is noticed when it has written since this one read
// (ErrStale, or it is read again), not when both write within the same
// microseconds. The list of vanished UIDs is never shortened.
//
// An older state that is whole is believed. I7 tells damaged bytes from whole
// ones, not old from new: a log that was cut off after a record, zeroed from a
// record on or removed, or files put back from a backup, are what a machine that
// stopped earlier had left. Check finds nothing wrong, and the next Sync goes on
// from there under the same UIDVALIDITY: UIDs that were told after that state
// are given again, perhaps to other mail, which breaks I1 for clients that know
// them. I9 keeps only the caches beside the index from being mixed up by it.
// Remove the directory's index files before, or after, such a restore; the
// UIDVALIDITY is greater then (I2).
package index
