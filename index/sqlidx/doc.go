// Package sqlidx is the index design that keeps a mailbox in an SQL database:
// dbmail's way. SORT is an ORDER BY, THREAD reads the stored references. The
// engine is SQLite (modernc.org/sqlite), one database per mailbox.
//
// # Files
//
//	mailbench.sqlite          the database
//	mailbench.sqlite-wal      and -shm or -journal: the engine's, while it works
//	mailbench.sqlite.damaged  a database that could not be read, kept to look at
//	mailbench.uidvalidity     package index's
//
// # Tables
//
// Names are dbmail's where the thing is (without its dbmail_); its columns for
// several users and mailboxes are left out. "key" below is a primary key.
//
//	mailboxes        the one row: version, uidvalidity, uidnext, seq (highest MODSEQ),
//	                 messages, unseen, deleted, generation, changed (counts changes of
//	                 messages), compat (whose keys the values have), known (source's state
//	                 and digest, index.Known)
//	messages         key message_idnr = UID; physmessage_id (the same number), unique_id (the
//	                 source's key), folder, six flags, seq (MODSEQ, indexed)
//	keywords         key (message_idnr, keyword); keyword is a bit number
//	vanished         key (seq, message_idnr): expunged messages
//	physmessage      key id; messagesize, rfcsize (NULL until the first SORT SIZE unless the
//	                 file name tells), internal_date. A row is there when the mail was read
//	headername       key id = the field's number + 1; headername; upto: every message up to
//	                 this UID has had its field of this name inserted
//	headervalue      key id; hash (unique), headervalue (unfolded, not decoded), and the keys
//	                 of RFC 5256: sortfield, displayfield, datefield, reply
//	header           key (physmessage_id, headername_id); headervalue_id
//	referencesfield  key (physmessage_id, ordinal); referencesfield: an id without brackets
//	unread           key physmessage_id: mail that was gone when it was to be read
//
//	messages --physmessage_id-- physmessage
//	    |                           |
//	    |                         header --headername_id-- headername
//	    |                           |
//	    |                       headervalue_id-- headervalue (shared by messages)
//	    +-------------------- referencesfield
//
// sortfield of a Subject is the base subject under i;unicode-casemap (reply: it
// had a reply or forward mark), of From, To, Cc the first mailbox name likewise
// (displayfield: RFC 5957's key), of Message-ID the normalised id; datefield is
// the Date in UTC. All are BLOBs: memcmp is the order of the RFC's collation.
//
// # Invariants
//
// Q1. A Sync is one transaction, on disk when it returns (synchronous=full).
// Header rows that are inserted later come in transactions of their own of at
// most 4,096 messages, each with headername.upto: a crash loses the last one,
// and the next question goes on from there.
//
// Q2. The first field of a name counts and is the only one inserted. Equal
// values with equal keys are one row: hash is half a SHA-256 of both, so
// nobody makes two values of one hash, and no text is compared.
//
// Q3. A transaction that writes checks mailboxes.changed against what was
// read before it: another process's change is ErrStale, and Sync starts again.
// A question is answered from one snapshot, in which every message has its rows.
//
// Q4. Keys belong to mailboxes.compat. Under the other Options.Compat all header
// rows are deleted and inserted anew.
//
// Q5. What the engine reports as damage, a row that breaks its ranges, and a
// panic of the engine are a *index.CorruptError; the database is put aside and
// the next Sync builds another one, with a greater UIDVALIDITY. What neither
// notices (there are no checksums) is answered.
//
// # When header rows are inserted
//
// At the Sync that finds the mail (headers=delivery, the default): dbmail
// inserts them when mail is delivered, so SELECT of new mail pays and THREAD
// never waits. The first Sync is therefore a full import. headers=use leaves it
// to the first question, as the caches of other designs do. Fields "thread"
// inserts Date, Subject, Message-ID, In-Reply-To and References, "envelope" all
// of ENVELOPE's; From, To, Cc come with the first SORT that wants them, and from
// then on with each new mail.
//
// # Options
//
// Options.Extra: journal_mode, synchronous, cache_kib, page_size (of a new
// database), headers; see Axes. Options.CacheBytes sets cache_kib. In WAL mode
// the engine's extra files go when the last handle is closed; a reopening that
// finds nothing new changes no byte. In a directory that may not be written the
// database is opened for reading, as it lies there, and questions that need no
// more rows are answered. What VACUUM and large sorts need beside
// the page cache are temporary files of the engine's, in TMPDIR.
//
// # Not done
//
// dbmail inserts every header field of a mail, and the mail; here only what an
// answer takes. Its indexes on sortfield and datefield: no plan for an ORDER BY
// over joined values uses them. Building anew removes a damaged database under
// the feet of another process that has it open: that one finds the new file at
// its next call. vanished is never shortened. A database that was put back from
// a backup is believed.
package sqlidx
