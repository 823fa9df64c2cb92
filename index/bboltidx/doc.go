// Package bboltidx is the index design that keeps a mailbox in a bbolt database
// (go.etcd.io/bbolt): one B+tree file with records by UID, as mail software
// written in Go does.
//
// # Files
//
//	mailbench.bolt          the database
//	mailbench.bolt.new      one that is being made, renamed when it is whole
//	mailbench.bolt.damaged  one that could not be read, kept to look at
//	mailbench.uidvalidity   package index's
//
// # Buckets
//
// Keys are UIDs, big-endian u32, where not said otherwise, so that a walk over
// a bucket is in UID order. u is a uvarint, z a zigzag one, text has its length
// (u) before it.
//
//	meta      "mailbox" -> version, compat u8; uidvalidity, uidnext, messages, unseen,
//	          deleted, unread u32; upto u32 * 5; highest MODSEQ, generation, changed
//	          u64, all big-endian; source's state and digest (index.Known)
//	messages  flags u8, folder u8, keywords u, MODSEQ u, key (to the end)
//	vanished  key: MODSEQ u64, UID u32, big-endian; no value
//	unread    mail that was gone when it was to be read; no value
//	thread    bits u8, sent date z, base subject text, message id text if bit 0, number
//	          of references u, references text *
//	          bits: 1 has an id, 2 is a reply or forward, 4 date is INTERNALDATE,
//	          8 (alone) the mail was gone
//	address   SORT keys From, To, Cc, DisplayFrom, DisplayTo: text * 5
//	envelope  (number of the field in index.EnvelopeFields u8, value text) *
//	arrival   INTERNALDATE z
//	size      RFC822.SIZE z
//
// The last five are groups: upto is the UID up to which every message has its
// record of the group. Texts are the keys of RFC 5256 (casemapped, ids without
// brackets): ranks and trees are computed from them for each answer.
//
// # When groups are written
//
// thread (with fields=envelope: address and envelope with it, in one reading of
// the header) at the first THREAD or SORT after mail has come, the others at the
// first SORT that asks for them: a key-value store gives no reason to parse
// mail that nobody asks about, and SELECT stays what it is elsewhere.
// headers=delivery does it at Sync.
//
// # Invariants
//
// B1. A Sync is one transaction, on disk when it returns (sync=yes). Records of
// mail come in transactions of their own of at most 8,192 messages, each with
// its upto: a crash loses the last one, and the next question goes on from there.
//
// B2. A new database, and the copy that Compact makes, is written under another
// name without waiting, synced, and renamed.
//
// B3. The engine locks the file while it is open. To write it is opened for one
// transaction, which reads the list of free pages each time. To read it stays
// open with its map, but the lock is taken for each transaction and given back;
// whoever has got a lock looks whether the file still has its name, and a reader
// whether it still has its size. A call that waits longer than 10 s fails.
//
// B4. A transaction that writes checks changed (raised by each change of
// messages) against what was read before it; Sync starts again when it differs.
//
// B5. Thread and address records belong to compat. Under the other
// Options.Compat they are deleted and written anew.
//
// B6. Before the engine gets a file, the branch pages of the buckets in
// question, and the list of free pages if it is to be written, are checked by
// verify: of a tree that leads back into itself, which ends the process, and of
// a list that names pages in use. What the engine panics at, or faults at, is
// caught. Either is a *index.CorruptError; the database is put aside and the
// next Sync builds another one, with a greater UIDVALIDITY. Leaf pages have no
// checksum: what is damaged there is noticed if it breaks a record, or not.
//
// # Options
//
// Options.Extra: sync, freelist_sync, freelist, fill_pct, page_size (of a new
// database), headers; see Axes.
//
// # Not done
//
// An index of MODSEQ (ChangesSince walks all messages) and of keys (the table in
// memory has one). A handle for writing that stays open, as a server that owns
// its mailboxes would keep: two openers could not be. What the engine has mapped
// when it panics stays mapped until the process ends. The list of vanished UIDs is never shortened. A database that was put
// back from a backup is believed. Callbacks of Messages, Fetch and ChangesSince
// run inside a transaction and must not call the mailbox.
package bboltidx
