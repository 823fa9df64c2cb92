package envelope

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"io/fs"
	"sync"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

const (
	fillBytes = 16 << 20 // of cache records that are held at a time
	fillMost  = 4096
	fillLeast = 64

	// longHeader is below every bound that a source may put to a header.
	longHeader = 256 << 10
)

// taken is what was read of one message.
type taken struct {
	cache    []byte // nil: it could not be read
	internal int64
	sent     int64
	size     uint64
	head     uint32
	lines    uint32
	guid     [20]byte
}

// fill reads the messages of rows, several at a time, and calls fn with what it
// read of each, in the order of rows. Messages that have gone come with a nil
// cache. Memory: fillBytes, or fillLeast messages.
func (m *mailbox) fill(rows []int32, fn func(row int32, t *taken) error) error {
	if len(rows) == 0 {
		return nil
	}
	if err := m.bind(); err != nil {
		return err
	}
	src := m.cfg.Source
	names := sync.Pool{New: func() any { return new(named) }}
	var makers [index.MaxReaders]*maker
	var arenas [index.MaxReaders][]byte
	var all []taken
	step := 512
	for len(rows) > 0 {
		batch := rows[:min(step, len(rows))]
		rows = rows[len(batch):]
		all = append(all[:0], make([]taken, len(batch))...)
		for i := range arenas {
			arenas[i] = arenas[i][:0]
		}
		var mu sync.Mutex
		var first error
		index.ReadEach(len(batch), m.cfg.Options.Workers, func(i int, buf []byte) ([]byte, error) {
			n := names.Get().(*named)
			defer names.Put(n)
			var e *index.Entry
			e, n.buf = m.track.EntryInto(int(batch[i]), &n.e, n.buf)
			if e == nil {
				return buf, fs.ErrNotExist
			}
			return m.read(src, e, buf, &all[i])
		}, func(worker, i int, b []byte, err error) {
			if err != nil {
				if !errors.Is(err, fs.ErrPermission) { // which has an INTERNALDATE all the same
					all[i].internal = 0
				}
				if !index.OfOne(err) {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
				}
				return
			}
			mk := makers[worker]
			if mk == nil {
				mk = newMaker(m)
				makers[worker] = mk
			}
			t := &all[i]
			from := len(arenas[worker])
			arenas[worker] = mk.append(arenas[worker], b[:t.head])
			t.cache = arenas[worker][from:len(arenas[worker]):len(arenas[worker])]
			t.sent = t.internal
			if mk.f.DateOK {
				t.sent = mk.f.Date
			}
		})
		if first != nil {
			return first
		}
		m.opened += int64(len(batch))
		held := 0
		for i := range all {
			held += len(all[i].cache)
			if err := fn(batch[i], &all[i]); err != nil {
				return err
			}
		}
		step = max(fillLeast, min(fillMost, len(batch)*fillBytes/max(held, 1)))
	}
	return nil
}

// named is an entry that a source made, with its strings.
type named struct {
	e   index.Entry
	buf []byte
}

// read reads a message as the option read says: all of it, or its header. The
// header is in either case what ReadHeader gives: a source cuts very long ones,
// and a message must not have other fields here than in other designs.
func (m *mailbox) read(src index.Source, e *index.Entry, buf []byte, t *taken) (b []byte, err error) {
	t.internal = e.MTime
	if !e.MTimeOK {
		if _, t.internal, err = src.Stat(e); err != nil {
			return buf, err
		}
	}
	if !m.wholeMail && e.VSize >= 0 {
		b, err = src.ReadHeader(e, buf)
		t.head, t.size = uint32(len(b)), uint64(e.VSize)
		return b, err
	}
	if b, err = src.ReadMessage(e, buf); err != nil {
		return b, err
	}
	t.head = uint32(len(b))
	if n := rfc5322.HeaderEnd(b, 0); n >= 0 {
		t.head = uint32(n)
	}
	t.size = uint64(index.CRLFSize(b))
	t.lines = uint32(bytes.Count(b[t.head:], []byte{'\n'}))
	t.guid = sha1.Sum(b)
	if t.head > longHeader {
		b, err = src.ReadHeader(e, b)
		t.head = uint32(len(b))
	}
	return b, err
}

// bind makes the tracker's entries those of the loaded table.
func (m *mailbox) bind() error {
	if m.track.Table() != m.table {
		m.track.Load(m.table)
	}
	return m.track.Naming(m.cfg.Source)
}

// set puts what was read into a record; where the cache record is is the
// caller's to say.
func (r *record) set(t *taken, now uint32) {
	if t.cache == nil {
		r.flags |= flagUnread
		r.cacheOff, r.cacheLen, r.cacheSum = 0, 0, 0
		r.internal, r.sent, r.size = t.internal, t.internal, 0
		return
	}
	r.flags &^= flagUnread
	r.internal, r.sent, r.size = t.internal, t.sent, t.size
	r.headerSize, r.lines, r.guid = t.head, t.lines, t.guid
	r.cacheLen, r.cacheSum, r.updated = uint32(len(t.cache)), checksum(t.cache), now
}
