package linked

import (
	"encoding/binary"
	"fmt"
	"slices"

	"mailbench/index"
)

var le = binary.LittleEndian

const (
	indexMajor   = 7
	baseHeader   = 120
	maxHeader    = 64 << 10 // of an index file: extensions are few
	maxExtNumber = 64
	recordBase   = 8 // uid u32, flags u8, zeros
)

// Names of the extensions.
const (
	extSource   = "source"   // header: what Follow remembers of the mail
	extCache    = "cache"    // record: offset in the cache file; reset id: its file sequence
	extKeywords = "keywords" // record: keyword bits
	extThread   = "thread"   // header: id u32, 0 u32 and size u64 of the thread index
	extModSeq   = "modseq"   // record: MODSEQ, 8 bytes; there when they differ
	// and "sort-..." (sortids.go)
)

// header is the base header of the index file.
type header struct {
	indexID              uint32
	resets               uint32 // cache files so far
	uidValidity, uidNext uint32
	messages             uint32
	seen, deleted        uint32
	logSeq               uint32
	logHead              uint64 // the log up to here is in the index file
	modseq               uint64 // the highest
	baseModSeq           uint64 // of every row, when there is no modseq extension
	dayStamp             uint32
	dayFirst             [8]uint32 // first UID of each of the last days on which mail came
}

// ext is an extension: a header of its own, and a number for each row.
type ext struct {
	name  string
	reset uint32
	hdr   []byte
	size  int      // bytes of a record: 0, 4; 8 for modseq
	rec   []uint32 // size 4: by row; nil: all are 0
}

func align(n, to int) int { return (n + to - 1) / to * to }

// encode makes the header of an index file and tells the record size.
func (v *view) encodeHeader() (b []byte, recordSize int) {
	h := &v.hdr
	recordSize = recordBase
	if v.modseq != nil {
		recordSize += 8
	}
	b = make([]byte, baseHeader, 512)
	add := func(name string, reset uint32, hdr []byte, offset, size int) {
		b = le.AppendUint32(b, uint32(len(hdr)))
		b = le.AppendUint32(b, reset)
		b = le.AppendUint16(b, uint16(offset))
		b = le.AppendUint16(b, uint16(size))
		b = le.AppendUint16(b, uint16(size))
		b = le.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = append(b, make([]byte, align(len(b), 8)-len(b))...)
		b = append(b, hdr...)
		b = append(b, make([]byte, align(len(b), 8)-len(b))...)
	}
	if v.modseq != nil {
		add(extModSeq, 0, nil, recordBase, 8)
	}
	for _, e := range v.exts {
		size := 0
		if e.rec != nil {
			size = 4
		}
		add(e.name, e.reset, e.hdr, recordSize, size)
		recordSize += size
	}
	b[0], b[1] = indexMajor, 0
	le.PutUint16(b[2:], baseHeader)
	le.PutUint32(b[4:], uint32(len(b)))
	le.PutUint32(b[8:], uint32(recordSize))
	b[12] = 1 // little endian
	for i, x := range []uint32{h.indexID, h.resets, h.uidValidity, h.uidNext, h.messages, h.seen, h.deleted, h.logSeq} {
		le.PutUint32(b[16+4*i:], x)
	}
	le.PutUint64(b[48:], h.logHead)
	le.PutUint64(b[56:], h.modseq)
	le.PutUint64(b[64:], h.baseModSeq)
	le.PutUint32(b[72:], h.dayStamp)
	for i, u := range h.dayFirst {
		le.PutUint32(b[76+4*i:], u)
	}
	return b, recordSize
}

// layout is where the columns of a record lie.
type layout struct {
	headerSize, recordSize int
	modseq                 int   // offset of the MODSEQ, 0: none
	at                     []int // of each extension of the view, 0: none
}

func corrupt(file, format string, a ...any) error {
	return &index.CorruptError{File: file, What: fmt.Sprintf(format, a...)}
}

// decodeHeader reads the start of an index file of size bytes into v, without
// rows. b may end before the header does; then need tells its size.
func (v *view) decodeHeader(b []byte, size int64) (l layout, need int, err error) {
	if len(b) < baseHeader {
		return l, 0, corrupt(indexFile, "header")
	}
	l.headerSize, l.recordSize = int(le.Uint32(b[4:])), int(le.Uint32(b[8:]))
	if b[0] != indexMajor || le.Uint16(b[2:]) != baseHeader || b[12] != 1 || l.headerSize < baseHeader || l.headerSize > maxHeader {
		return l, 0, corrupt(indexFile, "header")
	}
	if len(b) < l.headerSize {
		return l, l.headerSize, nil
	}
	b = b[:l.headerSize]
	u := func(at int) uint32 { return le.Uint32(b[at:]) }
	v.hdr = header{indexID: u(16), resets: u(20), uidValidity: u(24), uidNext: u(28), messages: u(32), seen: u(36), deleted: u(40), logSeq: u(44),
		logHead: le.Uint64(b[48:]), modseq: le.Uint64(b[56:]), baseModSeq: le.Uint64(b[64:]), dayStamp: u(72)}
	for i := range v.hdr.dayFirst {
		v.hdr.dayFirst[i] = u(76 + 4*i)
	}
	h := &v.hdr
	if l.recordSize < recordBase || l.recordSize > recordBase+8+4*maxExtNumber || size != int64(l.headerSize)+int64(l.recordSize)*int64(h.messages) ||
		h.uidValidity == 0 || h.uidNext == 0 || h.seen > h.messages || h.deleted > h.messages {
		return l, 0, corrupt(indexFile, "size or counts")
	}
	v.exts = nil
	for at := baseHeader; at < len(b); {
		if len(b)-at < 16 || len(v.exts) == maxExtNumber {
			return l, 0, corrupt(indexFile, "extension")
		}
		hdrSize, name := int(u(at)), int(le.Uint16(b[at+14:]))
		offset, recSize := int(le.Uint16(b[at+8:])), int(le.Uint16(b[at+10:]))
		e := ext{reset: u(at + 4), size: recSize}
		data := align(at+16+name, 8)
		if hdrSize > maxHeader || data+hdrSize > len(b) || name == 0 || recSize != 0 && (offset < recordBase || offset+recSize > l.recordSize) {
			return l, 0, corrupt(indexFile, "extension")
		}
		e.name, e.hdr = string(b[at+16:at+16+name]), slices.Clone(b[data:data+hdrSize])
		at = align(data+hdrSize, 8)
		switch {
		case e.name == extModSeq && recSize == 8:
			l.modseq = offset
		case recSize == 0:
			v.exts, l.at = append(v.exts, e), append(l.at, 0)
		case recSize == 4:
			v.exts, l.at = append(v.exts, e), append(l.at, offset)
		default:
			return l, 0, corrupt(indexFile, "extension %q", e.name)
		}
	}
	return l, 0, nil
}

// encodeRows appends the records of rows from..to.
func (v *view) encodeRows(b []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		b = le.AppendUint32(b, v.uid[i])
		b = le.AppendUint32(b, uint32(v.flags[i]))
		if v.modseq != nil {
			b = le.AppendUint64(b, v.modseq[i])
		}
		for k := range v.exts {
			if r := v.exts[k].rec; r != nil {
				b = le.AppendUint32(b, r[i])
			}
		}
	}
	return b
}

// decodeRows reads the records that follow the header.
func (v *view) decodeRows(b []byte, l layout) error {
	n := int(v.hdr.messages)
	if len(b) != n*l.recordSize {
		return corrupt(indexFile, "records")
	}
	v.uid, v.flags = make([]uint32, n, n+n/16), make([]uint8, n, n+n/16)
	v.modseq = nil
	if l.modseq > 0 {
		v.modseq = make([]uint64, n, n+n/16)
	}
	for k, at := range l.at {
		v.exts[k].rec = nil
		if at > 0 {
			v.exts[k].rec = make([]uint32, n, n+n/16)
		}
	}
	prev := uint32(0)
	for i := range n {
		r := b[i*l.recordSize : (i+1)*l.recordSize : (i+1)*l.recordSize]
		uid := le.Uint32(r)
		if uid <= prev || uid >= v.hdr.uidNext {
			return corrupt(indexFile, "uid %d after %d", uid, prev)
		}
		prev = uid
		v.uid[i], v.flags[i] = uid, r[4]
		if r[4]>>6 > index.DirNone {
			return corrupt(indexFile, "uid %d: folder", uid)
		}
		if l.modseq > 0 {
			v.modseq[i] = le.Uint64(r[l.modseq:])
		}
		for k, at := range l.at {
			if at > 0 {
				v.exts[k].rec[i] = le.Uint32(r[at:])
			}
		}
	}
	v.rows = true
	return nil
}
