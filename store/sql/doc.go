// Package sqlstore is store=sql: mail in a relational database, in the shape of
// dbmail's, written anew. It runs on an SQLite file in the mailbox's directory
// (modernc.org/sqlite), and on PostgreSQL and MariaDB or MySQL by a DSN; see
// Format for the options and docs/SQL.md for how to point it at a server.
//
// # Schema
//
//	mailbench_schema        version, next_id              one row
//	mailbench_mailboxes     mailbox_id, name, epoch
//	mailbench_messages      mailbox_id, uid, physmessage_id, flags, keywords, status
//	mailbench_physmessage   id, messagesize, rfcsize, internal_date
//	mailbench_partlists     physmessage_id, part_order, part_depth, is_header, part_id
//	mailbench_mimeparts     id, hash, size, data
//	mailbench_header        physmessage_id, headername_id, headervalue_id
//	mailbench_headername    id, headername
//	mailbench_headervalue   id, hash, headervalue
//
//	mailboxes --< messages >-- physmessage --< partlists >-- mimeparts
//	                                \-----< header >-- headername, headervalue
//
// One schema, with other words for its types in each engine (dialect). A
// message is cut at the delimiters of its multiparts into runs of bytes (split);
// each is a row of mimeparts under its SHA-256, so that an attachment that went
// to ten mailboxes is stored once. Header fields are stored a second time as rows
// that can be searched, names in lower case, values unfolded and not decoded; no
// more is derived from the mail: what THREAD, SORT and FETCH want is the index's.
//
// # Invariants
//
// Q1. The parts of a message in their order are the message, byte for byte.
// They are never encoded or decoded.
//
// Q2. A part is what its hash says, and is checked each time it is read.
//
// Q3. (epoch, number) in uid, the key "EPOCH.NUMBER", is never given twice in a
// mailbox: the first Append of each opening takes the next epoch, in a
// transaction, and counts from 1.
//
// What the database has forgotten it cannot keep from giving again: the file
// mail.db.made beside an SQLite file says that there was one, and an opening that
// finds mail.db gone, empty or without tables is an error.
//
// Q4. Numbers of rows come from one counter, mailbench_schema.next_id, in blocks
// that a Store takes ahead: no engine has to tell which number it gave.
//
// Q5. What is referred to is there: foreign keys on physmessage_id of messages,
// part_id and headervalue_id hold it against whoever purges at the same time.
//
// Q6. Messages are shown in the order of their keys, also when a later one was
// committed first.
//
// # Statements
//
// Append is one transaction: BEGIN, physmessage, mimeparts, partlists, look up
// and insert headervalue, header, messages, COMMIT; each INSERT has up to 64
// rows, all have parameters and are prepared once a connection. A deadlock, a
// serialization failure, a lock that takes too long, a foreign key that a purge
// has cut are met by doing the transaction again, up to 30 times. Rows that
// are shared are taken in the order of their hashes.
//
// Expunge sets status, as dbmail's does; Purge takes rows away, and of shared
// ones those that nobody refers to any more, as dbmail-util does. What each
// costs is at the methods.
//
// On a disk without space for SQLite's shared memory the file is opened by one
// connection that has it for itself: it can be read, and other processes cannot.
//
// # Not done
//
// No migrations: another version of the schema is refused. The damage that
// SQLite does not notice (no checksums but Q2's) can lose flags or rows without a
// word. One Store at a time for a mailbox: a second one does no harm to the
// rows, but neither sees what the other does until it is opened again.
// Config.FS sees the identity file only: the engines do their own input and
// output. Mailboxes of directories that were deleted stay on the server until
// Remove.
package sqlstore
