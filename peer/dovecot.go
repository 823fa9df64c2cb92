package peer

import (
	"context"
	"errors"
)

// DovecotOptions say which Dovecot is driven, and how it is configured.
type DovecotOptions struct {
	Binary      string // of imap; "" = where Debian, Fedora or MAILBENCH_PEERS have it
	Doveadm     string // "" likewise
	Name        string // of the column; "" = dovecot
	CacheFields string // mail_cache_fields; "" = Dovecot's own default
	WithIndex   string // a directory with dovecot.index* to start from (a copy is used), "" = none
	Fsync       string // mail_fsync: optimized, always or never; "" = optimized
	Format      string // maildir, sdbox or mdbox; "" = maildir
}

// NewDovecot returns the installed Dovecot as a system.
func NewDovecot(o DovecotOptions) System { return &dovecot{o: o} }

type dovecot struct{ o DovecotOptions }

func (d *dovecot) Name() string {
	if d.o.Name != "" {
		return d.o.Name
	}
	return "dovecot"
}

func (d *dovecot) Available() error { return errors.New("dovecot: not yet") }

func (d *dovecot) Prepare(ctx context.Context, run *Run) (Instance, error) {
	return nil, errors.New("dovecot: not yet")
}
