package sqlidx

import "mailbench/internal/rfc5322"

// version is stored in mailboxes.version: another number is another schema.
const version = 1

// schema makes the tables of a new database, one statement each.
var schema = []string{
	`CREATE TABLE mailboxes(
	mailbox_idnr INTEGER PRIMARY KEY CHECK (mailbox_idnr = 1),
	version INTEGER NOT NULL, uidvalidity INTEGER NOT NULL, uidnext INTEGER NOT NULL, seq INTEGER NOT NULL,
	messages INTEGER NOT NULL, unseen INTEGER NOT NULL, deleted INTEGER NOT NULL,
	generation INTEGER NOT NULL, changed INTEGER NOT NULL, compat INTEGER NOT NULL, known BLOB NOT NULL)`,
	`CREATE TABLE messages(
	message_idnr INTEGER PRIMARY KEY, physmessage_id INTEGER NOT NULL, unique_id TEXT NOT NULL, folder INTEGER NOT NULL,
	seen_flag INTEGER NOT NULL, answered_flag INTEGER NOT NULL, deleted_flag INTEGER NOT NULL, flagged_flag INTEGER NOT NULL,
	draft_flag INTEGER NOT NULL, forwarded_flag INTEGER NOT NULL, seq INTEGER NOT NULL)`,
	`CREATE INDEX messages_seq ON messages(seq)`,
	`CREATE TABLE keywords(message_idnr INTEGER NOT NULL, keyword INTEGER NOT NULL, PRIMARY KEY (message_idnr, keyword)) WITHOUT ROWID`,
	`CREATE TABLE vanished(seq INTEGER NOT NULL, message_idnr INTEGER NOT NULL, PRIMARY KEY (seq, message_idnr)) WITHOUT ROWID`,
	`CREATE TABLE physmessage(id INTEGER PRIMARY KEY, messagesize INTEGER, rfcsize INTEGER, internal_date INTEGER)`,
	`CREATE TABLE headername(id INTEGER PRIMARY KEY, headername TEXT NOT NULL, upto INTEGER NOT NULL)`,
	`CREATE TABLE headervalue(
	id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, headervalue BLOB NOT NULL,
	sortfield BLOB, displayfield BLOB, datefield INTEGER, reply INTEGER)`,
	`CREATE TABLE header(
	physmessage_id INTEGER NOT NULL, headername_id INTEGER NOT NULL, headervalue_id INTEGER NOT NULL,
	PRIMARY KEY (physmessage_id, headername_id)) WITHOUT ROWID`,
	`CREATE TABLE referencesfield(
	physmessage_id INTEGER NOT NULL, ordinal INTEGER NOT NULL, referencesfield BLOB NOT NULL,
	PRIMARY KEY (physmessage_id, ordinal)) WITHOUT ROWID`,
	`CREATE TABLE unread(physmessage_id INTEGER PRIMARY KEY)`,
}

// headername_id is the field's number plus one.
func nameID(f rfc5322.Field) int { return int(f) + 1 }

// Sets of header fields that are read from a mail together.
const (
	fieldsThread   rfc5322.Mask = rfc5322.MaskThread
	fieldsAddress  rfc5322.Mask = 1<<rfc5322.From | 1<<rfc5322.To | 1<<rfc5322.Cc
	fieldsEnvelope rfc5322.Mask = fieldsThread | fieldsAddress | 1<<rfc5322.Sender | 1<<rfc5322.ReplyTo | 1<<rfc5322.Bcc
)
