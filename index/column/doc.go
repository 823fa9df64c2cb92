// Package column is an index design built for the floors: what THREAD and SORT
// need of each message in columns, message ids and strings as integers, and
// the finished trees and orders beside them.
//
// # Files
//
//	mailbench.index, mailbench.log   UIDs, names, flags: package index
//	mailbench.cache                  the columns; grows by segments
//	mailbench.tail                   what deliveries told of mail that has no row yet
//	mailbench.answers                trees and orders; each true of one set of messages
//
// Cache and answers are containers of package blockfile: a header page, and
// segments of sections in checksummed blocks. Their header page holds the id
// of the index that they belong to, its UIDVALIDITY, its generation when they
// were written, and whose way was followed (RFC or Dovecot). A file with
// another id or UIDVALIDITY, or of a later generation than the index, belongs
// to something else and is not used. Both can be removed at any time: the
// cache is made again from the mail, the answers from the cache.
//
// # Cache
//
// Rows are messages in UID order. A segment holds the next rows, or columns
// of all rows that nobody had asked for before; small segments are packed (see
// packName). Its parts, each a stream of varints if nothing else is said:
//
//	uid            runs: gap, length-1
//	ctl            one byte per row: the bits below
//	id             per row with IDOLD: distance from the newest id
//	ref            number of references in the segment; per row with CHAIN the
//	               distance to row p, per row with LIST count-1 and the
//	               distances from the next new id (0: it is the next new one)
//	subject.str    the distinct casemapped base subjects that are new, in byte
//	               order, front coded
//	subject.place  (later segments) where each belongs among the older ones
//	subject        per row without UP: number of its subject
//	date           sent date, unix seconds, zigzag of the difference
//	hash           16 bytes per new id: SipHash-128 under the key in the header
//	from to cc dispfrom dispto     number per row, with .str and .place
//	arrival size   INTERNALDATE and RFC822.SIZE, zigzag of the difference
//	env env.idx env.irt            whole envelopes (see envRows)
//	body           BODYSTRUCTUREs that deliveries told (see bodyWriter)
//	state          UIDNEXT that the rows go up to, which messages they are and
//	               which others the index had below it, UIDs that could not be
//	               read (type state)
//
//	  7      6    5     4      3      2      1       0
//	+------+----+------+-------+-------+-------+-------+-------+
//	|ABSENT| UP | LIST | CHAIN | IDOLD | IDNEW | DATEOK| REPLY |
//	+------+----+------+-------+-------+-------+-------+-------+
//
// CHAIN says that the references are those of the earlier row p and p's own
// id, as 76% of all list mails' are: one number where there were ids (1.1
// bytes per message for 2.2 references). UP says that the subject is p's, too.
//
// I1. Rows ascend by UID. A message below the state's UIDNEXT that is not a
// row was expunged before, or the cache is another mailbox's.
// I2. Ids are numbered 0, 1, ... in the order in which rows (own id first, then
// references) name them; id numbers and hashes are one to one.
// I3. A column has a value for each row or does not exist: whoever adds rows
// adds them to all columns.
// I4. String number 0 is "". Strings of the first segment are numbered in byte
// order: a number is a rank. Later ones know their places (type dict), so
// ranks never need the strings.
// I5. A row is never changed. Rows of expunged messages are dead weight until
// Compact; everything is computed on the rows of the messages that live.
// I6. The index is on disk before a row of it is in the cache, so after a
// crash the cache never knows more than the index; if it does (the index came
// from a backup) it is not used.
// I7. Rows are used only for an index that agrees with the cache on the hash
// over (UID, name) of all messages below the state's UIDNEXT that it ever had
// (index.Table.AddedBelow). So an index that came from a backup and then gave
// the same UIDs to other messages gets a new cache. Without a look at the table
// only if the hash of the set of rows is that of the index's set.
//
// # Answers
//
// One set of messages of one index is named by UIDNEXT, the number of messages
// and the index's 128-bit hash over UIDs and names (type set, index.SetHash).
// The answers of a segment are true of one set and of no other, whatever way the
// index came to it: that of the segment's part "set", or of the header page. Of
// two answers of a name the later one counts. Parts: uid (runs; once for a set),
// and for each answer that was asked for t.ALGORITHM and t.ALGORITHM.k (rows and
// numbers of children in preorder) or s.KEYS (a permutation). THREAD stores
// the orders by date and by subject with its own.
//
// When mail comes or goes the first question for an answer brings that answer up
// to date (type updated), if the log of the index tells what happened since: rows
// are put into and taken out of the permutations by bisection, and of the trees
// those are built again that the change can touch, as thread.Update explains;
// the rest is copied. It is appended as a segment, and the others stay as they
// are: SORT (DATE) does not pay for trees, nor THREAD for orders. The file is
// written anew when more than half of it is of no use. Nothing is stored for
// updates: the components of ids are found again in one pass. Where too much has
// changed (an eighth of the messages, or a quarter of them are in what it
// touches), or the log was folded in between, answers are computed from the
// columns.
//
// # Tail
//
// What Cache is told (index.Cacher) goes into the tail file (tail.go): one frame
// for each call, the raw fields that THREAD, SORT and ENVELOPE are made of. A
// question, or the 2,048th message (the 4,096th in a mailbox of 98,304, the
// 6,144th in one of 147,456 and more), makes rows of it, as of mail that is read.
// So a delivery costs one write and one fdatasync whatever its size and the
// mailbox's; 2,048 messages cost one pass over the hashes, and the first of them
// after Open bring the links and strings of all rows into memory, not their
// other columns.
//
// I8. A record of the tail is used for a message only if it has the message's
// share in the hash of the set, under the index's seed.
//
// # In process
//
// An open handle keeps the columns that it decoded, and answers of 256 KiB and
// more in a ristretto cache bounded by Options.CacheBytes. A cache that is new
// is encoded and written while the threads are built from the same columns;
// no query returns before it is on disk. Compact passes streams on from the old
// file to the new one (type pruner) and keeps nothing decoded.
//
// # Beside index.Mailbox
//
// A mailbox is an index.Cacher, an index.Fetcher (fields of an ENVELOPE from the cache with
// fields=envelope, byte for byte what the mail has; everything else from the
// mail, with the names of a few messages found without decoding all), an
// index.Changer and an index.Counter.
//
// # Damage and crashes
//
// Every byte that is used was checked against its xxhash64 by blockfile, and
// every number is checked for its range when it is decoded. Damage in answers:
// computed again. Damage in the cache: made again from the mail. Damage in the
// index: an error, and Sync builds it anew. New files appear by write, fsync,
// rename, fsync of the directory; segments are one write and one fdatasync,
// and a torn one is dropped. A disk that is full costs time and no answer: the
// query is answered from memory, and Check tells.
//
// # Cost
//
// Open reads the index's header pages. A stored answer costs reading and
// decoding its 2 bytes per message. A computed one decodes 6 bytes per message
// (links, dates). New mail costs its headers, one pass over the hashes (16
// bytes per id), decoding links and the strings of the subjects, one segment,
// one answers file; no row of the index is read (index.Base.Lately).
package column
