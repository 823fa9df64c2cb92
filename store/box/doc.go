// Package box puts a store and an index design together: one mailbox that many
// clients append to, change and ask at once, as a server's processes would, with
// a policy for when the disk is waited for.
//
// # The way of one appended message
//
//	client:  header, CRLF size and BODYSTRUCTURE are taken from the bytes in hand
//	store:   Store.Append, on disk as Fsync says; gives the key
//	index:   Mailbox.Sync, on disk as Fsync says; gives the UID
//	cache:   index.Cacher, on disk as Fsync says, if Config.Cache
//	client:  the UID
//
// With Always each message goes this way by itself: several are in the store at
// once as far as the format allows, where some share a sync; the index takes them
// one after the other, those that are there already with the first who comes.
// With Group and Never one waiting client, the leader, takes all that wait with
// it through the three steps: one Store.Append, one Sync, one Cache. A group is
// those who came while the one before was on its way (group.letIn).
//
// The cache hears of new messages in the order of their UIDs, whoever comes
// first. A design that is no index.Cacher is asked for their envelopes instead,
// and reads the mail for that.
//
// # Invariants
//
// B1. A UID that Append returned names that message, that key and those bytes
// and no others, for as long as UIDVALIDITY is the same. It is read back from
// the index under the key that the store gave, never counted.
//
// B2. What is acknowledged lasts as package store says for that Fsync (S1), in
// the store and in the index, and docs/RELIABILITY.md which test holds it.
//
// B3. A call that fails says which message it could not do. The members of a
// group fail each by itself.
//
// B4. The index is not needed to keep mail: one that is damaged, or lost, is
// built anew from the store, under a greater UIDVALIDITY. One that somebody
// else has rewritten (index.ErrStale) is opened again.
package box
