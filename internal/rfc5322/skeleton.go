package rfc5322

// Address is one address of a field, or the start of a group.
type Address struct {
	Name    []byte // display name or comment, unquoted, not decoded
	Route   []byte
	Mailbox []byte // local part, unquoted
	Host    []byte
	Group   bool
	Invalid bool
}

// FirstAddress returns the first address of raw.
func FirstAddress(raw, scratch []byte) (a Address, ok bool) { return a, false }

// FirstAddressCompat is FirstAddress as c reads it.
func FirstAddressCompat(raw, scratch []byte, c Compat) (a Address, ok bool) { return a, false }

// AddressList returns all addresses of raw.
func AddressList(raw []byte) []Address { return nil }

// AppendDisplay appends the RFC 5957 display name of the first address of raw.
func AppendDisplay(dst, raw []byte, c Compat) []byte { return dst }
