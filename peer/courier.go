package peer

import (
	"context"
	"errors"
)

// CourierOptions say which Courier is driven. The zero value finds it.
type CourierOptions struct {
	Binary string // of imapd; "" = where Debian, Fedora or MAILBENCH_PEERS have it
	Name   string // of the column; "" = courier
}

// NewCourier returns Courier's IMAP server as a system.
func NewCourier(o CourierOptions) System { return &courier{o: o} }

type courier struct{ o CourierOptions }

func (c *courier) Name() string {
	if c.o.Name != "" {
		return c.o.Name
	}
	return "courier"
}

func (c *courier) Available() error {
	return &Missing{"courier", "apt-get download courier-imap courier-base courier-authlib"}
}

func (c *courier) Prepare(ctx context.Context, run *Run) (Instance, error) {
	return nil, errors.New("courier: not yet")
}
