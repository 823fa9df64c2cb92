// # The list file
//
// A List keeps on disk what a format cannot tell from its mail files: which
// messages there are, in which order, their flags, dates, sizes and places. It
// is a header, a snapshot and a log of changes, all in one file:
//
//	+--------+ +--------+--------+ +--------+--------+--------+
//	| header | | record | record | | record | record | record | ...
//	+--------+ +--------+--------+ +--------+--------+--------+
//	 64 bytes   snapshot            log
//
//	header: magic "mblist\0\2", generation u64, end of the snapshot u64, messages
//	in it u64, next id u64, name 8 bytes, lasts 8 bytes, xxhash64 of all that
//	but lasts
//	record: magic u32, length of the payload u32, sequence number u64, synced
//	u64, xxhash64 of these 24 bytes, payload, xxhash64 of all of the record
//
// Numbers are little-endian, in payloads they are varints. A payload is
// operations: A adds a message, S sets flags, P a place, R removes, N
// raises the next id, C says that the store was closed in order, D that it is in
// use again.
//
// # Invariants
//
// L1. A message's key is its id in decimal. Ids ascend in the order in which
// they were handed out and are never handed out again, once they are in the list.
//
// L2. synced is the offset up to which the file was known to last when the record
// was written. So a record that cannot be read is torn, and dropped with all
// behind it, only if no whole record behind it was written after it lasted, and if
// the bytes look as a crash leaves them: cut short, or with sectors that are
// zero. Everything else is damage: an error with file and offset.
//
// L3. The log is compacted into a new file of a higher generation: written,
// fsynced, renamed, the directory synced. Until then the old one counts.
//
// L4. What the catalog shows is in the list, and lasts if it was asked to: the
// catalog changes after the write (and the sync) has succeeded. After one that
// failed the file is cut back, or, if that fails too, written anew before
// anything else.
//
// L5. Changes of several goroutines that wait at the same time are one write and
// one sync, and at times a write into the header (L7).
//
// L6. A message that comes into the list behind one with a higher id lasts there
// when Add returns, also if it was not asked to: a format that finds files again
// takes those with ids above the list's for new, and the others for left over.
//
// L7. lasts is 40 bits of a length, and 24 of its xxhash64: the file lasted up to
// there when that was written, so a file that is shorter was cut by no crash and is
// damage. It is behind by 4 KB at most, and by nothing but the last record after
// Close. Where it cannot be read it tells nothing.
//
// Cost: a change is one write, and one fdatasync if it has to last. Opening
// reads the whole file; about 15 bytes a message in the snapshot, 45 to 65 for a
// message appended alone.
package catalog
