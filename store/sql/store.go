package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/catalog"
)

// A Store is one mailbox of a database.
type Store struct {
	dir     string
	fs      index.FS
	now     func() time.Time
	headers headers
	db      *pool

	patience time.Duration // with a server that went away during a commit

	cat *catalog.Catalog
	id  int64 // mailbox_id

	idMu          sync.Mutex
	idNext, idEnd int64 // numbers for rows: of the block that is taken, those that are left

	nameMu sync.RWMutex
	names  map[string]int64 // ids of header names, at most maxNames

	mu    sync.Mutex
	epoch int64         // of the keys of this opening, 0: none has been given
	next  int64         // lower half of the next key
	turn  chan struct{} // closed when the last Append that took keys has shown its messages

	edit sync.Mutex // one SetFlags, Expunge or Purge at a time: catalog and database change in the same order
}

var _ store.Store = (*Store)(nil)

// Values of mailbench_messages.status.
const (
	statusLive     = 0
	statusExpunged = 2 // MESSAGE_STATUS_DELETE of dbmail: Purge takes it away
)

// A key is the epoch and number of a message, its uid in the database: "3.17".
func keyOf(uid int64) string {
	b := strconv.AppendInt(make([]byte, 0, 24), uid>>32, 10)
	return string(strconv.AppendInt(append(b, '.'), uid&0xffffffff, 10))
}

// uidOf reads a key; ok false: no key of keyOf's.
func uidOf(key string) (uid int64, ok bool) {
	e, n, ok := strings.Cut(key, ".")
	epoch, err := strconv.ParseUint(e, 10, 31)
	number, err2 := strconv.ParseUint(n, 10, 32)
	uid = int64(epoch<<32 | number)
	return uid, ok && err == nil && err2 == nil && keyOf(uid) == key
}

// makeRow is a message as the catalog has it; Off is its physmessage.
func makeRow(uid, phys, flags, keywords, size, vsize, date int64) catalog.Row {
	return catalog.Row{Key: keyOf(uid), Flags: index.Flags(flags), Keywords: uint32(keywords), Dir: index.DirNone,
		Size: size, VSize: vsize, Date: date, Off: phys}
}

// Source is the mailbox as an index sees it.
func (s *Store) Source() index.Source { return s.cat.Source() }

// Engine names the engine, as results should show it: "sqlite", "postgres" or
// "mariadb".
func (s *Store) Engine() string { return s.db.d.name }

// Close waits for calls under way and closes the connections. An SQLite file
// is left without a log beside it.
func (s *Store) Close() error { return s.wrap(s.db.close()) }

// wrap says whose error it is, and makes those of damage and of a full disk
// what they are for other formats.
func (s *Store) wrap(err error) error {
	if err == nil {
		return nil
	}
	t := s.db.d.trouble(err)
	switch {
	case errors.Is(err, errDamaged) || t == damaged:
		return fmt.Errorf("sqlstore: %s: %w", s.dir, errors.Join(&index.CorruptError{File: s.db.d.name, What: err.Error()}, err))
	case t == diskFull:
		return fmt.Errorf("sqlstore: %w (%w)", &fs.PathError{Op: "write", Path: s.dir, Err: syscall.ENOSPC}, err)
	case t == lost:
		return fmt.Errorf("sqlstore: %s: connection to %s lost: %w", s.dir, s.db.d.name, err)
	}
	return fmt.Errorf("sqlstore: %s: %w", s.dir, err)
}
