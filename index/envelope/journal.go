package envelope

import (
	"errors"
	"io"
	"io/fs"

	"mailbench/internal/fsys"
)

const (
	journalMagic = "mbenvj\x00\x01"
	journalHead  = 32
	journalEntry = 4 + recordSize
)

// An op puts a record where another is.
type op struct {
	slot uint32
	rec  record
}

func encodeJournal(identity, seq uint64, ops []op) (b []byte, sum uint32) {
	b = append(make([]byte, 0, journalHead+len(ops)*journalEntry), journalMagic...)
	b = le.AppendUint64(b, identity)
	b = le.AppendUint64(b, seq)
	b = le.AppendUint32(b, uint32(len(ops)))
	b = le.AppendUint32(b, 0)
	for i := range ops {
		b = le.AppendUint32(b, ops[i].slot)
		b = ops[i].rec.append(b)
	}
	sum = checksum(b)
	le.PutUint32(b[28:], sum)
	return b, sum
}

// decodeJournal is encodeJournal backwards; entries point into b.
func decodeJournal(b []byte) (identity, seq uint64, sum uint32, entries map[uint32][]byte, ok bool) {
	if len(b) < journalHead || string(b[:8]) != journalMagic || (len(b)-journalHead)%journalEntry != 0 {
		return 0, 0, 0, nil, false
	}
	sum = le.Uint32(b[28:])
	le.PutUint32(b[28:], 0)
	n := (len(b) - journalHead) / journalEntry
	if checksum(b) != sum || uint64(le.Uint32(b[24:])) != uint64(n) {
		return 0, 0, 0, nil, false
	}
	identity, seq = le.Uint64(b[8:]), le.Uint64(b[16:])
	entries = make(map[uint32][]byte, n)
	for e := b[journalHead:]; len(e) > 0; e = e[journalEntry:] {
		entries[le.Uint32(e)] = e[4:journalEntry:journalEntry]
	}
	return identity, seq, sum, entries, true
}

// readJournal returns the records that the header's journal puts over those of
// the index file; nil: none.
func (m *mailbox) readJournal() (map[uint32][]byte, error) {
	if m.h.journalSeq == 0 {
		return nil, nil
	}
	name := m.path(JournalFile)
	f, err := m.fs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, m.corrupt(name, 0, "missing")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > journalHead+int64(m.h.count)*journalEntry {
		size = 0 // a journal has each record once
	}
	b := make([]byte, size)
	if err := readFull(f, b, 0); err != nil {
		return nil, err
	}
	identity, seq, sum, entries, ok := decodeJournal(b)
	switch {
	case !ok || identity != m.h.identity:
		return nil, m.corrupt(name, 0, "journal")
	case seq == m.h.journalSeq && sum == m.h.journalSum:
		return entries, nil
	case seq > m.h.journalSeq:
		return nil, nil // E5: of a change that did not come to be; ours is in the records
	}
	return nil, m.corrupt(name, 0, "an older journal")
}

func (m *mailbox) writeJournal(b []byte) error {
	return fsys.WriteFileAtomic(m.fs, m.path(JournalFile), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}
