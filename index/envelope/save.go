package envelope

import (
	"bufio"
	"errors"
	"io"
	"os"

	"mailbench/index"
)

// keeper is the mailbox as index.Follow sees it.
type keeper struct{ m *mailbox }

func (k keeper) Known() (index.Known, bool, error) {
	m := k.m
	if m.damaged {
		return index.Known{}, false, nil
	}
	if err := m.refresh(); err != nil {
		return index.Known{}, false, err
	}
	return m.h.known, m.have, nil
}

func (k keeper) Load() (*index.Table, error) {
	err := k.m.load()
	return k.m.table, err
}

// Note writes one slot and does not wait for the disk.
func (k keeper) Note(n index.Known) error {
	m := k.m
	if err := m.unchanged(); err != nil {
		return err
	}
	f, err := m.fs.OpenFile(m.path(IndexFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if !m.twins { // the slot that is valid must stay while the other is written
		if err := m.settle(f); err != nil {
			return err
		}
	}
	h := m.h
	h.seq++
	h.known = n
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	m.h = h
	return nil
}

// Save puts a change on disk (E4), and compacts when too much is dead.
func (k keeper) Save(t *index.Table, d *index.Delta, n index.Known, c index.Changes) error {
	m := k.m
	if c.Rebuilt {
		return m.build(t, n)
	}
	err := m.unchanged()
	if err == nil {
		err = m.change(t, d, n)
	}
	if errors.Is(err, index.ErrCorrupt) { // the cache: it can be made again
		err = m.rewrite(t, n, m.carry(t, d), true)
	}
	if err != nil || m.repackAt < 0 || m.h.cacheDead < 4096 || m.h.cacheDead*100 <= m.h.cacheEnd*uint64(m.repackAt) {
		return err
	}
	return m.compact()
}

// settle makes both slots say what m.h says, and the records what its journal says, on
// disk: what a change may build on.
func (m *mailbox) settle(f index.File) error {
	if !m.applied {
		entries, err := m.readJournal()
		if err != nil {
			return err
		}
		for slot, b := range entries {
			if _, err := f.WriteAt(b, m.h.recordsAt()+int64(slot)*recordSize); err != nil {
				return err
			}
		}
	}
	if !m.twins {
		// The other slot may be all that is on disk of a state before.
		for _, off := range [...]int64{0, slotSize} {
			if err := f.Datasync(); err != nil {
				return err
			}
			if _, err := f.WriteAt(m.h.encode(), off); err != nil {
				return err
			}
		}
	}
	if err := f.Datasync(); err != nil {
		return err
	}
	m.twins, m.applied = true, true
	return nil
}

// removed takes the rows with the UIDs out of raw and slot, and returns the
// ops that mark them.
func (m *mailbox) removed(uids []uint32, modseq uint64) (ops []op, dead uint64) {
	if len(uids) == 0 {
		return nil, 0
	}
	n := 0
	for i := range m.slot {
		b := m.raw[i*recordSize : (i+1)*recordSize]
		if len(uids) > 0 && le.Uint32(b) == uids[0] {
			uids = uids[1:]
			r := m.row(i)
			r.flags |= flagExpunged
			r.modseq = modseq
			dead += uint64(r.cacheLen)
			ops = append(ops, op{m.slot[i], r})
			continue
		}
		copy(m.raw[n*recordSize:], b)
		m.slot[n] = m.slot[i]
		n++
	}
	m.raw, m.slot = m.raw[:n*recordSize], m.slot[:n]
	return ops, dead
}

// change writes a delta: cache, names and new records behind what is there,
// then the journal, then the header; then the records that the journal has.
func (m *mailbox) change(t *index.Table, d *index.Delta, n index.Known) error {
	f, err := m.fs.OpenFile(m.path(IndexFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if !m.twins || !m.applied && m.h.journalSeq != 0 {
		if err := m.settle(f); err != nil {
			return err
		}
	} else if err := f.Datasync(); err != nil { // the second slot and the journal's records
		return err
	}
	h := m.h
	h.seq++
	h.known = n
	h.journalSeq, h.journalSum = 0, 0

	ops, dead := m.removed(d.Removed, t.HighestModSeq)
	h.cacheDead += dead
	for _, rows := range [...][]int32{d.Flagged, d.Moved} {
		for _, row := range rows {
			r := m.row(int(row))
			r.take(t, int(row))
			m.setRow(int(row), &r)
			ops = append(ops, op{m.slot[row], r})
		}
	}
	fill := m.unread()
	old := len(m.slot)
	fill = append(fill, d.Added...)
	if len(fill) > 0 {
		if ops, err = m.addRows(f, t, &h, fill, old, ops); err != nil {
			return err
		}
	}
	if len(ops) > 0 {
		b, sum := encodeJournal(h.identity, h.seq, ops)
		if err := m.writeJournal(b); err != nil {
			return err
		}
		h.journalSeq, h.journalSum = h.seq, sum
	}
	h.sum(t)
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	if err := f.Datasync(); err != nil {
		return err
	}
	m.h, m.table, m.twins, m.applied = h, t, false, false
	var buf []byte
	for i := range ops {
		buf = ops[i].rec.append(buf[:0])
		if _, err := f.WriteAt(buf, h.recordsAt()+int64(ops[i].slot)*recordSize); err != nil {
			return err
		}
	}
	m.applied = true
	if _, err := f.WriteAt(h.encode(), slotSize); err != nil {
		return err
	}
	m.twins = true
	return nil
}

// unread are the rows that could not be read so far.
func (m *mailbox) unread() (rows []int32) {
	for i := range m.slot {
		if le.Uint32(m.raw[i*recordSize+4:])&flagUnread != 0 {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// addRows reads the messages of rows; those from old on are new and get a
// record at the end of the index, the others one in ops.
func (m *mailbox) addRows(f index.File, t *index.Table, h *header, rows []int32, old int, ops []op) ([]op, error) {
	cache, err := m.appendTo(m.cacheName(h.generation), cacheMagic, h.cacheEnd)
	if err != nil {
		return nil, err
	}
	defer cache.close()
	names, err := m.appendTo(m.namesName(h.generation), namesMagic, h.namesEnd)
	if err != nil {
		return nil, err
	}
	defer names.close()
	records := newOutput(f, h.recordsAt()+int64(h.count)*recordSize)
	now := uint32(m.cfg.Now().Unix())
	m.table = t
	var buf []byte
	err = m.fill(rows, func(row int32, got *taken) error {
		var r record
		isOld := int(row) < old
		if isOld {
			if got.cache == nil {
				return nil
			}
			r = m.row(int(row))
		}
		r.take(t, int(row))
		r.set(got, now)
		if got.cache != nil {
			r.cacheOff = uint64(cache.off)
			cache.Write(got.cache)
		}
		if isOld {
			m.setRow(int(row), &r)
			ops = append(ops, op{m.slot[row], r})
			return cache.err
		}
		r.name(names, t.Key(int(row)))
		buf = r.append(buf[:0])
		m.raw, m.slot = append(m.raw, buf...), append(m.slot, h.count)
		h.count++
		records.Write(buf)
		return errors.Join(cache.err, names.err, records.err)
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(cache.last(), names.last(), records.last()); err != nil {
		return nil, err
	}
	h.cacheEnd, h.namesEnd = uint64(cache.off), uint64(names.off)
	return ops, nil
}

// name writes the name of a record.
func (r *record) name(names *output, key []byte) {
	r.nameOff, r.nameLen, r.nameSum = uint64(names.off), uint32(len(key)), checksum(key)
	names.Write(key)
}

// sum counts the table into the header.
func (h *header) sum(t *index.Table) {
	st := t.Status()
	h.uidValidity, h.uidNext, h.highest = st.UIDValidity, st.UIDNext, st.HighestModSeq
	h.live, h.unseen, h.deleted = uint32(st.Messages), uint32(st.Unseen), uint32(st.Deleted)
}

// output appends to a file from an offset on. The first error stays.
type output struct {
	f   index.File
	w   *bufio.Writer
	off int64 // where the next byte goes
	err error
}

func newOutput(f index.File, off int64) *output {
	return &output{f: f, w: bufio.NewWriterSize(io.NewOffsetWriter(f, off), readAhead), off: off}
}

func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
	o.off += int64(len(b))
	return len(b), o.err
}

// last writes what is left and waits for the disk.
func (o *output) last() error {
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if o.err == nil {
		o.err = o.f.Datasync()
	}
	return o.err
}

func (o *output) close() { o.f.Close() }

// appendTo opens a cache or names file to write from end on.
func (m *mailbox) appendTo(name, magic string, end uint64) (*output, error) {
	w, err := m.openFile(name, magic)
	if err != nil {
		return nil, err
	}
	w.close()
	if uint64(w.size) < end {
		return nil, m.corrupt(name, w.size, "shorter than the index says")
	}
	f, err := m.fs.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return newOutput(f, int64(end)), nil
}
