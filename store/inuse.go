package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"mailbench/internal/fsys"
)

// ErrInUse reports a directory that another Store has open, of this process or
// of another one.
var ErrInUse = errors.New("another Store has it open")

// A Sharer is a Format of which several Stores may have one directory open.
type Sharer interface{ Shares() bool }

// A held is a Store that holds the lock of its directory.
type held struct {
	Store
	once   sync.Once
	unlock func()
}

// Close closes the Store and lets others have the directory.
func (h *held) Close() error {
	err := h.Store.Close()
	h.once.Do(h.unlock)
	return err
}

// lock takes cfg.Dir, which it makes when there is none, for a Store. Where
// there are no locks, or none can be had for another reason than that somebody
// else has it, nobody is refused: unlock does nothing then.
func lock(cfg Config) (unlock func(), err error) {
	unlock, err = fsys.TryLockDir(cfg.Dir, false)
	if errors.Is(err, fs.ErrNotExist) {
		if err := cfg.FS.MkdirAll(cfg.Dir, 0o700); err != nil {
			return nil, err
		}
		if err := cfg.FS.SyncDir(filepath.Dir(filepath.Clean(cfg.Dir))); err != nil {
			return nil, err
		}
		unlock, err = fsys.TryLockDir(cfg.Dir, false)
	}
	if errors.Is(err, fsys.ErrLocked) {
		return nil, fmt.Errorf("%s: %w", cfg.Dir, ErrInUse)
	}
	if err != nil {
		return func() {}, nil
	}
	return unlock, nil
}
