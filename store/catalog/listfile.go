package catalog

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
)

const (
	listMagic  = "mblist\x00\x02"
	listHead   = 64
	recHead    = 32
	recTail    = 8
	recMagic   = 0x726c626d // "mblr"
	maxPayload = 1 << 20
	chunk      = 64 << 10 // payload after which a snapshot begins another record
	sector     = 512      // what a torn write leaves whole or zero
)

var le = binary.LittleEndian

// header is the first part of the file.
type header struct {
	generation, snapshot, rows, next uint64
	name                             [8]byte // the format that the list is of
	lasts                            int64   // as decoded: the file lasted so far, 0 = that is not told (L7)
}

// The place of lasts in the header: it is written again and again, so that the
// header's checksum leaves it out.
const lastsAt, maxLasts = 48, 1<<40 - 1

// lasts24 is n with its checksum; 0 for what is not told.
func lasts24(n int64) uint64 {
	if n <= 0 || n > maxLasts {
		return 0
	}
	return uint64(n) | xxhash.Sum64(le.AppendUint64(nil, uint64(n)))<<40
}

func (h *header) append(b []byte) []byte {
	start := len(b)
	b = append(b, listMagic...)
	for _, v := range [...]uint64{h.generation, h.snapshot, h.rows, h.next} {
		b = le.AppendUint64(b, v)
	}
	b = append(b, h.name[:]...)
	b = le.AppendUint64(b, 0)
	return le.AppendUint64(b, xxhash.Sum64(b[start:]))
}

func (h *header) decode(b []byte) (what string) {
	if len(b) >= listHead {
		v := le.Uint64(b[lastsAt:])
		if n := int64(v & maxLasts); v == lasts24(n) {
			h.lasts = n
		}
		b = bytes.Clone(b)
		clear(b[lastsAt : lastsAt+8])
	}
	switch {
	case len(b) < listHead:
		return "list ends in its header"
	case string(b[:8]) != listMagic:
		return "no list, or of another version"
	case le.Uint64(b[56:]) != xxhash.Sum64(b[:56]):
		return "checksum of the header"
	}
	h.generation, h.snapshot, h.rows, h.next = le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:]), le.Uint64(b[32:])
	copy(h.name[:], b[40:48])
	return ""
}

// beginRecord makes room for the head of a record; endRecord fills it in.
func beginRecord(b []byte) ([]byte, int) {
	start := len(b)
	return append(b, make([]byte, recHead)...), start
}

func endRecord(b []byte, start int, seq, synced uint64) []byte {
	r := b[start:]
	le.PutUint32(r, recMagic)
	le.PutUint32(r[4:], uint32(len(r)-recHead))
	le.PutUint64(r[8:], seq)
	le.PutUint64(r[16:], synced)
	le.PutUint64(r[24:], xxhash.Sum64(r[:24]))
	return le.AppendUint64(b, xxhash.Sum64(r))
}

// headOK checks the head of a record and returns the length of its payload.
func headOK(r []byte) (payload int, ok bool) {
	n := le.Uint32(r[4:])
	return int(n), le.Uint32(r) == recMagic && n <= maxPayload && le.Uint64(r[24:]) == xxhash.Sum64(r[:24])
}

// recordOK checks a whole record.
func recordOK(r []byte) bool {
	return le.Uint64(r[len(r)-recTail:]) == xxhash.Sum64(r[:len(r)-recTail])
}

// delta is what the operations of one payload are coded against.
type delta struct {
	id   uint64
	date int64
}

func (d *delta) appendID(b []byte, op byte, id uint64) []byte {
	b = binary.AppendVarint(append(b, op), int64(id-d.id))
	d.id = id
	return b
}

func (d *delta) appendAdd(b []byte, id uint64, r *Row) []byte {
	b = d.appendID(b, 'A', id)
	b = appendMarks(b, r)
	b = binary.AppendVarint(b, r.Size)
	b = binary.AppendVarint(b, r.VSize-r.Size)
	b = binary.AppendVarint(b, r.Date-d.date)
	d.date = r.Date
	return appendPlace(b, r)
}

func appendMarks(b []byte, r *Row) []byte {
	b = append(b, byte(r.Flags), r.Dir)
	return binary.AppendUvarint(b, uint64(r.Keywords))
}

func appendPlace(b []byte, r *Row) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, r.File), r.Off)
}

// KeyID is the id of a key, 0 if it is none.
func KeyID(key string) uint64 {
	if len(key) == 0 || len(key) > 19 || key[0] == '0' {
		return 0
	}
	var id uint64
	for i := range len(key) {
		c := key[i] - '0'
		if c > 9 {
			return 0
		}
		id = id*10 + uint64(c)
	}
	return id
}

// IDKey is the key of an id.
func IDKey(id uint64) string { return strconv.FormatUint(id, 10) }

// cursor reads a payload. After a fault all is zero and bad is set.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.b)
	if n <= 0 {
		c.b, c.bad = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
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

func (c *cursor) byte() byte {
	if len(c.b) == 0 {
		c.bad = true
		return 0
	}
	v := c.b[0]
	c.b = c.b[1:]
	return v
}

func (c *cursor) marks(r *Row) {
	r.Flags, r.Dir = index.Flags(c.byte()), c.byte()
	k := c.uvarint()
	r.Keywords = uint32(k)
	c.bad = c.bad || k > 1<<32-1 || r.Dir > index.DirNone
}

// eachOp calls fn for each operation of a payload; what tells a fault of it.
func eachOp(payload []byte, fn func(op byte, id uint64, r *Row)) (what string) {
	c := cursor{b: payload}
	var d delta
	var r Row // one for all: fn's use of it moves it to the heap
	for len(c.b) > 0 {
		op := c.byte()
		if op == 'C' || op == 'D' {
			fn(op, 0, nil)
			continue
		}
		d.id += uint64(c.varint())
		r = Row{}
		switch op {
		case 'A':
			c.marks(&r)
			r.Size = c.varint()
			r.VSize = r.Size + c.varint()
			d.date += c.varint()
			r.Date = d.date
			r.File, r.Off = c.varint(), c.varint()
		case 'S':
			c.marks(&r)
		case 'P':
			r.File, r.Off = c.varint(), c.varint()
		case 'R', 'N':
		default:
			return "unknown operation"
		}
		if c.bad || d.id == 0 || d.id >= 1<<62 {
			return "operation makes no sense"
		}
		fn(op, d.id, &r)
	}
	return ""
}
