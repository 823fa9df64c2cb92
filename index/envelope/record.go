package envelope

import "mailbench/index"

const recordSize = 112

// Bits of record.flags beside index.Flags (0-5) and the folder (6-7).
const (
	folderShift  = 6
	flagsMask    = 1<<folderShift - 1
	flagUnread   = 1 << 29 // the message could not be read: nothing is cached, it is tried again
	flagExpunged = 1 << 31
)

// record is one message in the index file.
type record struct {
	uid, flags         uint32
	internal, sent     int64 // unix seconds
	size               uint64
	headerSize, lines  uint32
	keywords           uint32
	cacheLen, cacheSum uint32
	cacheOff           uint64
	guid               [20]byte
	modseq             uint64
	nameOff            uint64
	nameLen, nameSum   uint32
	updated            uint32
}

func (r *record) append(b []byte) []byte {
	at := len(b)
	b = le.AppendUint32(b, r.uid)
	b = le.AppendUint32(b, r.flags)
	b = le.AppendUint64(b, uint64(r.internal))
	b = le.AppendUint64(b, uint64(r.sent))
	b = le.AppendUint64(b, r.size)
	b = le.AppendUint32(b, r.headerSize)
	b = le.AppendUint32(b, r.lines)
	b = le.AppendUint32(b, r.keywords)
	b = le.AppendUint32(b, r.cacheLen)
	b = le.AppendUint64(b, r.cacheOff)
	b = append(b, r.guid[:]...)
	b = le.AppendUint32(b, r.cacheSum)
	b = le.AppendUint64(b, r.modseq)
	b = le.AppendUint64(b, r.nameOff)
	b = le.AppendUint32(b, r.nameLen)
	b = le.AppendUint32(b, r.nameSum)
	b = le.AppendUint32(b, r.updated)
	return le.AppendUint32(b, checksum(b[at:]))
}

// decode reads a record; false: its checksum is wrong.
func (r *record) decode(b []byte) bool {
	b = b[:recordSize]
	r.uid, r.flags = le.Uint32(b), le.Uint32(b[4:])
	r.internal, r.sent = int64(le.Uint64(b[8:])), int64(le.Uint64(b[16:]))
	r.size = le.Uint64(b[24:])
	r.headerSize, r.lines = le.Uint32(b[32:]), le.Uint32(b[36:])
	r.keywords, r.cacheLen = le.Uint32(b[40:]), le.Uint32(b[44:])
	r.cacheOff = le.Uint64(b[48:])
	copy(r.guid[:], b[56:76])
	r.cacheSum = le.Uint32(b[76:])
	r.modseq, r.nameOff = le.Uint64(b[80:]), le.Uint64(b[88:])
	r.nameLen, r.nameSum = le.Uint32(b[96:]), le.Uint32(b[100:])
	r.updated = le.Uint32(b[104:])
	return checksum(b[:recordSize-4]) == le.Uint32(b[recordSize-4:])
}

// take copies what a table has of a row.
func (r *record) take(t *index.Table, row int) {
	r.uid = t.UIDs()[row]
	r.flags = r.flags&^(flagsMask|3<<folderShift) | uint32(t.Flags()[row])&flagsMask | uint32(t.Dir(row))<<folderShift
	r.keywords, r.modseq = t.Keywords(row), t.ModSeqs()[row]
}

// row is a loaded record; its checksum was verified.
func (m *mailbox) row(i int) (r record) {
	r.decode(m.raw[i*recordSize:])
	return r
}

// setRow puts a record back.
func (m *mailbox) setRow(i int, r *record) {
	r.append(m.raw[:i*recordSize])
}
