package peer

import (
	"context"
	"errors"
)

// NotmuchOptions say which notmuch is a system. The zero value finds it.
type NotmuchOptions struct {
	Program string // "" = notmuch of MAILBENCH_PEERS, else of PATH
}

// NewNotmuch is notmuch as a system.
func NewNotmuch(o NotmuchOptions) System { return &notmuch{o} }

type notmuch struct{ o NotmuchOptions }

func (s *notmuch) Name() string { return "notmuch" }

func (s *notmuch) Available() error {
	return &Missing{"notmuch", "apt-get install notmuch"}
}

func (s *notmuch) Prepare(ctx context.Context, run *Run) (Instance, error) {
	return nil, errors.New("notmuch: not yet")
}
