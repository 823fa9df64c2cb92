package linked

import (
	"slices"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// counts are what Counts tells.
type counts struct {
	lookups, records, decoded, mails, folds, purges int64

	compares int64 // of strings, to find the place of a sort id
}

const batch = 4096 // messages that are looked up, read and stored together

// want registers fields and notes their use. The ids are valid until the cache
// file is another one.
func (m *mailbox) want(names ...string) ([]int, error) {
	if err := m.openCache(); err != nil {
		return nil, err
	}
	ids := make([]int, len(names))
	for i, name := range names {
		id, ok := m.cache.ids[name]
		if !ok {
			id = m.cache.add(newField(name))
		}
		ids[i] = id
	}
	for _, name := range names {
		if _, ok := m.cache.ids[fieldDate]; !ok && name == m.sentField() {
			m.cache.add(newField(fieldDate))
		}
	}
	return ids, nil
}

// each calls fn for rows (nil: all), in that order, with the cached form of
// the fields; nil: the mail has gone. Values are valid until fn returns. What is
// not cached is read from the mail and then cached, if decisions say so. random:
// see field.use.
func (m *mailbox) each(rows []int32, names []string, random bool, fn func(row int32, vals [][]byte) error) error {
	if err := m.loadRows(); err != nil {
		return err
	}
	ids, err := m.want(names...)
	if err != nil {
		return err
	}
	n := len(m.disk.uid)
	if rows != nil {
		n = len(rows)
	}
	row := func(i int) int32 {
		if rows != nil {
			return rows[i]
		}
		return int32(i)
	}
	for from := 0; from < n; {
		purged, err := m.eachBatch(from, min(from+batch, n), row, ids, random, fn)
		if err != nil {
			return err
		}
		if !purged {
			from += batch
		} else if ids, err = m.want(names...); err != nil { // fields have other numbers now
			return err
		}
	}
	return m.saveDecisions()
}

// eachBatch is each for some of the rows. purged: the cache file was due for a
// purge and has been rewritten; nothing else was done.
func (m *mailbox) eachBatch(from, to int, row func(int) int32, ids []int, random bool, fn func(row int32, vals [][]byte) error) (purged bool, err error) {
	c, v := m.cache, &m.disk.view
	now, weekOld := uint32(m.cfg.Now().Unix()), v.hdr.dayFirst[7]
	slot := make([]int8, len(c.fields))
	for i := range slot {
		slot[i] = -1
	}
	for k, id := range ids {
		slot[id] = int8(k)
	}
	if id, ok := c.ids[m.sentField()]; ok && slices.Contains(ids, id) {
		// Whoever parses a Date for date.sent has the header field in hand.
		if c.fields[c.ids[fieldDate]].use(v.uid[row(to-1)], weekOld, now, random) {
			c.dirty = true
		}
	}
	for _, id := range ids {
		f := &c.fields[id]
		for i := from; i < to; i++ {
			if f.use(v.uid[row(i)], weekOld, now, random) {
				c.dirty = true
			}
			if random {
				break
			}
		}
	}
	k := len(ids)
	size := (to - from) * k
	if cap(m.vals) < size {
		m.vals = make([][]byte, batch*k)
	}
	vals := m.vals[:size]
	clear(vals)
	todo := m.todo[:0]
	offsets := v.recs(extCache)
	if c.f == nil {
		offsets = nil
	} else if err := c.mapped(); err != nil {
		return false, err
	}
	m.counts.lookups += int64(to - from)
	for i := from; i < to; i++ {
		r := row(i)
		off := uint32(0)
		if offsets != nil {
			off = offsets[r]
		}
		out := vals[(i-from)*k : (i-from+1)*k]
		if off != 0 {
			found, ok := c.lookup(off, slot, out, k, &m.counts)
			if !ok {
				off = 0
				clear(out)
			} else if found == k {
				continue
			}
		}
		todo = append(todo, missing{row: r, off: off})
	}
	m.todo = todo
	if len(todo) > 0 {
		// The cache is about to grow: is it due for a purge?
		if purged, err := m.purgeIfDue(); purged || err != nil {
			return purged, err
		}
		if cap(m.made) < len(todo) {
			m.made = make([]parsedAt, batch)
		}
		made := m.made[:len(todo)]
		if err := m.readMail(todo, ids, made); err != nil {
			return false, err
		}
		if err := m.store(todo, made, false); err != nil {
			return false, err
		}
		next := 0
		for i := from; i < to && next < len(todo); i++ {
			if todo[next].row != row(i) {
				continue
			}
			at := made[next]
			off := todo[next].off
			next++
			out := vals[(i-from)*k : (i-from+1)*k]
			clear(out)
			if at.gone {
				continue
			}
			if off != 0 { // the file may have been mapped anew
				c.lookup(off, slot, out, k, &counts{})
			}
			p := &m.readers[at.reader]
			for b, end := p.b[at.off:at.end], at.end-at.stored; len(b) > 0; {
				id, data, rest, ok := c.next(b, len(b) <= end)
				if !ok {
					return false, corrupt(cacheName, "a record in memory")
				}
				if s := slot[id]; s >= 0 {
					out[s] = data
				}
				b = rest
			}
		}
		// Values found in the map before it was made anew point nowhere.
		if offsets = v.recs(extCache); offsets != nil {
			next = 0
			for i := from; i < to; i++ {
				r := row(i)
				if next < len(todo) && todo[next].row == r {
					next++
					continue
				}
				out := vals[(i-from)*k : (i-from+1)*k]
				clear(out)
				c.lookup(offsets[r], slot, out, k, &counts{})
			}
		}
	}
	for i := from; i < to; i++ {
		if err := fn(row(i), vals[(i-from)*k:(i-from+1)*k]); err != nil {
			return false, err
		}
	}
	return false, nil
}

// dates makes dst[row] the sent date of each row: the Date field's, else
// INTERNALDATE (RFC 5256 section 2.2).
func (m *mailbox) dates(rows []int32, dst []int64) error {
	var without []int32
	err := m.each(rows, []string{m.sentField()}, true, func(row int32, vals [][]byte) error {
		if vals[0] == nil {
			dst[row] = 0
			return nil
		}
		if dst[row] = int64(le.Uint64(vals[0])); dst[row] == noDate {
			without = append(without, row)
		}
		return nil
	})
	if err != nil || len(without) == 0 {
		return err
	}
	return m.received(without, dst)
}

// received makes dst[row] the INTERNALDATE of each row.
func (m *mailbox) received(rows []int32, dst []int64) error {
	return m.each(rows, []string{fieldReceived}, true, func(row int32, vals [][]byte) error {
		switch len(vals[0]) {
		case 4:
			dst[row] = int64(le.Uint32(vals[0]))
		case 8:
			dst[row] = int64(le.Uint64(vals[0]))
		default:
			dst[row] = 0
		}
		return nil
	})
}

// appendIDs appends the references of a message and then its own id to dst, as
// RFC 5256 section 3, REFERENCES step (1) wants them; ends are their ends.
func (m *mailbox) appendIDs(dst []byte, ends []int, inReplyTo, messageID, references []byte) ([]byte, []int, bool) {
	for raw := references; len(raw) > 0; {
		id, rest, s, ok := rfc5322.NextID(raw, m.scratch)
		m.scratch = s
		if !ok {
			break
		}
		dst = append(dst, id...)
		ends = append(ends, len(dst))
		raw = rest
	}
	if len(ends) == 0 {
		id, s, ok := rfc5322.FirstID(inReplyTo, m.scratch)
		m.scratch = s
		if ok {
			dst = append(dst, id...)
			ends = append(ends, len(dst))
		}
	}
	id, s, ok := rfc5322.FirstID(messageID, m.scratch)
	m.scratch = s
	if ok {
		dst = append(dst, id...)
		ends = append(ends, len(dst))
	}
	return dst, ends, ok
}

var _ index.Mailbox = (*mailbox)(nil)
