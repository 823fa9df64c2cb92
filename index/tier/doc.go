// Package tier is a cache of fetched messages in the memory of a process, in
// front of any design: what a server with a long-lived process keeps of the
// records that its clients fetch again and again.
//
// A record is the values of one list of header fields of one message, as
// index.Fetcher gives them:
//
//	+---------+-------+---------+-------+---
//	| len + 1 | value | len + 1 | value | ...    len + 1 as a varint;
//	+---------+-------+---------+-------+---     0: no such field
//
// Its key is the UID and the list of fields, in any case of letters and in
// that order. Another list of fields is another record, even if it asks for
// nothing that is not kept: clients ask with the same few lists.
//
// Kinds, each bounded by bytes and each counting a record as its bytes and
// Overhead, so that their hit ratios compare:
//
//	none         keeps nothing
//	lru          drops the record that was not asked for the longest time
//	ristretto    admits by TinyLFU's estimate of frequency, evicts by samples;
//	             its writes are buffered and may be lost under load
//	clairvoyant  knows every call to come (Foresee) and drops the record whose
//	             next use is farthest away, which may be the one that was just
//	             read. For records of one size no cache has more hits (Belady's
//	             MIN, with bypass). For records of several sizes finding the
//	             optimum is NP-hard, and this is what a good cache with that
//	             knowledge reaches; Bound gives what none can exceed.
//
// Invariants:
//
//	T1. The header of a message never changes under its UID, so a record is
//	    right for as long as the message is there and UIDVALIDITY is the same.
//	    Flags and MODSEQs are never kept. Mail that comes changes no record.
//	T2. After a Sync no record is left of a message that it found expunged:
//	    asked of index.Changer where the design is one, else all records go
//	    when any message went. A new UIDVALIDITY empties the tier.
//	T3. Records and their Overhead never exceed the bound (ristretto: after
//	    Wait).
//
// Not done: answers of THREAD and SORT (a design keeps those itself, or not);
// UIDs that are not there, which are asked of the design each time; use by
// several mailboxes or goroutines at once.
package tier
