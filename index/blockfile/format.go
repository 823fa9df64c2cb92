package blockfile

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

const (
	// PageSize is the size of the header page.
	PageSize = 4096
	// MaxMeta is how much a caller may keep in the header page.
	MaxMeta = PageSize - metaOff - 8
	// RawBlock is the unit in which raw sections are checked.
	RawBlock = 64 << 10

	metaOff   = 56
	headSize  = 64
	footSize  = 64
	entrySize = 80
	nameSize  = 24
	dataAlign = 64

	maxSections = 1 << 16
	maxBlock    = 64 << 20 // of raw bytes in one zstd block
)

const (
	magicFile = "mbblock\x01"
	magicHead = "mbseghd\x01"
	magicFoot = "mbsegft\x01"
)

// Encoding says how a section is stored.
type Encoding uint8

// The encodings.
const (
	Raw  Encoding = iota // as is, mappable, 64-aligned
	Zstd                 // independent zstd frames
)

var le = binary.LittleEndian

func alignUp(n int64, a int64) int64 { return (n + a - 1) &^ (a - 1) }

// Header is what the header page says.
type Header struct {
	Kind        string // at most 8 bytes
	Version     uint32 // of the content, the caller's
	UIDValidity uint32
	Generation  uint64
	Meta        []byte // the caller's, at most MaxMeta bytes

	end0 int64  // end of segment 0
	foot uint64 // sum of segment 0's foot
}

func (h *Header) encode(page []byte) {
	clear(page)
	copy(page, magicFile)
	copy(page[8:16], h.Kind)
	le.PutUint32(page[16:], h.Version)
	le.PutUint32(page[20:], h.UIDValidity)
	le.PutUint64(page[24:], h.Generation)
	le.PutUint64(page[32:], uint64(h.end0))
	le.PutUint64(page[40:], h.foot)
	le.PutUint32(page[48:], uint32(len(h.Meta)))
	copy(page[metaOff:], h.Meta)
	le.PutUint64(page[PageSize-8:], xxhash.Sum64(page[:PageSize-8]))
}

// decode reads page; Meta points into it.
func (h *Header) decode(name string, page []byte) error {
	bad := func(what string) error { return &CorruptError{File: name, What: what} }
	if len(page) < PageSize {
		return bad("shorter than its header page")
	}
	if string(page[:8]) != magicFile {
		return bad("no magic number")
	}
	if le.Uint64(page[PageSize-8:]) != xxhash.Sum64(page[:PageSize-8]) {
		return bad("checksum of the header page")
	}
	n := le.Uint32(page[48:])
	if n > MaxMeta {
		return bad("length of meta")
	}
	k := 8
	for k > 0 && page[8+k-1] == 0 {
		k--
	}
	*h = Header{
		Kind:        string(page[8 : 8+k]),
		Version:     le.Uint32(page[16:]),
		UIDValidity: le.Uint32(page[20:]),
		Generation:  le.Uint64(page[24:]),
		Meta:        page[metaOff : metaOff+int(n) : metaOff+int(n)],
		end0:        int64(le.Uint64(page[32:])),
		foot:        le.Uint64(page[40:]),
	}
	if h.end0 < PageSize+footSize {
		return bad("end of segment 0")
	}
	return nil
}

// entry is one line of a directory.
type entry struct {
	name        string
	enc         Encoding
	off         int64
	stored, raw int64
	blocks      int
	rows        int64
	tableSum    uint64
}

func (e *entry) encode(b []byte) {
	clear(b[:entrySize])
	copy(b[:nameSize], e.name)
	b[24] = byte(e.enc)
	le.PutUint64(b[32:], uint64(e.off))
	le.PutUint64(b[40:], uint64(e.stored))
	le.PutUint64(b[48:], uint64(e.raw))
	le.PutUint32(b[56:], uint32(e.blocks))
	le.PutUint64(b[64:], uint64(e.rows))
	le.PutUint64(b[72:], e.tableSum)
}

func (e *entry) decode(b []byte) {
	k := nameSize
	for k > 0 && b[k-1] == 0 {
		k--
	}
	*e = entry{
		name:     string(b[:k]),
		enc:      Encoding(b[24]),
		off:      int64(le.Uint64(b[32:])),
		stored:   int64(le.Uint64(b[40:])),
		raw:      int64(le.Uint64(b[48:])),
		blocks:   int(le.Uint32(b[56:])),
		rows:     int64(le.Uint64(b[64:])),
		tableSum: le.Uint64(b[72:]),
	}
}

func (e *entry) tableOff() int64 { return alignUp(e.off+e.stored, 8) }

func (e *entry) tableLen() int64 {
	if e.enc == Zstd {
		return int64(e.blocks) * 16
	}
	return int64(e.blocks) * 8
}

// valid checks that the entry lies within [start, end) and that its numbers agree.
func (e *entry) valid(start, end int64) bool {
	if e.enc > Zstd || e.off < start || e.stored < 0 || e.raw < 0 || e.off%8 != 0 ||
		e.stored > end || e.off > end-e.stored {
		return false
	}
	if e.tableOff()+e.tableLen() > end {
		return false
	}
	if e.enc == Raw {
		return e.raw == e.stored && int64(e.blocks) == (e.raw+RawBlock-1)/RawBlock
	}
	return true
}
