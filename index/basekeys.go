package index

import (
	"errors"

	"mailbench/index/blockfile"
)

// EachMessage calls fn for rows (ascending) of the table until it returns
// false. Without names in memory it decodes the blocks that theirs are in,
// 16,384 to a block, and no others.
func (b *Base) EachMessage(rows []int32, fn func(Message) bool) error {
	t, err := b.Rows()
	if err != nil || len(rows) == 0 {
		return err
	}
	if t.off != nil {
		for _, r := range rows {
			if !fn(t.Message(int(r))) {
				break
			}
		}
		return nil
	}
	r, _, err := openSnapshot(b.fs, b.base, b.id, b.generation)
	if err != nil {
		return err
	}
	defer r.Close()
	k, err := newKeyReader(r, t.Len())
	if err != nil {
		return err
	}
	for _, row := range rows {
		key, err := k.key(int(row))
		if err != nil {
			return err
		}
		m := t.unnamed(int(row))
		m.Key = string(key)
		if !fn(m) {
			break
		}
	}
	b.keysRead += k.read
	return nil
}

// UIDs is Rows for those who need no more than the UIDs and which messages they
// name: nothing else of what it returns may be asked for. A hundredth of the
// work.
func (b *Base) UIDs() (*Table, error) {
	if b.table != nil || !b.exists || b.logst.records {
		return b.Rows()
	}
	r, sum, err := openSnapshot(b.fs, b.base, b.id, b.generation)
	if err == nil {
		defer r.Close()
		t := &Table{UIDValidity: sum.uidValidity, UIDNext: sum.uidNext, HighestModSeq: sum.highestModSeq}
		if err = t.loadUIDs(r, &sum, b.id); err == nil {
			return t, nil
		}
	}
	if errors.Is(err, ErrCorrupt) {
		b.damage = err
		b.quarantine()
	}
	return nil, err
}

// Folded reports whether the snapshot alone is the index: the log is missing or
// tells no more than that nothing changed.
func (b *Base) Folded() bool {
	return !b.logst.records || b.logst.note > 0 && b.logst.size == logHead+b.logst.note
}

// Loaded tells how many rows and names have been decoded since OpenBase.
func (b *Base) Loaded() (rows, keys int64) { return b.rowsRead, b.keysRead }

// A keyReader reads single names of a snapshot: blocks as they are asked for,
// the last one kept.
type keyReader struct {
	name  string
	b     *blockfile.BlockReader
	rows  int
	block int // decoded; -1 none
	buf   []byte
	arena []byte
	off   []uint32
	d     keyDecoder
	read  int64
}

func newKeyReader(r *blockfile.Reader, rows int) (*keyReader, error) {
	s := r.Section("key")
	if s == nil {
		return nil, &CorruptError{File: r.Name(), What: "section key is missing"}
	}
	b, err := s.Reader()
	if err != nil {
		return nil, err
	}
	return &keyReader{name: r.Name(), b: b, rows: rows, block: -1}, nil
}

// key is the name of a row, valid until the next call.
func (k *keyReader) key(row int) ([]byte, error) {
	bad := &CorruptError{File: k.name, What: "block of names"}
	i := row / keyBlock
	if i >= k.b.Blocks() || row >= k.rows {
		return nil, bad
	}
	if i != k.block {
		k.block = -1
		var err error
		if k.buf, err = k.b.Block(i, k.buf[:0]); err != nil {
			return nil, err
		}
		k.arena, k.off, err = k.d.decode(k.buf, k.arena[:0], append(k.off[:0], 0))
		if err != nil || len(k.off)-1 != min(keyBlock, k.rows-i*keyBlock) {
			return nil, bad
		}
		k.block = i
		k.read += int64(len(k.off) - 1)
	}
	at := row % keyBlock
	return k.arena[k.off[at]:k.off[at+1]], nil
}
