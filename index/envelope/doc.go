// Package envelope is the static cache, Cyrus's and the first Dovecots' way: an
// index with one record of a fixed size per message, and a cache with one
// record per message that holds the whole envelope and the list headers. What
// is in it never depends on what clients ask for.
//
// The cache is filled when a message is first seen, by Sync, as Cyrus fills it
// when it appends or reconstructs. So the costs lie elsewhere than in a design
// that fills by use: SelectFirst reads every mail and is dear, ThreadFirst
// reads only the cache and is what ThreadAgain is. Compare the two together.
//
// # Files
//
//	envelope.index      header, expunged messages, records
//	envelope.cache.G    cache records; G is the generation, in decimal
//	envelope.names.G    names of the messages, one after the other
//	envelope.journal    the records that the last change put over others
//	envelope.index.damaged   an index that could not be read
//	mailbench.uidvalidity    package index's
//
// All numbers are little-endian; sums are CRC-32C.
//
//	envelope.index:
//	+----------------+-----+-----------------+-----+------------------+---------+----------+---
//	| header, 256 B  | 0.. | header, 256 B   | 0.. | vanished, 12 B   | 0.. to  | record   | ...
//	| at 0           |     | at 4096         |     | each, from 8192  | 16 B    | 112 B    |
//	+----------------+-----+-----------------+-----+------------------+---------+----------+---
//
//	header:
//	  0 magic "mbenvi\0\1"     72 record size u32 = 112    100 flavour u32 (1 Dovecot, 2 headers=list)
//	  8 identity u64           76 uidvalidity u32          104 vanished u32
//	 16 generation u64         80 uidnext u32              108 sum of the vanished u32
//	 24 seq u64                84 records u32              112 sum of the journal u32
//	 32 highest modseq u64     88 messages u32             116 index.Known, 64 bytes
//	 40 end of the cache u64   92 unseen u32               180 zeros
//	 48 dead bytes in it u64   96 deleted u32              252 sum of bytes 0..251 u32
//	 56 end of the names u64
//	 64 seq of the journal u64, 0: none
//
//	vanished: UID u32, MODSEQ u64, ascending by MODSEQ
//
//	record (after cyrus.index's, with the name and two sums of Cyrus's version 12):
//	  0 uid u32                32 bytes of header u32      76 sum of the cache record u32
//	  4 flags u32              36 lines of body u32        80 modseq u64
//	  8 INTERNALDATE i64       40 keywords u32             88 name at u64
//	 16 sent date i64          44 bytes of cache u32       96 bytes of name u32
//	 24 RFC822.SIZE u64        48 cache record at u64     100 sum of the name u32
//	                           56 SHA-1 of the message    104 filled at (unix seconds) u32
//	                                                      108 sum of bytes 0..107 u32
//
// Flags: bits 0-5 index.Flags, 6-7 the folder, 29 the message could not be read
// (nothing is cached, the next change tries again), 31 expunged. The sent date
// is the Date field's, or INTERNALDATE where that cannot be read.
//
//	cache and names: magic "mbenvc\0\1" or "mbenvn\0\1", identity u64,
//	generation u64, 0 u32, sum u32; then records without anything between them
//
//	cache record, three items, each a length u32, bytes, zeros up to 4:
//	  envelope  ten strings in the order of index.EnvelopeFields, unfolded
//	  headers   for each cached field: length of the name u8, name, string
//	  fields    index.AppendFields: message id, references, base subject,
//	            address and display keys, normalised for THREAD and SORT
//	  string    uvarint: 0 NIL, 1 longer than 32 KiB and not cached, else 2 +
//	            length; bytes
//
//	journal: magic "mbenvj\0\1", identity u64, seq u64, entries u32, sum of all
//	else u32; entries: record number u32, record 112 bytes
//
// # Options
//
// read=message reads all of each new message, as Cyrus does, for its SHA-1, its
// lines and its size. read=header reads the header alone if the name tells the
// size (W=): what the cache itself costs. headers=list caches the fields of
// lists and threads (References, List-..., Precedence, Priority, Newsgroups,
// Followup-To, Content-Type, Content-Transfer-Encoding), headers=most all but
// traces, signatures and X-... fields. repack is the share of dead bytes in the
// cache above which a Sync compacts.
//
// # Invariants
//
// E1. Records ascend by UID. A message's record keeps its number until the
// index is rewritten; expunging sets a bit and leaves its cache record dead.
//
// E2. The header with the greater seq of those whose sum is right counts. Both
// are of the same state of the rows whenever no write is under way: a note
// (index.Keeper) changes the first alone, in seq and index.Known.
//
// E3. A cache or names file is of the index that has its identity and names its
// generation. Bytes behind the ends that the header gives do not count.
//
// E4. A change: both headers are made to say what counts, and synced; cache
// records, names, new index records are written behind the ends, and synced;
// the journal gets the records that will be put over others, renamed into
// place; the first header is written and synced: done. Then the records of the
// journal go to their places, and the second header is written; both are synced
// before the next change writes anything.
//
// E5. A journal with the seq and sum in the header goes over the records; one
// of a later seq is of a change that was not completed and the records are
// complete without it; anything else is damage.
//
// E6. A rewrite (Compact, a new index) makes files of the next generation under
// new names, syncs them, and renames the new index over the old.
//
// E7. Damage to index, names or journal: the index is put aside and the next
// Sync builds a new one, with a greater UIDVALIDITY. Damage to the cache, or one
// that was made under another flavour: it is made again from the mail, UIDs stay.
//
// E8. A reader takes the header, reads, and takes the header again: another one,
// and it starts anew, so that it never mixes two states.
//
// # What differs from Cyrus, and not done
//
// Cyrus writes records in place without a journal and has reconstruct for what
// a crash leaves; the two headers and the journal are this project's crash
// promise, at the price of up to five syncs a change. Cyrus names message files
// by UID and needs no names. BODYSTRUCTURE, SECTION and the thread ids of
// conversations are not kept; References is kept twice, as the field and
// normalised. Cyrus parses References at every THREAD, here that is done when
// the cache is filled. Locking: a second writer is noticed (index.ErrStale) when
// it has written since this one looked, not within the same microseconds. The
// list of vanished messages is never shortened. A file name's change of size
// (S=, W=) after delivery is not looked for.
package envelope
