package source

import "bytes"

// maxKeywords is what Entry.Keywords and dovecot-keywords have letters for.
const maxKeywords = 26

// An imapBase is what a server keeps in the first message of an mbox:
//
//	X-IMAP: UIDVALIDITY LASTUID [keyword ...]
type imapBase struct {
	validity, last uint32
	names          []string
}

func (b *imapBase) reset() { b.validity, b.last, b.names = 0, 0, b.names[:0] }

// learn reads the first message's fields. internal is true for UW-IMAP's
// message that is no mail: X-IMAP stands only there, X-IMAPbase in real mail.
func (b *imapBase) learn(h *fieldWalk) (internal bool) {
	if b.parse(h.imap) {
		return true
	}
	b.parse(h.imapBase)
	return false
}

func (b *imapBase) parse(value []byte) bool {
	validity, rest := decimal(value)
	if validity == 0 {
		return false
	}
	b.validity = validity
	b.last, rest = decimal(bytes.TrimSpace(rest))
	for name := range bytes.FieldsSeq(rest) {
		if len(b.names) < maxKeywords {
			b.names = append(b.names, string(name))
		}
	}
	return true
}

// bits turns the names of an X-Keywords field into bits; names beyond the
// 26th are dropped. It allocates only for a name that is new.
func (b *imapBase) bits(value []byte) (bits uint32) {
	for len(value) > 0 {
		name := value
		i := bytes.IndexAny(value, " \t\r\n,")
		if i >= 0 {
			name, value = value[:i], value[i+1:]
		} else {
			value = nil
		}
		if len(name) > 0 {
			bits |= b.bit(name)
		}
	}
	return bits
}

func (b *imapBase) bit(name []byte) uint32 {
	for i, known := range b.names {
		if known == string(name) {
			return 1 << i
		}
	}
	if len(b.names) == maxKeywords {
		return 0
	}
	b.names = append(b.names, string(name))
	return 1 << (len(b.names) - 1)
}
