package peer

import (
	"context"
	"errors"
)

// MuOptions say which mu is a system. The zero value finds it.
type MuOptions struct {
	Program string // "" = mu of MAILBENCH_PEERS, else of PATH
}

// NewMu is mu, the indexer behind mu4e, as a system.
func NewMu(o MuOptions) System { return &mu{o} }

type mu struct{ o MuOptions }

func (s *mu) Name() string { return "mu" }

func (s *mu) Available() error {
	return &Missing{"mu", "apt-get install maildir-utils"}
}

func (s *mu) Prepare(ctx context.Context, run *Run) (Instance, error) {
	return nil, errors.New("mu: not yet")
}
