// Package linked is the index design of Dovecot, as its documentation describes
// it (Design.Indexes.* of version 2.3, thread-refs.txt) and as its files look
// when dumped with its own doveadm. It was written anew; no file is compatible.
//
// # Files
//
//	linked.index        a snapshot: header and a record for each message
//	linked.log          transactions, appended; what the snapshot lacks is here
//	linked.log.2        the log before this one
//	linked.cache        fields of messages, in chains of records
//	linked.thread       the thread index: message ids as numbers
//	linked.uidlist      text: UID and name of each message
//	linked.lock         empty; whoever writes holds a lock on it
//	mailbench.uidvalidity as package index describes it
//
// All numbers are little endian, all records aligned to 4 bytes.
//
// # The index file
//
//	+------------------------------------------------------------------------+
//	| header, 120 bytes: version u8 * 2, base header size u16, header size,  |
//	| record size u32, 1 u32, index id, cache files so far, uidvalidity,     |
//	| uidnext, messages, seen, deleted, log sequence u32, log offset u64,    |
//	| highest modseq, base modseq u64, day u32, first UID of the last 8 days |
//	| u32 * 8, zeros                                                         |
//	+------------------------------------------------------------------------+
//	| extensions: header size, reset id u32, record offset, size, align,     |
//	| name size u16, name, header; names and headers padded to 8             |
//	+------------------------------------------------------------------------+
//	| records: uid u32, flags u8, 0 u8 * 3, then 4 bytes (modseq: 8) of each |
//	| extension                                                              |
//	+------------------------------------------------------------------------+
//
// Flags are index.Flags in bits 0 to 5 and the folder in bits 6 and 7.
// Extensions: "source" (header: state and digest of the listing, size of the
// uidlist), "cache" (offset of the newest cache record; the reset id is the
// cache's file sequence), "keywords", "thread" (header: id and size of the
// thread index), "sort-s", "sort-f" and so on (sort ids, sortids.go), "modseq"
// (8 bytes; there once MODSEQs differ, as if a client had enabled CONDSTORE).
//
// # The log
//
//	+-------------------------------------------------------------------------+
//	| header, 40 bytes: version u8 * 2, size u16, index id, sequence,         |
//	| sequence and end of the log before, created u32, modseq u64, 1 u32, 0   |
//	+-------------------------------------------------------------------------+
//	| transaction: boundary (12, type, bytes of the transaction u32), records |
//	| record: size u32, type u32, body                                        |
//	+-------------------------------------------------------------------------+
//
//	append      records as in the index file, without extensions
//	expunge     first and last UID; the type is marked twice, as it destroys
//	flags       first and last UID, flags to add u8, to remove u8, u16 1: no client sees it
//	header      offset u16, size u16, bytes of the index header
//	ext intro   which extension is meant: number or name, reset id, record size
//	ext reset   new reset id; all records of the extension become 0
//	ext header  bytes of the extension's header
//	ext rec     UID, 4 bytes; ignored if the intro's reset id is not the extension's
//	modseq      of the changes in this transaction
//
// # The cache
//
//	+------------------------------------------------------------------------+
//	| header, 32 bytes: version, index id, file sequence, continued records, |
//	| messages with records, 0, 0, offset of the first registry block u32    |
//	+------------------------------------------------------------------------+
//	| registry block: encodeRegistry; blocks and records as they were added  |
//	+------------------------------------------------------------------------+
//	| record: previous offset u32, size u32, fields                          |
//	| field: number u32, size u32 (not of fixed ones), bytes padded to 4     |
//	+------------------------------------------------------------------------+
//
//	index record --> newest cache record --> an older one --> 0
//	                 hdr.date, date.sent      hdr.subject, hdr.message-id, ...
//
// Header fields are kept as they stand in the mail, with their line numbers;
// keys are derived from them by every THREAD and SORT. Dates are kept parsed.
// Strings sort by sort ids, numbers in the index that are made once.
//
// What is cached follows use (field.use, field.age). When the mail is read for
// one field, all other header fields that somebody wants are cached with it. Of
// mail that Cache is told of (index.Cacher) all fields of THREAD, SORT and
// ENVELOPE are cached, and imap.bodystructure: as if clients asked for them. It
// syncs cache and log, whatever the option fsync says: who tells of a delivery
// wants to know when it lasts.
//
// With io=pread the cache file is read in pages of 16 KiB instead of mapped
// (type pages).
//
// # Invariants
//
// K1. UIDs ascend, are below uidnext, and are never given out twice under one
// UIDVALIDITY. MODSEQs as index I6.
//
// K2. The index file is only ever replaced. The snapshot and the log from its
// offset on are the mailbox; a transaction counts when all of it is there.
//
// K3. Names before UIDs: the uidlist has a message's line, synced, before the
// log has the message. Lines without a message do not count.
//
// K4. A cache offset counts only under the reset id that is the cache file's
// sequence. Previous offsets descend, so chains end. A record that makes no
// sense is no record: the mail is read. A cache file that ends before the
// newest record does not belong to the index any more. So is a record that lacks
// a page: what is not synced may reach the disk in part, with zeros for the rest.
//
// K5. The thread index counts as far as the index says and no page is missing,
// and only under the id that the index names.
//
// K6. Whoever finds that much of the log had to be read writes the index file
// anew, and begins a new log if the old one is large: not who fills the cache
// but the next reader pays, as in the original. So does a Sync whose changes
// are that many. A handle that stays open and follows an index.Journal lets the
// log grow to 16 times as much: then a change costs its own bytes, and the index
// file's share of them.
//
// K7. A purge rewrites the cache as one record for each message, without
// fields that nobody uses, and without those wanted of new mail only where mail
// is old. It happens before the first write of a session to a cache file, and in
// a Sync that expunges, when one of the options' limits is passed (due).
//
// K8. A view that another process has overtaken answers from what it has; what
// it finds out goes into no file.
//
// Crash promise (fsync=optimized): what Sync returned is there; caches may lose
// their end. fsync=always: they do not, at the price of an fdatasync for each
// batch. fsync=never: anything since the last sync of the system may be gone,
// and UIDs may be given out again.
//
// # Integrity
//
// TrustsDisk, as the original: there are no checksums. What contradicts itself
// is noticed: the cache is dropped, the index is built anew under a greater
// UIDVALIDITY. A flipped bit in a subject or a date is believed.
//
// # Departures from the original
//
// One lock for all files; sizes in the log are plain numbers, a transaction is
// one write. GUIDs are not kept, expunges are 8 bytes instead of 20. The names of
// messages are in memory only while mail is read. Several mails are read at
// once. Two fields of date.sent exist, as Compat changes what a Date says.
//
// # Not done
//
// Private flags, lockless readers of a half-written cache record, the list
// index over all mailboxes, mail_cache_min_mail_count, removal of an old
// linked.log.2.
package linked
