package mbox

import (
	"errors"

	"mailbench/store"
)

// Format is store=mbox.
var Format store.Format = format{}

type format struct{}

// Name is "mbox".
func (format) Name() string { return "mbox" }

// Open opens the mbox in cfg.Dir.
func (format) Open(store.Config) (store.Store, error) {
	return nil, errors.New("store/mbox: not yet")
}
