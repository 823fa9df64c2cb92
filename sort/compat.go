package sort

import "mailbench/internal/rfc5322"

// Compat says whose way is followed where Dovecot and the RFCs part; the
// package comment lists where.
type Compat uint8

const (
	RFC     Compat = iota // the RFCs, the default
	Dovecot               // Dovecot 2.3.19
)

// String returns "rfc" or "dovecot".
func (c Compat) String() string {
	if c == Dovecot {
		return "dovecot"
	}
	return "rfc"
}

func (c Compat) header() rfc5322.Compat {
	if c == Dovecot {
		return rfc5322.Dovecot
	}
	return rfc5322.RFC
}
