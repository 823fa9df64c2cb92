package pebbleidx

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
)

// The first byte of a key: what is behind it.
const (
	keyState    = 's' // the state of the mailbox
	keyMessage  = 'm' // UID: flags, keywords, MODSEQ, name
	keyFields   = 'h' // UID: fields of THREAD and SORT
	keyEnvelope = 'e' // UID: the envelope
	keyArrival  = 'i' // UID: INTERNALDATE
	keySize     = 'z' // UID: RFC822.SIZE
	keyVanished = 'v' // MODSEQ, UID: nothing
)

// cachedKinds are what is kept of a message beside its row.
var cachedKinds = [...]byte{keyFields, keyEnvelope, keyArrival, keySize}

var be = binary.BigEndian

func appendKey(dst []byte, kind byte, uid uint32) []byte {
	return be.AppendUint32(append(dst, kind), uid)
}

func vanishedKey(modseq uint64, uid uint32) []byte {
	return be.AppendUint32(be.AppendUint64([]byte{keyVanished}, modseq), uid)
}

// uidOf is the UID of a key of a kind with one.
func uidOf(key []byte) (uint32, bool) {
	if len(key) != 5 {
		return 0, false
	}
	return be.Uint32(key[1:]), true
}

// bounds are those of all keys of a kind.
func bounds(kind byte) (lower, upper []byte) { return []byte{kind}, []byte{kind + 1} }

const (
	stateVersion = 1
	stateLen     = 70 + index.KnownLen
)

// state is the value of keyState; it is comparable.
type state struct {
	index.Status
	seq    uint64 // raised by each write of the state
	compat mailsort.Compat
	known  index.Known

	identity uint64    // random, drawn when the index is built
	sum      [2]uint64 // of all rows and vanished messages, see sumRows
}

func (s *state) encode() []byte {
	b := []byte{stateVersion, byte(s.compat)}
	for _, v := range [...]uint32{s.UIDValidity, s.UIDNext, uint32(s.Messages), uint32(s.Unseen), uint32(s.Deleted)} {
		b = be.AppendUint32(b, v)
	}
	for _, v := range [...]uint64{s.HighestModSeq, s.Generation, s.seq, s.identity, s.sum[0], s.sum[1]} {
		b = be.AppendUint64(b, v)
	}
	return s.known.Append(b)
}

func (s *state) decode(b []byte) bool {
	if len(b) != stateLen || b[0] != stateVersion {
		return false
	}
	s.compat = mailsort.Compat(b[1])
	var n [5]uint32
	for i := range n {
		n[i] = be.Uint32(b[2+4*i:])
	}
	s.Status = index.Status{UIDValidity: n[0], UIDNext: n[1], Messages: int(n[2]), Unseen: int(n[3]), Deleted: int(n[4]),
		HighestModSeq: be.Uint64(b[22:]), Generation: be.Uint64(b[30:])}
	s.seq, s.identity, s.sum = be.Uint64(b[38:]), be.Uint64(b[46:]), [2]uint64{be.Uint64(b[54:]), be.Uint64(b[62:])}
	var ok bool
	s.known, ok = index.DecodeKnown(b[70:])
	return ok
}

// appendRow appends the value of a row: flags and folder, keywords, MODSEQ, name.
func appendRow(dst []byte, t *index.Table, row int) []byte {
	dst = append(dst, byte(t.Flags()[row])|t.Dir(row)<<6)
	dst = binary.AppendUvarint(dst, uint64(t.Keywords(row)))
	dst = binary.AppendUvarint(dst, t.ModSeqs()[row])
	return append(dst, t.Key(row)...)
}

// addRow adds a row to t; false: key or value are not of a row.
func addRow(t *index.Table, key, value []byte) bool {
	uid, ok := uidOf(key)
	if !ok || len(value) == 0 {
		return false
	}
	flags, b := value[0], value[1:]
	keywords, n := binary.Uvarint(b)
	if n <= 0 || keywords > 1<<32-1 {
		return false
	}
	b = b[n:]
	modseq, n := binary.Uvarint(b)
	if n <= 0 {
		return false
	}
	return t.Append(uid, string(b[n:]), index.Flags(flags&0x3f), flags>>6, uint32(keywords), modseq) == nil
}

// The value of keyEnvelope: ten strings, each uvarint (0: no such field, else
// length + 1) and bytes.
func appendEnvelope(dst, header []byte) []byte {
	var want rfc5322.Mask
	for _, f := range envelopeFields {
		want |= f.Mask()
	}
	var h rfc5322.Header
	rfc5322.Scan(header, want, &h)
	var value []byte
	for _, f := range envelopeFields {
		if !h.Present.Has(f) {
			dst = append(dst, 0)
			continue
		}
		value = index.AppendValue(value[:0], h.Raw(header, f))
		dst = append(binary.AppendUvarint(dst, uint64(len(value)+1)), value...)
	}
	return dst
}

// envelopeFields are index.EnvelopeFields, in their order.
var envelopeFields = [10]rfc5322.Field{rfc5322.Date, rfc5322.Subject, rfc5322.From, rfc5322.Sender, rfc5322.ReplyTo,
	rfc5322.To, rfc5322.Cc, rfc5322.Bcc, rfc5322.InReplyTo, rfc5322.MessageID}

func parseEnvelope(b []byte, values *[10][]byte) bool {
	for i := range values {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k)+1 {
			return false
		}
		b = b[k:]
		values[i] = nil
		if n > 0 {
			values[i], b = b[:n-1:n-1], b[n-1:]
		}
	}
	return len(b) == 0
}

// sumRows is the sum of a hash of each row and of each vanished message, in two
// lanes: an engine that a fault has put together from tables and logs of
// different states has another one. O(n), about 40 ns a row.
func sumRows(t *index.Table) (sum [2]uint64) {
	var b []byte
	add := func() {
		sum[0] += xxhash.Sum64(b)
		b = append(b, 1)
		sum[1] += xxhash.Sum64(b)
	}
	for row, uid := range t.UIDs() {
		b = appendKey(b[:0], keyMessage, uid)
		b = appendRow(b, t, row)
		add()
	}
	for _, v := range t.Vanished() {
		b = append(b[:0], vanishedKey(v.ModSeq, v.UID)...)
		add()
	}
	return sum
}

// Behind each cached value stands a sum (CRC-32C, 4 bytes) of the identity, the
// key and the value: a table of another index is none of ours.
const sealLen = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sealOf(identity uint64, kind byte, uid uint32, value []byte) uint32 {
	var head [13]byte
	be.PutUint64(head[:], identity)
	head[8] = kind
	be.PutUint32(head[9:], uid)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, value)
}

func seal(identity uint64, kind byte, uid uint32, value []byte) []byte {
	return be.AppendUint32(value, sealOf(identity, kind, uid, value))
}

// unseal takes the sum off; false: it is wrong.
func unseal(identity uint64, kind byte, uid uint32, value []byte) ([]byte, bool) {
	n := len(value) - sealLen
	if n < 0 {
		return nil, false
	}
	return value[:n:n], be.Uint32(value[n:]) == sealOf(identity, kind, uid, value[:n])
}
