package envelope

import (
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// build makes everything anew from the mail.
func (m *mailbox) build(t *index.Table, n index.Known) error {
	if err := m.fs.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := index.ChooseUIDValidity(m.fs, m.cfg.Dir, t, m.cfg.Options, m.cfg.Now()); err != nil {
		return err
	}
	last, err := m.lastGeneration()
	if err != nil {
		return err
	}
	m.h = header{identity: rand.Uint64(), generation: last}
	m.raw, m.slot, m.table, m.have = nil, nil, t, false
	return m.rewrite(t, n, nil, true)
}

// lastGeneration is the greatest that any file here has.
func (m *mailbox) lastGeneration() (last uint64, err error) {
	list, err := m.fs.ReadDir(m.cfg.Dir)
	if err != nil {
		return 0, err
	}
	for _, name := range list {
		if g, ok := generationOf(name); ok {
			last = max(last, g)
		}
	}
	return last, nil
}

func generationOf(name string) (uint64, bool) {
	s, ok := strings.CutPrefix(name, CachePrefix)
	if !ok {
		if s, ok = strings.CutPrefix(name, NamesPrefix); !ok {
			return 0, false
		}
	}
	g, err := strconv.ParseUint(s, 10, 62)
	return g, err == nil
}

// carry are the records of t's first rows as a delta left them: what rewrite
// starts from when change has failed.
func (m *mailbox) carry(t *index.Table, d *index.Delta) []byte {
	m.removed(d.Removed, t.HighestModSeq)
	n := min(len(m.slot), t.Len()-len(d.Added))
	raw := m.raw[:n*recordSize]
	for i := range n {
		r := m.row(i)
		r.take(t, i)
		r.append(raw[:i*recordSize])
	}
	return raw
}

// Compact rewrites the files without expunged messages.
func (m *mailbox) Compact() error {
	if err := m.load(); err != nil || !m.have {
		return err
	}
	return m.compact()
}

func (m *mailbox) compact() error {
	t, n, raw := m.table, m.h.known, m.raw
	err := m.rewrite(t, n, raw, m.h.flavour != m.flavour)
	if errors.Is(err, index.ErrCorrupt) {
		err = m.rewrite(t, n, raw, true)
	}
	if err != nil {
		m.drop()
	}
	return err
}

// refill makes all cache records anew from the mail; UIDs stay.
func (m *mailbox) refill() error {
	err := m.rewrite(m.table, m.h.known, m.raw, true)
	if err != nil {
		m.drop()
	}
	return err
}

// rewrite makes the next generation: cache and names under new names, then the
// index renamed over the old one. raw are the records of t's first rows as they
// were; their cache records are copied, or made from the mail. E3, E6.
func (m *mailbox) rewrite(t *index.Table, n index.Known, raw []byte, fromMail bool) (err error) {
	if m.have {
		if err := m.unchanged(); err != nil {
			return err
		}
	}
	h := m.h
	h.generation++
	h.seq++
	h.known, h.flavour = n, m.flavour
	h.journalSeq, h.journalSum, h.cacheDead = 0, 0, 0
	cache, err := m.create(m.cacheName(h.generation), fileHeader(cacheMagic, h.identity, h.generation))
	if err != nil {
		return err
	}
	defer cache.close()
	names, err := m.create(m.namesName(h.generation), fileHeader(namesMagic, h.identity, h.generation))
	if err != nil {
		return err
	}
	defer names.close()

	rows := t.Len()
	out := make([]byte, 0, rows*recordSize)
	put := func(row int, r *record, b []byte) error {
		r.take(t, row)
		if b != nil {
			r.cacheOff = uint64(cache.off)
			cache.Write(b)
		}
		r.name(names, t.Key(row))
		out = r.append(out)
		return errors.Join(cache.err, names.err)
	}
	from := 0
	if !fromMail {
		if from, err = m.copyRows(raw, put); err != nil {
			return err
		}
	}
	fill := make([]int32, 0, rows-from)
	for row := from; row < rows; row++ {
		fill = append(fill, int32(row))
	}
	now := uint32(m.cfg.Now().Unix())
	m.table = t
	err = m.fill(fill, func(row int32, got *taken) error {
		var r record
		if at := int(row) * recordSize; at < len(raw) {
			r.decode(raw[at:])
		}
		r.set(got, now)
		return put(int(row), &r, got.cache)
	})
	if err != nil {
		return err
	}
	if err := errors.Join(cache.last(), names.last()); err != nil {
		return err
	}
	if err := m.fs.SyncDir(m.cfg.Dir); err != nil {
		return err
	}

	list := make([]byte, 0, len(t.Vanished())*vanishSize)
	gone := slices.SortedFunc(slices.Values(t.Vanished()), func(a, b index.Vanished) int {
		return cmp.Or(cmp.Compare(a.ModSeq, b.ModSeq), cmp.Compare(a.UID, b.UID))
	})
	for _, v := range gone {
		list = le.AppendUint64(le.AppendUint32(list, v.UID), v.ModSeq)
	}
	h.vanished, h.vanishedSum = uint32(len(gone)), checksum(list)
	h.count = uint32(rows)
	h.cacheEnd, h.namesEnd = uint64(cache.off), uint64(names.off)
	h.sum(t)
	slot := append(h.encode(), make([]byte, slotSize-headerSize)...)
	pad := make([]byte, h.recordsAt()-2*slotSize-int64(len(list)))
	err = fsys.WriteFileAtomic(m.fs, m.path(IndexFile), func(w io.Writer) error {
		for _, b := range [...][]byte{slot, slot, list, pad, out} {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.h, m.have, m.damaged, m.twins, m.applied = h, true, false, true, true
	m.raw, m.slot = out, m.slot[:0]
	for i := range rows {
		m.slot = append(m.slot, uint32(i))
	}
	m.sweep()
	return nil
}

// copyRows puts rows with cache records from the old cache, up to the first
// that was never read; it returns how many.
func (m *mailbox) copyRows(raw []byte, put func(row int, r *record, b []byte) error) (int, error) {
	old, err := m.openCache()
	if err != nil {
		return 0, err
	}
	defer old.close()
	n := len(raw) / recordSize
	var r record
	for row := range n {
		r.decode(raw[row*recordSize:])
		if r.flags&flagUnread != 0 {
			return row, nil
		}
		b, err := m.cacheRecord(old, &r)
		if err == nil {
			err = put(row, &r, b)
		}
		if err != nil {
			return row, err
		}
	}
	return n, nil
}

// cacheRecord reads and verifies the cache record of r, valid until the next.
func (m *mailbox) cacheRecord(w *window, r *record) ([]byte, error) {
	b, err := w.get(r.cacheOff, r.cacheLen)
	if err != nil {
		return nil, err
	}
	m.lookups++
	m.records++
	m.decoded += int64(len(b))
	if checksum(b) != r.cacheSum {
		return nil, m.corrupt(w.name, int64(r.cacheOff), "cache record")
	}
	return b, nil
}

// create makes a file that no index refers to yet.
func (m *mailbox) create(name string, head []byte) (*output, error) {
	f, err := m.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	o := newOutput(f, 0)
	o.Write(head)
	return o, nil
}

// sweep removes what no longer belongs to the index. What cannot be removed is
// left to the next time.
func (m *mailbox) sweep() {
	list, err := m.fs.ReadDir(m.cfg.Dir)
	if err != nil {
		return
	}
	cache, names := filepath.Base(m.cacheName(m.h.generation)), filepath.Base(m.namesName(m.h.generation))
	for _, name := range list {
		_, ours := generationOf(name)
		if ours && name != cache && name != names || name == JournalFile {
			_ = m.fs.Remove(m.path(name))
		}
	}
	_, _ = fsys.RemoveTemps(m.fs, m.cfg.Dir, time.Hour)
}
