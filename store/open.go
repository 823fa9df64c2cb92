package store

import (
	"fmt"
	"time"

	"mailbench/internal/fsys"
)

// Open opens a mailbox of format f. It fills in what cfg leaves out, and with
// NoSync gives the format a file system that does not sync: formats that keep
// files of their own need not look at NoSync. Everybody opens a Store with it.
//
// The directory is locked for the Store's life, which ends with Close or with the
// process: a second Open is an error that wraps ErrInUse, but for a Sharer.
func Open(f Format, cfg Config) (Store, error) {
	if cfg.Dir == "" {
		return nil, fmt.Errorf("store: %s: no directory is given", f.Name())
	}
	if cfg.FS == nil {
		cfg.FS = fsys.OS
	}
	if cfg.NoSync {
		cfg.FS = fsys.Unsynced(cfg.FS)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if s, ok := f.(Sharer); cfg.Unlocked || ok && s.Shares() {
		return f.Open(cfg)
	}
	unlock, err := lock(cfg)
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", f.Name(), err)
	}
	s, err := f.Open(cfg)
	if err != nil {
		unlock()
		return nil, err
	}
	return &held{Store: s, unlock: unlock}, nil
}
