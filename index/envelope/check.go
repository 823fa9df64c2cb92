package envelope

import (
	"iter"
	"path/filepath"

	"mailbench/index"
)

// Check reads every byte anew: both slots of the header, journal, records,
// names and cache records.
func (m *mailbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		m.drop()
		if err := m.load(); err != nil {
			yield(err)
			return
		}
		if !m.have {
			return
		}
		if !m.twins && !yield(m.corrupt(m.path(IndexFile), 0, "one slot of the header is behind or damaged")) {
			return
		}
		on := true
		m.table.Problems(func(what string) bool {
			on = yield(m.corrupt(m.path(IndexFile), 0, what))
			return on
		})
		if !on {
			return
		}
		cache, err := m.openCache()
		if err != nil {
			yield(err)
			return
		}
		defer cache.close()
		var live uint64
		for i := range m.slot {
			r := m.row(i)
			live += uint64(r.cacheLen)
			if r.flags&flagUnread != 0 {
				continue
			}
			b, err := m.cacheRecord(cache, &r)
			if err == nil && !wellFormed(b) {
				err = m.corrupt(cache.name, int64(r.cacheOff), "cache record")
			}
			if err != nil && !yield(err) {
				return
			}
		}
		if live+m.h.cacheDead+fileHead != m.h.cacheEnd {
			yield(m.corrupt(m.path(IndexFile), 0, "bytes of live and dead cache records"))
		}
	}
}

// wellFormed reports whether b is a whole cache record.
func wellFormed(b []byte) bool {
	item, ok := items(b)
	if !ok {
		return false
	}
	var env [10][]byte
	var f index.Fields
	if _, ok = envelopeValues(item[itemEnvelope], &env); !ok {
		return false
	}
	if _, _, ok = headerValue(item[itemHeaders], ""); !ok {
		return false
	}
	rest, ok := index.ParseFields(item[itemFields], &f)
	return ok && len(rest) == 0
}

// Stats lists the files.
func (m *mailbox) Stats() (out []index.FileStat) {
	for _, name := range [...]string{IndexFile, filepath.Base(m.cacheName(m.h.generation)), filepath.Base(m.namesName(m.h.generation)), JournalFile, index.ValidityFile} {
		in, err := m.fs.Stat(m.path(name))
		if err != nil {
			continue
		}
		st := index.FileStat{Name: name, Bytes: in.Size}
		if name != JournalFile && name != index.ValidityFile {
			st.Rows = int64(m.h.live)
		}
		out = append(out, st)
	}
	return out
}
