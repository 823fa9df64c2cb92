package sort

import "mailbench/internal/rfc5322"

// missingMailbox is the key of a malformed first address, one without a mailbox
// in a field that is not blank. No RFC says what it should be; Dovecot's filler
// keeps the orders comparable.
const missingMailbox = "MISSING_MAILBOX"

// AddressKey appends the key of SORT FROM, TO and CC for a raw address list:
// the mailbox (local part) of the first address, casemapped; nothing when there
// is no address (RFC 5256 section 3, which takes addr-mailbox of IMAP's
// ENVELOPE: for a group that is the group's name).
func AddressKey(dst, raw []byte) []byte { return RFC.AddressKey(dst, raw) }

// AddressKey is the function of that name, as c wants it.
func (c Compat) AddressKey(dst, raw []byte) []byte {
	// The parts of the address are written behind dst, then the mailbox is
	// moved to its end: no other scratch is needed.
	start := len(dst)
	dst = grow(dst, len(raw)+64)
	a, ok := rfc5322.FirstAddressCompat(raw, dst[start:start:cap(dst)], c.header())
	if !ok {
		return dst
	}
	if len(a.Mailbox) == 0 && a.Invalid {
		return append(dst, missingMailbox...)
	}
	dst = append(dst, a.Mailbox...)
	return casemapTail(c, dst, start)
}

// DisplayKey appends the key of SORT DISPLAYFROM and DISPLAYTO for a raw
// address list: the decoded display name of the first address, else
// mailbox@host, casemapped (RFC 5957 section 3).
func DisplayKey(dst, raw []byte) []byte { return RFC.DisplayKey(dst, raw) }

// DisplayKey is the function of that name, as c wants it.
func (c Compat) DisplayKey(dst, raw []byte) []byte {
	start := len(dst)
	return casemapTail(c, rfc5322.AppendDisplay(dst, raw, c.header()), start)
}

// grow makes room for n more bytes, at least doubling.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	bigger := make([]byte, len(dst), 2*cap(dst)+n)
	copy(bigger, dst)
	return bigger
}
