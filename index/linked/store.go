package linked

import (
	"errors"
	"io"
	"time"

	"mailbench/internal/fsys"
)

// extend runs write, which changes cache file and log, as the only writer; not
// at all when another has written since the view was read: what was found out
// is right, but goes into no file. Nor does it in a directory that may not be
// written: the question is answered all the same.
func (m *mailbox) extend(write func() error) error {
	if m.readOnly() {
		return nil
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if !m.current() || m.disk.old || m.disk.short {
		return nil
	}
	return write()
}

// store appends to the cache what has been made of the mail of todo: for each
// message a record that continues its chain.
// last: it is on disk then, and the map of the cache file is made anew when it
// is needed.
func (m *mailbox) store(todo []missing, made []parsedAt, last bool) error {
	some := false
	for i := range made {
		some = some || made[i].stored > made[i].off && !made[i].gone
	}
	if !some {
		return nil
	}
	return m.extend(func() error {
		c := m.cache
		if err := m.register(); err != nil {
			return err
		}
		f, err := m.openWrite()
		if err != nil {
			return err
		}
		defer f.Close()
		size, err := f.Size()
		if err != nil {
			return err
		}
		at := int64(align(int(size), 4))
		b := m.buf[:0]
		tr := newTrans()
		tr.intro(&m.disk.view, extCache, c.seq, 4)
		rec := tr.begin(recExtRec)
		for i := range made {
			p := &made[i]
			n := p.stored - p.off + recordHead
			if p.gone || n == recordHead || n > m.opt.recordMax || at+int64(len(b)+n) >= maxCache {
				continue
			}
			start := len(b)
			b = le.AppendUint32(b, todo[i].off)
			b = le.AppendUint32(b, uint32(n))
			b = append(b, m.readers[p.reader].b[p.off:p.stored]...)
			b, start = place(b, start, at)
			tr.b = le.AppendUint32(tr.b, m.disk.uid[todo[i].row])
			tr.b = le.AppendUint32(tr.b, uint32(at)+uint32(start))
			if todo[i].off != 0 {
				c.conts++
			} else {
				c.count++
			}
		}
		m.buf = b
		tr.end(rec)
		if len(b) == 0 {
			return nil
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return m.lose(err)
		}
		if _, err := f.WriteAt(c.header(m.disk.hdr.indexID), 0); err != nil {
			return m.lose(err)
		}
		if last || m.opt.fsync == fsyncAlways {
			if err := f.Datasync(); err != nil {
				return m.lose(err)
			}
		}
		if err := m.appendLog(tr, last); err != nil {
			return err
		}
		if c.f == nil {
			if c.f, err = m.fs.Open(m.path(cacheName)); err != nil {
				return m.lose(err)
			}
			if m.opt.pread {
				c.pages = &pages{f: c.f}
			}
		}
		if c.size = at + int64(len(b)); last {
			c.unmap()
			return nil
		}
		return c.remap()
	})
}

// lose forgets the cache as it is in memory after a failed write.
func (m *mailbox) lose(err error) error {
	m.disk.close()
	m.forget()
	return err
}

// register puts fields that are in memory only into the file, which it makes
// when there is none. The lock is held.
func (m *mailbox) register() error {
	c := m.cache
	if c.seq == 0 {
		return m.newCache()
	}
	if c.stored == len(c.fields) {
		return nil
	}
	f, err := m.openWrite()
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	at := uint32(align(int(size), 4))
	if _, err := f.WriteAt(encodeRegistry(c.fields), int64(at)); err != nil {
		return m.lose(err)
	}
	if _, err := f.WriteAt(le.AppendUint32(nil, at), int64(c.block)); err != nil {
		return m.lose(err)
	}
	c.block, c.stored, c.dirty = at, len(c.fields), false
	c.blocks++
	return nil
}

// nextSeq is a file sequence that no earlier cache file had.
func (m *mailbox) nextSeq() uint32 {
	seq := uint32(m.cfg.Now().Unix())
	if e := m.disk.ext(extCache); e != nil {
		seq = max(seq, e.reset+1)
	}
	return max(seq, 1)
}

// newCache makes an empty cache file. The lock is held.
func (m *mailbox) newCache() error {
	c := m.cache
	c.seq, c.first, c.block = m.nextSeq(), cacheHeader, cacheHeader
	c.conts, c.count, c.blocks, c.stored, c.dirty = 0, 0, 1, len(c.fields), false
	err := fsys.WriteFileAtomic(m.fs, m.path(cacheName), func(w io.Writer) error {
		_, err := w.Write(append(c.header(m.disk.hdr.indexID), encodeRegistry(c.fields)...))
		return err
	})
	if err != nil {
		return m.lose(err)
	}
	tr := newTrans()
	tr.intro(&m.disk.view, extCache, 0, 4)
	tr.reset(c.seq)
	return m.appendLog(tr, false)
}

// saveDecisions overwrites decisions and last uses in the registry.
func (m *mailbox) saveDecisions() error {
	c := m.cache
	if c == nil || !c.dirty || c.f == nil || c.stored == 0 {
		return nil
	}
	return m.extend(func() error {
		f, err := m.openWrite()
		if err != nil {
			return err
		}
		defer f.Close()
		n := c.stored
		used, decisions := make([]byte, 0, 4*n), make([]byte, 0, n)
		for i := range n {
			used = le.AppendUint32(used, c.fields[i].lastUsed)
			decisions = append(decisions, byte(c.fields[i].decision))
		}
		if _, err := f.WriteAt(used, int64(c.block)+registryHead); err != nil {
			return m.lose(err)
		}
		if _, err := f.WriteAt(decisions, int64(c.block)+registryHead+9*int64(n)); err != nil {
			return m.lose(err)
		}
		c.dirty = false
		return nil
	})
}

// live counts the messages that have a record: O(rows) the first time.
func (m *mailbox) live() uint32 {
	v := &m.disk.view
	if v.live == 0 {
		v.live = 1
		for i, off := range v.recs(extCache) {
			if off != 0 && v.flags[i] != deadRow {
				v.live++
			}
		}
	}
	return uint32(v.live - 1)
}

// due says why the cache file is due for a purge, "" if it is not.
func (m *mailbox) due() string {
	c := m.cache
	switch {
	case c.seq == 0 || c.size < m.opt.purgeMin:
		return ""
	case c.size > m.opt.cacheMax:
		return "size"
	case c.blocks > m.opt.purgeBlocks+1:
		return "registry blocks"
	case c.count > 0 && int64(c.conts)*100 >= int64(c.count)*m.opt.purgeContinued:
		return "continued records"
	}
	now := uint32(m.cfg.Now().Unix())
	for i := range c.fields[:c.stored] {
		if _, due := c.fields[i].age(now, m.opt.fieldDrop); due {
			return "field " + c.fields[i].name
		}
	}
	if live := m.live(); c.count > live && int64(c.count-live)*100 >= int64(c.count)*m.opt.purgeDeleted {
		return "deleted records"
	}
	return ""
}

// purgeIfDue purges a cache file that was there before this session, before
// the first write to it.
func (m *mailbox) purgeIfDue() (purged bool, err error) {
	if m.checked || m.cache.f == nil {
		m.checked = true
		return false, nil
	}
	m.checked = true
	why := m.due()
	if why == "" {
		return false, nil
	}
	err = m.extend(func() error {
		purged = true
		return m.purge(why)
	})
	return purged, err
}

// purgeExpunged is for a Sync that has expunged: it makes more dead records. The
// lock is held.
func (m *mailbox) purgeExpunged() error {
	if err := m.openCache(); err != nil {
		return err
	}
	if why := m.due(); why != "" {
		return m.purge(why)
	}
	return nil
}

// purge rewrites the cache file: one record for each message that is there,
// without the fields that nobody uses. The lock is held and the rows are there.
func (m *mailbox) purge(why string) error {
	if err := errors.Join(m.loadRows(), m.openCache()); err != nil {
		return err
	}
	old := m.cache
	if old.seq == 0 {
		return nil
	}
	if err := old.mapped(); err != nil {
		return err
	}
	now, v := uint32(m.cfg.Now().Unix()), &m.disk.view
	m.cache = nil
	fresh := &cache{ids: map[string]int{}, seq: m.nextSeq(), blocks: 1}
	to := make([]int, len(old.fields)) // new id, -1: dropped
	for i := range old.fields {
		f := old.fields[i]
		f.decision, _ = f.age(now, m.opt.fieldDrop)
		if to[i] = -1; f.cached() {
			to[i] = fresh.add(f)
		}
	}
	fresh.stored = len(fresh.fields)
	tr := newTrans()
	tr.intro(v, extCache, 0, 4)
	tr.reset(fresh.seq)
	tr.intro(v, extCache, fresh.seq, 4)
	rec := tr.begin(recExtRec)
	offsets := v.recs(extCache)
	if why == "size" {
		offsets = nil // the documented answer to a cache that is too large: begin with nothing
	}
	vals := make([][]byte, len(old.fields))
	slot := make([]int8, len(old.fields))
	for i := range slot {
		slot[i] = int8(i)
		if to[i] < 0 || i > 120 {
			slot[i] = -1
		}
	}
	err := fsys.WriteFileAtomic(m.fs, m.path(cacheName), func(w io.Writer) error {
		fresh.first, fresh.block = cacheHeader, cacheHeader
		for _, off := range offsets {
			if off != 0 {
				fresh.count++
			}
		}
		reg := encodeRegistry(fresh.fields)
		b := append(append(m.buf[:0], fresh.header(m.disk.hdr.indexID)...), reg...)
		at := int64(0)
		for row, off := range offsets {
			if off == 0 {
				continue
			}
			clear(vals)
			if _, ok := old.lookup(off, slot, vals, -1, &m.counts); !ok {
				continue
			}
			weekOld := v.uid[row] < v.hdr.dayFirst[7]
			start := len(b)
			b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
			for i, data := range vals {
				if data != nil && to[i] >= 0 && !(weekOld && fresh.fields[to[i]].decision == decideTemp) {
					b = fresh.appendField(b, to[i], data, false)
				}
			}
			if len(b) == start+recordHead || at+int64(len(b)) >= maxCache {
				b = b[:start]
				continue
			}
			le.PutUint32(b[start+4:], uint32(len(b)-start))
			b, start = place(b, start, at)
			tr.b = le.AppendUint32(tr.b, v.uid[row])
			tr.b = le.AppendUint32(tr.b, uint32(at)+uint32(start))
			if len(b) >= 64<<10 {
				if _, err := w.Write(b); err != nil {
					return err
				}
				at += int64(len(b))
				b = b[:0]
			}
		}
		_, err := w.Write(b)
		m.buf = b[:0]
		return err
	})
	old.close()
	if err != nil {
		return m.lose(err)
	}
	tr.end(rec)
	m.counts.purges++
	return m.appendLog(tr, false)
}

// Compact implements index.Mailbox: cache purged, thread index and uidlist
// without dead lines, index file written anew and the log rotated.
func (m *mailbox) Compact() error {
	if !m.disk.ok {
		return nil
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if m.disk.old || m.disk.short || !m.current() {
		if _, err := m.refresh(); err != nil || !m.disk.ok {
			return err
		}
		if err := m.maintain(); err != nil {
			return err
		}
	}
	if err := m.loadRows(); err != nil {
		return m.damaged(err)
	}
	if err := m.purge("asked for"); err != nil {
		return err
	}
	if _, err := m.loadTable(); err != nil {
		return m.damaged(err)
	}
	if m.deadLines > 0 {
		k, _ := m.disk.known()
		if k.listSize, err = m.writeList(&m.disk.view, m.table); err != nil {
			return err
		}
		tr := newTrans()
		tr.source(&m.disk.view, k)
		if err := m.appendLog(tr, true); err != nil {
			return err
		}
	}
	if err := m.compactThreads(); err != nil {
		return err
	}
	if _, err := fsys.RemoveTemps(m.fs, m.cfg.Dir, time.Hour); err != nil {
		return err
	}
	if err := m.fold(); err != nil {
		return err
	}
	return m.rotate()
}
