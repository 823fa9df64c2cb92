package store

import (
	"fmt"
	"time"

	"mailbench/internal/fsys"
)

// Open opens a mailbox of format f. It fills in what cfg leaves out, and with
// NoSync gives the format a file system that does not sync: formats that keep
// files of their own need not look at NoSync. Everybody opens a Store with it.
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
	return f.Open(cfg)
}
