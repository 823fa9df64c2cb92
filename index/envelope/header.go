package envelope

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"

	"mailbench/index"
)

var (
	le     = binary.LittleEndian
	castag = crc32.MakeTable(crc32.Castagnoli)
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castag) }

const (
	indexMagic = "mbenvi\x00\x01"
	headerSize = 256
	slotSize   = 4096
	vanishSize = 12
)

// Bits of header.flavour: under what options cache records were made.
const (
	flavourDovecot = 1 << iota
	flavourList
)

// header is the state of a mailbox; it is comparable.
type header struct {
	identity, generation, seq uint64
	uidValidity, uidNext      uint32
	count                     uint32 // records, of them
	live, unseen, deleted     uint32 // messages that are there
	flavour                   uint32
	vanished, vanishedSum     uint32 // of the list in front of the records
	highest                   uint64
	cacheEnd, cacheDead       uint64
	namesEnd                  uint64
	journalSeq                uint64 // 0: none
	journalSum                uint32
	known                     index.Known
}

// recordsAt is where the records begin.
func (h *header) recordsAt() int64 {
	return 2*slotSize + (int64(h.vanished)*vanishSize+15)&^15
}

func (h *header) encode() []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, indexMagic...)
	for _, v := range [...]uint64{h.identity, h.generation, h.seq, h.highest, h.cacheEnd, h.cacheDead, h.namesEnd, h.journalSeq} {
		b = le.AppendUint64(b, v)
	}
	for _, v := range [...]uint32{recordSize, h.uidValidity, h.uidNext, h.count, h.live, h.unseen, h.deleted, h.flavour, h.vanished, h.vanishedSum, h.journalSum} {
		b = le.AppendUint32(b, v)
	}
	b = h.known.Append(b)
	b = append(b, make([]byte, headerSize-4-len(b))...)
	return le.AppendUint32(b, checksum(b))
}

func (h *header) decode(b []byte) bool {
	if len(b) < headerSize || string(b[:8]) != indexMagic || checksum(b[:headerSize-4]) != le.Uint32(b[headerSize-4:]) {
		return false
	}
	b = b[8:]
	for _, p := range [...]*uint64{&h.identity, &h.generation, &h.seq, &h.highest, &h.cacheEnd, &h.cacheDead, &h.namesEnd, &h.journalSeq} {
		*p, b = le.Uint64(b), b[8:]
	}
	var size uint32
	for _, p := range [...]*uint32{&size, &h.uidValidity, &h.uidNext, &h.count, &h.live, &h.unseen, &h.deleted, &h.flavour, &h.vanished, &h.vanishedSum, &h.journalSum} {
		*p, b = le.Uint32(b), b[4:]
	}
	var ok bool
	h.known, ok = index.DecodeKnown(b[:index.KnownLen])
	return ok && size == recordSize && h.live <= h.count
}

// sameRows reports whether h and o differ in no more than what a note changes.
func (h header) sameRows(o header) bool {
	o.seq, o.known = h.seq, h.known
	return h == o
}

// readHeader reads the two slots: the valid one with the greater number counts.
// there is false when there is no index. A *CorruptError: neither is valid.
func (m *mailbox) readHeader() (h header, twins, there bool, err error) {
	name := m.path(IndexFile)
	f, err := m.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, false, nil
	}
	if err != nil {
		return h, false, false, err
	}
	defer f.Close()
	var buf [slotSize + headerSize]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, false, false, err
	}
	var a, b header
	okA := a.decode(buf[:n])
	okB := b.decode(buf[min(n, slotSize):n])
	switch {
	case okA && (!okB || a.seq >= b.seq):
		return a, okB && a.sameRows(b), true, nil
	case okB:
		return b, false, true, nil
	}
	return h, false, false, &index.CorruptError{File: name, What: "header"}
}

// refresh reads the header anew and drops the rows if it is another one.
func (m *mailbox) refresh() error {
	h, twins, there, err := m.readHeader()
	if errors.Is(err, index.ErrCorrupt) {
		m.drop()
		m.have, m.damaged = false, true
		return nil
	}
	if err != nil {
		return err
	}
	if h != m.h || there != m.have {
		m.drop()
		m.h, m.have, m.damaged = h, there, false
	}
	m.twins = twins
	return nil
}

// unchanged is an error if another process has written since the header was read.
func (m *mailbox) unchanged() error {
	h, _, there, err := m.readHeader()
	if err != nil {
		return err
	}
	if there != m.have || h != m.h {
		return index.ErrStale
	}
	return nil
}
