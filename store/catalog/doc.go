// Package catalog is what the stores have in common in memory: the rows of a
// mailbox in the order of append, and the index.Source made of them.
//
// A store does all the writing itself, so it can tell an index what happened
// where a directory would have to be listed: the digest of all rows is kept up
// to date with each change, and the last changes are remembered.
//
//	State, Glance    O(1): the running digest
//	Arrived, Since   O(changes since the listing that is asked about)
//	Fill, List       O(rows)
//
// # Invariants
//
// C1. The digest is the sum over the live rows of a hash of key, flags,
// keywords and dir: it does not depend on order or history, so the digest of a
// mailbox that is opened again is the one it was closed with.
//
// C2. Two States are the same if and only if the digests are. It is no counter:
// one that begins anew with each opening would call two different mailboxes the
// same.
//
// C3. Arrived and Since speak of the moment of Glance, whatever has happened
// meanwhile; Fill, which may come later, sets the Listing's Digest to what it
// listed.
//
// C4. About 100 bytes a message with short keys: a row of 72, the key, a slot of
// the table. Remembered changes: 64 bytes each, at most MaxRecent.
//
// Formats whose files do not tell flags keep a List on disk; PerFile is a Store
// of one file for each message over it, and the framing that sdbox and mdbox put
// around a message is in dbox.go.
package catalog
