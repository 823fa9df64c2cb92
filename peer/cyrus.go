package peer

import (
	"context"
	"errors"
)

// CyrusOptions say which Cyrus is driven. The zero value finds it.
type CyrusOptions struct {
	Bin  string // the directory of master, imapd and reconstruct; "" = where Debian, Fedora or MAILBENCH_PEERS have them
	Name string // of the column; "" = cyrus
}

// NewCyrus returns Cyrus IMAP as a system.
func NewCyrus(o CyrusOptions) System { return &cyrus{o: o} }

type cyrus struct{ o CyrusOptions }

func (c *cyrus) Name() string {
	if c.o.Name != "" {
		return c.o.Name
	}
	return "cyrus"
}

func (c *cyrus) Available() error {
	return &Missing{"cyrus", "apt-get download cyrus-imapd cyrus-common"}
}

func (c *cyrus) Prepare(ctx context.Context, run *Run) (Instance, error) {
	return nil, errors.New("cyrus: not yet")
}
