package sqlstore

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// A dialect is what the engines do not have in common.
type dialect struct {
	name       string
	numbered   bool   // parameters are $1, $2
	oneWriter  bool   // one transaction writes at a time, of all sessions
	begin      string // begins a transaction that writes
	ignoreHead string // of an INSERT that passes over rows that are there
	ignoreTail string
	types      *strings.Replacer // the words of the schema
	table      string            // how many tables of a name there are
	lock       string            // keeps others from making the schema meanwhile; "" = begin does
	unlock     string
	trouble    func(error) trouble
}

// trouble is what an error of an engine means.
type trouble uint8

const (
	other    trouble = iota // also: no error
	retry                   // met another transaction: everything is taken back, the same again may do
	lost                    // the connection is gone
	damaged                 // of the database's file
	diskFull                // on the engine's side
)

var sqliteDialect = &dialect{
	name:       "sqlite",
	oneWriter:  true,
	begin:      "BEGIN IMMEDIATE", // takes the lock at once: it never has to be started over
	ignoreTail: " ON CONFLICT DO NOTHING",
	types: strings.NewReplacer("%ID", "INTEGER PRIMARY KEY", "%INT", "INTEGER", "%HASH", "BLOB", "%NAME", "BLOB",
		"%BYTES", "BLOB", "%OWNKEY", " WITHOUT ROWID", "%TABLE", ""),
	table:   "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = CAST(? AS TEXT)",
	trouble: sqliteTrouble,
}

var postgresDialect = &dialect{
	name:       "postgres",
	numbered:   true,
	begin:      "BEGIN ISOLATION LEVEL READ COMMITTED",
	ignoreTail: " ON CONFLICT DO NOTHING",
	types: strings.NewReplacer("%ID", "BIGINT PRIMARY KEY", "%INT", "BIGINT", "%HASH", "BYTEA", "%NAME", "BYTEA",
		"%BYTES", "BYTEA", "%OWNKEY", "", "%TABLE", ""),
	table:   "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass(convert_from(?, 'UTF8'))",
	lock:    "SELECT pg_advisory_lock(7308895154317096306)", // "mailbox" and a bit
	unlock:  "SELECT pg_advisory_unlock(7308895154317096306)",
	trouble: postgresTrouble,
}

var mariadbDialect = &dialect{
	name:       "mariadb",
	begin:      "START TRANSACTION", // READ COMMITTED, see connectMariaDB
	ignoreHead: "IGNORE ",
	types: strings.NewReplacer("%ID", "BIGINT PRIMARY KEY", "%INT", "BIGINT", "%HASH", "BINARY(32)", "%NAME", "VARBINARY(1000)",
		"%BYTES", "LONGBLOB", "%OWNKEY", "", "%TABLE", " ENGINE=InnoDB ROW_FORMAT=DYNAMIC"),
	table:   "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
	lock:    "SELECT GET_LOCK('mailbench schema', 60)",
	unlock:  "SELECT RELEASE_LOCK('mailbench schema')",
	trouble: mariadbTrouble,
}

// sqliteTrouble knows SQLite's primary result codes.
func sqliteTrouble(err error) trouble {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return other
	}
	switch e.Code() {
	case 4618, 4874, 5386: // IOERR_SHMOPEN, _SHMSIZE, _SHMMAP: no space for the shared memory
		return diskFull
	}
	switch e.Code() & 0xff {
	case 5, 6: // BUSY, LOCKED: a process that is not ours, for longer than busy_timeout
		return retry
	case 11, 26: // CORRUPT, NOTADB
		return damaged
	case 13: // FULL
		return diskFull
	}
	return other
}

// postgresTrouble knows the SQLSTATEs of PostgreSQL, appendix A of its manual.
func postgresTrouble(err error) trouble {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return netTrouble(err)
	}
	switch {
	case e.Code == "40001", e.Code == "40P01", e.Code == "55P03": // serialization, deadlock, lock
		return retry
	case e.Code == "23503": // foreign key: a part that was there has been purged meanwhile, or is used again
		return retry
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "57P"): // connection; shutdown, crash
		return lost
	case e.Code == "53100":
		return diskFull
	case strings.HasPrefix(e.Code, "XX"): // internal, damaged data, damaged index
		return damaged
	}
	return other
}

// mariadbTrouble knows the server's error numbers.
func mariadbTrouble(err error) trouble {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		if errors.Is(err, mysql.ErrInvalidConn) {
			return lost
		}
		return netTrouble(err)
	}
	switch e.Number {
	case 1213, 1205, 1020: // deadlock, lock wait, row changed since the snapshot
		return retry
	case 1451, 1452: // foreign key: as with PostgreSQL
		return retry
	case 1053, 1077, 1079, 1080, 1927: // shutdown, killed
		return lost
	case 1021, 1114:
		return diskFull
	case 126, 127, 1034, 1035, 1194:
		return damaged
	}
	return other
}

// netTrouble tells a lost connection from the errors that drivers make themselves.
func netTrouble(err error) trouble {
	var n net.Error
	var c *pgconn.ConnectError
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &n) || errors.As(err, &c) {
		return lost
	}
	return other
}
