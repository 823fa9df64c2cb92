package maildir

import (
	"errors"

	"mailbench/store"
)

// Format is store=maildir.
var Format store.Format = format{}

type format struct{}

// Name is "maildir".
func (format) Name() string { return "maildir" }

// Open opens the maildir in cfg.Dir.
func (format) Open(store.Config) (store.Store, error) {
	return nil, errors.New("store/maildir: not yet")
}
