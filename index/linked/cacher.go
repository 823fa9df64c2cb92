package linked

import (
	"strings"

	"mailbench/index"
)

// fieldBody is the BODYSTRUCTURE. It is not made of the mail here: who delivers
// tells it, or nobody knows it.
const fieldBody = "imap.bodystructure"

// toldFields are cached of mail that Cache is told of, as if clients had asked
// for all of them: those of THREAD, SORT and ENVELOPE.
func (m *mailbox) toldFields() []string {
	names := []string{m.sentField(), fieldReceived, fieldVSize, "hdr.references"}
	for _, f := range index.EnvelopeFields {
		names = append(names, headerPrefix+strings.ToLower(f))
	}
	return names
}

// Cache implements index.Cacher: one record for each message, that continues
// what is cached of it. Fields that an option forbids are left out. A write of
// the cache file and its header, one of the log, an fdatasync of both.
func (m *mailbox) Cache(msgs []index.Cached) error {
	if !m.disk.ok {
		return nil
	}
	if err := m.loadRaw(); err != nil {
		return m.damaged(err)
	}
	return m.damaged(m.cacheTold(msgs))
}

func (m *mailbox) cacheTold(msgs []index.Cached) error {
	ids, err := m.want(append(m.toldFields(), fieldBody)...)
	if err != nil {
		return err
	}
	if purged, err := m.purgeIfDue(); err != nil {
		return err
	} else if purged {
		if ids, err = m.want(append(m.toldFields(), fieldBody)...); err != nil {
			return err
		}
	}
	c, v := m.cache, &m.disk.view
	body := ids[len(ids)-1]
	ids = ids[:len(ids)-1]
	size := c.ids[fieldVSize]
	now := uint32(m.cfg.Now().Unix())
	offsets := v.recs(extCache)
	p := &m.readers[0]
	p.b = p.b[:0]
	mask := c.mask()
	var todo []missing
	var made []parsedAt
	var want []int
	for i := range msgs {
		t := &msgs[i]
		row, ok := v.row(t.UID)
		if !ok || v.flags[row] == deadRow {
			continue
		}
		of := missing{row: int32(row)}
		if offsets != nil {
			of.off = offsets[row]
		}
		if of.off != 0 {
			if err := c.mapped(); err != nil {
				return err
			}
		}
		want = want[:0]
		for _, id := range append(ids, body) {
			if c.fields[id].use(t.UID, v.hdr.dayFirst[7], now, true) {
				c.dirty = true
			}
			if c.fields[id].cached() && id != body && !(id == size && t.VSize < 0) {
				want = append(want, id)
			}
		}
		b := le.AppendUint64(m.scratch[:0], uint64(t.Date))
		b = le.AppendUint64(b, uint64(t.VSize))
		m.scratch = append(b, t.Header...)
		var at parsedAt
		m.make(p, &at, of, want, true, mask, m.scratch)
		p.b = p.b[:at.stored] // what is not stored is nobody's
		if t.BodyStructure != nil && c.fields[body].cached() && !p.have[body] {
			p.b = c.appendField(p.b, body, t.BodyStructure, false)
		}
		at.stored, at.end = len(p.b), len(p.b)
		todo, made = append(todo, of), append(made, at)
	}
	if err := m.store(todo, made, true); err != nil {
		return err
	}
	return m.saveDecisions()
}

// bodyOf is the BODYSTRUCTURE of a row, nil when it is not cached.
func (m *mailbox) bodyOf(row int32) ([]byte, error) {
	c := m.cache
	id, ok := c.ids[fieldBody]
	offsets := m.disk.recs(extCache)
	if !ok || c.f == nil || offsets == nil || offsets[row] == 0 {
		return nil, nil
	}
	if err := c.mapped(); err != nil {
		return nil, err
	}
	slot := make([]int8, len(c.fields))
	for i := range slot {
		slot[i] = -1
	}
	slot[id] = 0
	var out [1][]byte
	c.lookup(offsets[row], slot, out[:], 1, &m.counts)
	return out[0], nil
}

var _ index.Cacher = (*mailbox)(nil)
