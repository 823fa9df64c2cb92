package envelope

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"

	"mailbench/index"
)

const readAhead = 256 << 10

// load makes table, raw and slot those of the header on disk. Damage makes the
// next Sync build the index anew.
func (m *mailbox) load() error {
	for range 8 {
		if err := m.refresh(); err != nil {
			return err
		}
		if m.damaged {
			return &index.CorruptError{File: m.path(IndexFile), What: "header"}
		}
		if m.table != nil {
			return nil
		}
		if !m.have {
			m.table = index.NewTable(0, 1, 0, 0)
			return nil
		}
		rows, err := m.readRows()
		h, _, there, herr := m.readHeader()
		if herr == nil && (h != m.h || !there) {
			continue // written meanwhile: what was read may be of both
		}
		if errors.Is(err, index.ErrCorrupt) {
			m.markDamaged()
			return err
		}
		if err != nil {
			return err
		}
		m.table, m.raw, m.slot = rows.table, rows.raw, rows.slot
		return nil
	}
	return index.ErrStale
}

// markDamaged puts a damaged index aside, so that every process builds it anew.
func (m *mailbox) markDamaged() {
	m.drop()
	m.have, m.damaged = false, true
	// Should it fail, the next reader finds the damage again.
	_ = m.fs.Rename(m.path(IndexFile), m.path(DamagedFile))
}

type rows struct {
	table *index.Table
	raw   []byte
	slot  []uint32
}

func (m *mailbox) corrupt(name string, off int64, what string) error {
	return &index.CorruptError{File: name, Off: off, What: what}
}

// readRows reads list, records, journal and names. O(n).
func (m *mailbox) readRows() (r rows, err error) {
	h := &m.h
	name := m.path(IndexFile)
	f, err := m.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r, m.corrupt(name, 0, "missing")
	}
	if err != nil {
		return r, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return r, err
	}
	if size < h.recordsAt()+int64(h.count)*recordSize {
		return r, m.corrupt(name, size, "shorter than its header says")
	}
	journal, err := m.readJournal()
	if err != nil {
		return r, err
	}

	list := make([]byte, int(h.vanished)*vanishSize)
	if err := readFull(f, list, 2*slotSize); err != nil {
		return r, err
	}
	if checksum(list) != h.vanishedSum {
		return r, m.corrupt(name, 2*slotSize, "list of vanished messages")
	}
	gone := make([]index.Vanished, 0, h.vanished)
	for ; len(list) > 0; list = list[vanishSize:] {
		gone = append(gone, index.Vanished{UID: le.Uint32(list), ModSeq: le.Uint64(list[4:])})
	}

	names, err := m.openNames()
	if err != nil {
		return r, err
	}
	defer names.close()
	t := index.NewTable(h.uidValidity, h.uidNext, h.highest, int(h.live))
	r.table, r.raw, r.slot = t, make([]byte, 0, int(h.live)*recordSize), make([]uint32, 0, h.live)
	in := bufio.NewReaderSize(io.NewSectionReader(f, h.recordsAt(), int64(h.count)*recordSize), readAhead)
	var buf [recordSize]byte
	var rec record
	for i := range h.count {
		if _, err := io.ReadFull(in, buf[:]); err != nil {
			return r, err
		}
		b := buf[:]
		if j := journal[i]; j != nil {
			b = j
		}
		if !rec.decode(b) {
			return r, m.corrupt(name, h.recordsAt()+int64(i)*recordSize, "record")
		}
		if rec.flags&flagExpunged != 0 {
			gone = append(gone, index.Vanished{UID: rec.uid, ModSeq: rec.modseq})
			continue
		}
		key, err := names.get(rec.nameOff, rec.nameLen)
		if err != nil {
			return r, err
		}
		if checksum(key) != rec.nameSum {
			return r, m.corrupt(names.name, int64(rec.nameOff), "name")
		}
		if err := t.Append(rec.uid, string(key), index.Flags(rec.flags&flagsMask), uint8(rec.flags>>folderShift&3), rec.keywords, rec.modseq); err != nil {
			return r, m.corrupt(name, h.recordsAt()+int64(i)*recordSize, err.Error())
		}
		r.raw, r.slot = append(r.raw, b...), append(r.slot, i)
	}
	slices.SortFunc(gone, func(a, b index.Vanished) int {
		return cmp.Or(cmp.Compare(a.ModSeq, b.ModSeq), cmp.Compare(a.UID, b.UID))
	})
	for _, v := range gone {
		if err := t.AppendVanished(v.UID, v.ModSeq); err != nil {
			return r, m.corrupt(name, 2*slotSize, err.Error())
		}
	}
	if t.Len() != int(h.live) {
		return r, m.corrupt(name, 0, "number of messages")
	}
	return r, nil
}

func readFull(f index.File, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
