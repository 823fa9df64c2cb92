// Package sqlstore keeps mail in a database.
package sqlstore

import (
	"errors"

	"mailbench/store"
)

// Format is the sql store.
var Format store.Format = format{}

type format struct{}

func (format) Name() string { return "sql" }

func (format) Open(store.Config) (store.Store, error) { return nil, errors.New("sqlstore: not yet") }
