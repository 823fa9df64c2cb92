package envelope

import "mailbench/index"

// A place says where a cache record has a field.
type place struct {
	envelope int // position in the envelope; -1: in the item of headers
	name     string
}

// Fetch takes the fields from the cache records if all of them are cached,
// else every one from the mail.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	where := make([]place, len(fields))
	cached := true
	for i, f := range fields {
		where[i] = place{envelopeField(f), f}
		cached = cached && (where[i].envelope >= 0 || cachedField(f, m.flavour))
	}
	if !cached {
		if err := m.load(); err != nil {
			return err
		}
		return m.fetchMail(uids, fields, fn)
	}
	values := make([][]byte, len(fields))
	done := 0 // fn must not see a message twice when the cache is healed
	var told error
	err := m.healing(func() error {
		var cache *window
		for done < len(uids) && told == nil {
			uid := uids[done]
			row, ok := m.table.Row(uid)
			if !ok {
				done++
				continue
			}
			r := m.row(row)
			complete := r.flags&flagUnread == 0
			if complete {
				if cache == nil {
					var err error
					if cache, err = m.openCache(); err != nil {
						return err
					}
					defer cache.close()
				}
				b, err := m.cacheRecord(cache, &r)
				if err != nil {
					return err
				}
				if complete, ok = pick(b, where, values); !ok {
					return m.corrupt(cache.name, int64(r.cacheOff), "cache record")
				}
			}
			done++
			if complete {
				told = fn(uid, values)
			} else {
				told = m.fetchMail(uids[done-1:done], fields, fn)
			}
		}
		return nil
	})
	if err == nil {
		err = told
	}
	return err
}

// pick fills values from a cache record. complete is false when one of them was
// too long to be cached.
func pick(b []byte, where []place, values [][]byte) (complete, ok bool) {
	item, ok := items(b)
	if !ok {
		return false, false
	}
	var env [10][]byte
	long, ok := envelopeValues(item[itemEnvelope], &env)
	if !ok {
		return false, false
	}
	for i, p := range where {
		if p.envelope >= 0 {
			values[i] = env[p.envelope]
			if long&(1<<p.envelope) != 0 {
				return false, true
			}
			continue
		}
		v, isLong, ok := headerValue(item[itemHeaders], p.name)
		if !ok || isLong {
			return false, ok
		}
		values[i] = v
	}
	return true, true
}

func (m *mailbox) fetchMail(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	if err := m.bind(); err != nil {
		return err
	}
	var e index.Entry
	var buf []byte
	return index.FetchFrom(m.cfg.Source, uids, fields, func(uid uint32) (entry *index.Entry) {
		if row, ok := m.table.Row(uid); ok {
			m.opened++
			entry, buf = m.track.EntryInto(row, &e, buf)
		}
		return entry
	}, fn)
}

// ChangesSince looks at every row.
func (m *mailbox) ChangesSince(modseq uint64, changed func(index.Message) bool, vanished func(uid uint32) bool) error {
	if err := m.load(); err != nil {
		return err
	}
	t := m.table
	for i, s := range t.ModSeqs() {
		if s > modseq && !changed(t.Message(i)) {
			return nil
		}
	}
	for _, v := range t.Vanished() {
		if v.ModSeq > modseq && !vanished(v.UID) {
			return nil
		}
	}
	return nil
}

// Counts are since Open.
func (m *mailbox) Counts() map[string]int64 {
	return map[string]int64{"cache-lookups": m.lookups, "records-read": m.records, "bytes-decoded": m.decoded, "mails-opened": m.opened, "compares": m.sorts.Compares()}
}
