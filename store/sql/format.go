package sqlstore

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"mailbench/internal/fsys"
	"mailbench/store"
	"mailbench/store/catalog"
)

// Format is store=sql.
//
// Its Extra: "dsn" names the server ("": an SQLite file in Config.Dir),
// "headers" which header fields get rows (all, envelope, none; all is dbmail's
// way), "conns" how many connections a Store opens at most (16, with SQLite 4),
// "mailbox" its name in the database, which otherwise goes with Config.Dir.
var Format store.Format = format{}

type format struct{}

// Name is "sql".
func (format) Name() string { return "sql" }

// Shares implements store.Sharer: the engine does the locking.
func (format) Shares() bool { return true }

// Open opens the mailbox of cfg.Dir, O(messages): the list of them is read, no
// mail.
func (format) Open(cfg store.Config) (store.Store, error) {
	s, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: %s: %w", cfg.Dir, err)
	}
	return s, nil
}

// database is the name of the SQLite file in Config.Dir.
const database = "mail.db"

func open(cfg store.Config) (_ *Store, err error) {
	s := &Store{dir: cfg.Dir, fs: cfg.FS, now: cfg.Now, patience: settleFor}
	if s.fs == nil {
		s.fs = fsys.OS
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.headers, err = parseHeaders(cfg.Extra["headers"]); err != nil {
		return nil, err
	}
	dsn, conns := cfg.Extra["dsn"], 16
	if dsn == "" {
		conns = 4
	}
	if v := cfg.Extra["conns"]; v != "" {
		if conns, err = strconv.Atoi(v); err != nil || conns < 1 || conns > 1000 {
			return nil, fmt.Errorf("conns=%q: it is a number from 1 to 1000", v)
		}
	}
	if err := s.fs.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	made, had := false, false
	if dsn == "" {
		if made, err = s.made(); err != nil {
			return nil, err
		}
		had = filled(s.fs, filepath.Join(s.dir, database))
		s.db = embedded(filepath.Join(s.dir, database), cfg.NoSync, conns)
	} else if s.db, err = server(dsn, cfg.NoSync, conns); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.db.close()
		}
	}()
	err = s.ready(made)
	if err != nil && dsn == "" && s.db.d.trouble(err) == diskFull {
		s.db.close()
		s.db = sqliteFile(filepath.Join(s.dir, database), cfg.NoSync, conns, true)
		err = s.ready(made)
	}
	if err != nil {
		return nil, err
	}
	if dsn == "" {
		// The engine syncs what it writes, and the directory for its log only.
		if err := s.syncDirs(); err != nil {
			return nil, err
		}
	} else if !cfg.NoSync {
		if err := s.db.promise(); err != nil {
			return nil, err
		}
	}
	if err := s.mailbox(cfg.Extra["mailbox"], dsn == ""); err != nil {
		return nil, err
	}
	if dsn == "" && !made {
		// A database of before this file is read on a full disk, too.
		if err := s.noteMade(); err != nil && !had {
			return nil, err
		}
	}
	s.cat = catalog.New("sql", s.dir, reader{s})
	if err := s.load(); err != nil {
		return nil, err
	}
	s.turn = make(chan struct{})
	close(s.turn)
	return s, nil
}

func (s *Store) syncDirs() error {
	if err := s.fs.SyncDir(s.dir); err != nil {
		return err
	}
	return s.fs.SyncDir(filepath.Dir(s.dir))
}

// Remove takes the mailbox of cfg out of its database, with its mail and what
// only that has used. A directory whose mailbox is on a server would leave it
// there when it is deleted. The mailbox's directory stays, with nothing in it
// that names a mailbox.
func Remove(cfg store.Config) error {
	s, err := open(cfg)
	if err != nil {
		return fmt.Errorf("sqlstore: %s: %w", cfg.Dir, err)
	}
	err = s.remove()
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	return s.wrap(err)
}

func (s *Store) remove() error {
	var keys []string
	s.cat.Each(func(r catalog.Row) bool { keys = append(keys, r.Key); return true })
	if err := s.Expunge(keys); err != nil {
		return err
	}
	if err := s.Purge(); err != nil {
		return err
	}
	err := s.db.change(func(c *session) error {
		_, err := c.exec("DELETE FROM mailbench_mailboxes WHERE mailbox_id = ?", s.id)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.fs.Remove(filepath.Join(s.dir, identity)); err != nil && !missing(err) {
		return err
	}
	return s.fs.SyncDir(s.dir)
}
