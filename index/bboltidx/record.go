package bboltidx

import (
	"encoding/binary"

	"mailbench/index"
)

// A cursor reads a record. After an overrun bad is set and results are zero.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.bad = true
		return 0
	}
	x := c.b[0]
	c.b = c.b[1:]
	return x
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// bytes reads a length and so many bytes: a piece of the record.
func (c *cursor) bytes() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		c.b, c.bad = nil, true
		return nil
	}
	x := c.b[:n:n]
	c.b = c.b[n:]
	return x
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// Bits of a record of the thread bucket.
const (
	hasID = 1 << iota
	isReply
	noDate // the date is the INTERNALDATE
	isGone // the mail was gone when it was to be read: nothing follows
)

// appendThread appends a record: bits, date (zigzag), number of references,
// subject, id, references, texts with their length before them.
func appendThread(dst []byte, f *index.Fields, date int64) []byte {
	var bits byte
	if f.ID != nil {
		bits |= hasID
	}
	if f.Reply {
		bits |= isReply
	}
	if !f.DateOK {
		bits |= noDate
	}
	dst = binary.AppendVarint(append(dst, bits), date)
	dst = appendBytes(dst, f.Subject)
	if f.ID != nil {
		dst = appendBytes(dst, f.ID)
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.Refs)))
	for _, r := range f.Refs {
		dst = appendBytes(dst, r)
	}
	return dst
}

// decodeThread reads what want names of a record into f, whose slices are
// pieces of it. date is what counts as the sent date.
func decodeThread(b []byte, want index.Want, f *index.Fields) (date int64, ok bool) {
	c := cursor{b: b}
	f.Refs = f.Refs[:0]
	f.ID, f.Subject, f.Reply = nil, nil, false
	bits := c.byte()
	if bits == isGone {
		return 0, len(c.b) == 0
	}
	date = c.varint()
	if want&^index.WantDate == 0 || c.bad {
		return date, !c.bad
	}
	f.Subject, f.Reply = c.bytes(), bits&isReply != 0
	if want&index.WantIDs == 0 {
		return date, !c.bad
	}
	if bits&hasID != 0 {
		f.ID = c.bytes()
	}
	for range c.uvarint() {
		f.Refs = append(f.Refs, c.bytes())
		if c.bad {
			return date, false
		}
	}
	return date, !c.bad && len(c.b) == 0 && bits < isGone
}

// appendAddress appends a record of the address bucket: five keys.
func appendAddress(dst []byte, f *index.Fields) []byte {
	for _, k := range [...][]byte{f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo} {
		dst = appendBytes(dst, k)
	}
	return dst
}

// decodeAddress reads one; an empty record is of a mail that was gone.
func decodeAddress(b []byte, f *index.Fields) bool {
	if len(b) == 0 {
		f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo = nil, nil, nil, nil, nil
		return true
	}
	c := cursor{b: b}
	for _, k := range [...]*[]byte{&f.From, &f.To, &f.Cc, &f.DisplayFrom, &f.DisplayTo} {
		*k = c.bytes()
	}
	return !c.bad && len(c.b) == 0
}

// row is a record of the messages bucket: flags, folder, keywords, MODSEQ, key.
type row struct {
	flags    index.Flags
	dir      uint8
	keywords uint32
	modseq   uint64
	key      []byte
}

func appendRow(dst []byte, t *index.Table, i int) []byte {
	dst = append(dst, byte(t.Flags()[i]), t.Dir(i))
	dst = binary.AppendUvarint(dst, uint64(t.Keywords(i)))
	dst = binary.AppendUvarint(dst, t.ModSeqs()[i])
	return append(dst, t.Key(i)...)
}

func decodeRow(b []byte) (r row, ok bool) {
	c := cursor{b: b}
	r.flags, r.dir = index.Flags(c.byte()), c.byte()
	k := c.uvarint()
	r.keywords, r.modseq, r.key = uint32(k), c.uvarint(), c.b
	return r, !c.bad && k < 1<<32 && len(r.key) > 0 && r.dir <= index.DirNone && r.flags < 1<<6
}

// box is the record of the mailbox.
type box struct {
	there   bool // false: no database
	status  index.Status
	changed uint64 // raised by each change of messages
	compat  index.Compat
	known   index.Known
	upto    [groups]uint32 // every message up to this UID has its record of the group
	unread  uint32         // messages in the unread bucket
	bytes   int64          // of the file: no count is believed beyond that; not in the record
}

const boxVersion = 1

func (x *box) append(dst []byte) []byte {
	st := &x.status
	dst = append(dst, boxVersion, byte(x.compat))
	for _, v := range [...]uint32{st.UIDValidity, st.UIDNext, uint32(st.Messages), uint32(st.Unseen), uint32(st.Deleted), x.unread} {
		dst = binary.BigEndian.AppendUint32(dst, v)
	}
	for _, v := range x.upto {
		dst = binary.BigEndian.AppendUint32(dst, v)
	}
	for _, v := range [...]uint64{st.HighestModSeq, st.Generation, x.changed} {
		dst = binary.BigEndian.AppendUint64(dst, v)
	}
	return x.known.Append(dst)
}

const boxLen = 2 + 4*6 + 4*int(groups) + 8*3 + index.KnownLen

func decodeBox(b []byte) (x box, ok bool) {
	if len(b) != boxLen || b[0] != boxVersion || b[1] > byte(index.CompatDovecot) {
		return x, false
	}
	x.there, x.compat = true, index.Compat(b[1])
	b = b[2:]
	u32 := func() uint32 { v := binary.BigEndian.Uint32(b); b = b[4:]; return v }
	u64 := func() uint64 { v := binary.BigEndian.Uint64(b); b = b[8:]; return v }
	st := &x.status
	st.UIDValidity, st.UIDNext = u32(), u32()
	st.Messages, st.Unseen, st.Deleted, x.unread = int(u32()), int(u32()), int(u32()), u32()
	for i := range x.upto {
		x.upto[i] = u32()
	}
	st.HighestModSeq, st.Generation, x.changed = u64(), u64(), u64()
	x.known, ok = index.DecodeKnown(b)
	return x, ok && st.UIDValidity > 0 && st.UIDNext > 0
}
