package pebbleidx

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

const (
	fillBytes = 8 << 20 // of values that are held at a time
	fillMost  = 4096
	fillLeast = 64
)

// found is what was read of one message: a value for each kind, nil: none.
type found struct {
	value [len(cachedKinds)][]byte
	date  int64

	denied bool
}

func kindAt(kind byte) int {
	for i, k := range cachedKinds {
		if k == kind {
			return i
		}
	}
	return -1
}

// fill reads what kinds need of the messages with the UIDs and commits it, a
// batch of messages at a time. Messages that have gone are passed over.
func (m *mailbox) fill(uids []uint32, kinds ...byte) error {
	if err := m.bind(); err != nil {
		return err
	}
	want := map[byte]bool{}
	for _, k := range kinds {
		want[k] = true
	}
	src := m.cfg.Source
	names := sync.Pool{New: func() any { return new(named) }}
	var makers [index.MaxReaders]*maker
	var all []found
	step := 512
	for len(uids) > 0 {
		batch := uids[:min(step, len(uids))]
		uids = uids[len(batch):]
		all = append(all[:0], make([]found, len(batch))...)
		var mu sync.Mutex
		var first error
		index.ReadEach(len(batch), m.cfg.Options.Workers, func(i int, buf []byte) ([]byte, error) {
			n := names.Get().(*named)
			defer names.Put(n)
			row, ok := m.table.Row(batch[i])
			if !ok {
				return buf, fs.ErrNotExist
			}
			var e *index.Entry
			if e, n.buf = m.track.EntryInto(row, &n.e, n.buf); e == nil {
				return buf, fs.ErrNotExist
			}
			return readKinds(src, e, buf, want, rfc5322.Compat(m.cfg.Options.Compat), &all[i])
		}, func(worker, i int, b []byte, err error) {
			if err != nil {
				if !index.OfOne(err) {
					mu.Lock()
					first = errors.Join(first, err)
					mu.Unlock()
				}
				denied := errors.Is(err, fs.ErrPermission)
				all[i] = found{}
				if !denied {
					return
				}
				// There, with an INTERNALDATE, but not to be read: it counts as a
				// message of no bytes, and nothing is kept.
				b, all[i].denied = b[:0], true
				all[i].date, err = m.arrival(src, batch[i])
				if err != nil {
					all[i] = found{}
					return
				}
				all[i].value[kindAt(keyArrival)] = binary.AppendVarint(nil, all[i].date)
				all[i].value[kindAt(keySize)] = binary.AppendUvarint(nil, 0)
			}
			if makers[worker] == nil {
				makers[worker] = &maker{x: index.Extractor{Want: index.WantAll, Compat: m.cfg.Options.Compat}}
			}
			makers[worker].make(b, want, &all[i])
		})
		if first != nil {
			return first
		}
		for i := range all {
			if !all[i].denied {
				m.opened++
				continue
			}
			if m.denied == nil {
				m.denied = map[uint32]found{}
			}
			m.denied[batch[i]] = all[i]
			all[i] = found{}
		}
		held, err := m.keep(batch, all, len(uids) == 0)
		if err != nil {
			return err
		}
		step = max(fillLeast, min(fillMost, len(batch)*fillBytes/max(held, 1)))
	}
	return nil
}

// arrival is the INTERNALDATE of a message.
func (m *mailbox) arrival(src index.Source, uid uint32) (int64, error) {
	row, ok := m.table.Row(uid)
	if !ok {
		return 0, fs.ErrNotExist
	}
	var n named
	e, _ := m.track.EntryInto(row, &n.e, nil)
	if e == nil {
		return 0, fs.ErrNotExist
	}
	if e.MTimeOK {
		return e.MTime, nil
	}
	_, t, err := src.Stat(e)
	return t, err
}

// keep commits what was found.
func (m *mailbox) keep(uids []uint32, all []found, last bool) (held int, err error) {
	st, commit := m.st, m.commit(last)
	n := 0
	err = m.engine.write(func(db *pebble.DB) error {
		// Of a message that another mailbox has expunged meanwhile nothing is kept.
		if now, there, err := getState(db); err != nil || !there || now != st {
			if err == nil {
				err = index.ErrStale
			}
			return err
		}
		b := db.NewBatch()
		defer b.Close()
		var key []byte
		for i := range all {
			for k, v := range all[i].value {
				if v != nil {
					key = appendKey(key[:0], cachedKinds[k], uids[i])
					if err := b.Set(key, seal(st.identity, cachedKinds[k], uids[i], v), nil); err != nil {
						return err
					}
				}
			}
		}
		n = b.Len()
		if b.Empty() {
			return nil
		}
		return b.Commit(commit)
	})
	if err != nil {
		return 0, m.spoiled(err)
	}
	return n, nil
}

// named is an entry that a source made, with its strings.
type named struct {
	e   index.Entry
	buf []byte
}

// readKinds reads the header, the whole message, or neither.
func readKinds(src index.Source, e *index.Entry, buf []byte, want map[byte]bool, compat rfc5322.Compat, f *found) (b []byte, err error) {
	date := func() error {
		f.date = e.MTime
		if !e.MTimeOK {
			_, f.date, err = src.Stat(e)
		}
		return err
	}
	b = buf
	if want[keyArrival] {
		if err := date(); err != nil {
			return b, err
		}
		f.value[kindAt(keyArrival)] = binary.AppendVarint(nil, f.date)
	}
	if want[keySize] {
		size := e.VSize
		if size < 0 {
			if b, err = src.ReadMessage(e, b); err != nil {
				return b, err
			}
			size = index.CRLFSize(b)
		}
		f.value[kindAt(keySize)] = binary.AppendUvarint(nil, uint64(size))
	}
	if !want[keyFields] && !want[keyEnvelope] {
		return b, nil
	}
	if b, err = src.ReadHeader(e, b); err != nil || !want[keyFields] {
		return b, err
	}
	// RFC 5256 section 2.2: without a Date that can be read INTERNALDATE counts.
	raw, ok := rfc5322.Get(b, "Date")
	if ok {
		_, ok = rfc5322.ParseDateCompat(raw, compat)
	}
	if !ok {
		err = date()
	}
	return b, err
}

// A maker makes values of headers. It is for one goroutine.
type maker struct {
	x index.Extractor
	f index.Fields
}

func (mk *maker) make(header []byte, want map[byte]bool, f *found) {
	if want[keyFields] {
		mk.x.Extract(header, &mk.f)
		if !mk.f.DateOK {
			mk.f.Date, mk.f.DateOK = f.date, true
		}
		f.value[kindAt(keyFields)] = index.AppendFields(nil, &mk.f)
	}
	if want[keyEnvelope] {
		f.value[kindAt(keyEnvelope)] = appendEnvelope(nil, header)
	}
}

// bind makes the tracker's entries those of the loaded table.
func (m *mailbox) bind() error {
	if m.track.Table() != m.table {
		m.track.Load(m.table)
	}
	return m.track.Naming(m.cfg.Source)
}
