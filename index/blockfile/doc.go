// Package blockfile is a container of named sections, every byte of which is
// checked when it is read back.
//
//	+-------------+ +--------------------------+ +--------------------------+
//	| header page | | segment 0                | | segment 1 ...            |
//	| 4096 bytes  | | sections, directory, foot| | head, sections, dir, foot|
//	+-------------+ +--------------------------+ +--------------------------+
//
// Header page (little endian, as everything):
//
//	 0  magic "mbblock\x01"      8  kind [8]byte        16  version u32
//	20  uidvalidity u32         24  generation u64      32  end of segment 0 u64
//	40  sum of segment 0's foot 48  length of meta u32  52  0 u32
//	56  meta, at most MaxMeta bytes, zeros       4088  xxhash64 of bytes 0..4087
//
// A segment that was appended starts with a head of 64 bytes:
//
//	 0  magic "mbseghd\x01"      8  sequence u32 (1, 2, ...)  12  0 u32
//	16  generation u64          24  length of the segment, head and foot included, u64
//	32  zeros                   56  xxhash64 of bytes 0..55
//
// A section is its stored bytes, starting at a multiple of 64, and its block
// table, starting at the next multiple of 8. A raw section is cut into blocks
// of 64 KiB, and its table holds the xxhash64 of each. A zstd section is
// blocks of which each is one zstd frame, and its table holds for each
//
//	xxhash64 of the stored bytes u64, stored length u32, raw length u32
//
// The directory has one entry of 80 bytes per section:
//
//	 0  name [24]byte, padded with zeros      24  encoding u8 (0 raw, 1 zstd), zeros [7]byte
//	32  offset u64      40  stored length u64 48  raw length u64
//	56  blocks u32      60  0 u32             64  rows u64    72  xxhash64 of the table
//
// and the foot follows it, the last bytes of the segment:
//
//	 0  magic "mbsegft\x01"      8  sequence u32    12  sections u32
//	16  generation u64          24  offset of the segment u64
//	32  offset of the directory u64     40  xxhash64 of the directory
//	48  0 u64                   56  xxhash64 of bytes 0..55
//
// I1. A file appears whole: it is written under another name, synced, renamed,
// and its directory is synced. The header page never changes afterwards.
// I2. Segments only get appended, one write and one fdatasync each. Sequence
// numbers are 1, 2, ... and the generation of each is the header's.
// I3. A reader finds the last segment by the foot at the end of the file and
// the others by their offsets. Where that fails it walks forward from the end
// of segment 0, keeps what is whole and drops the rest (Torn). What was
// dropped is lost without harm only for a cache; an index that must not lose
// acknowledged records does not use appended segments.
// I4. No stored byte is returned before the hash of its block was compared;
// padding is never returned.
// I5. Damage in the header page or in segment 0 is a *CorruptError.
//
// Not done: encryption, deletion of sections (write a new file instead).
package blockfile
