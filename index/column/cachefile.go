package column

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"mailbench/index"
	"mailbench/index/blockfile"
	mailsort "mailbench/sort"
)

const (
	cacheKind   = "column"
	answersKind = "answers"
	version     = 2
)

// The header page's meta of both files: the index's id, the compat, and, in
// the cache, the key of the hashes; in the answers, the set of messages.
//
//	cache    id u64, compat u8, key u64 * 2
//	answers  id u64, compat u8, uidnext u32, messages u32, set hash u64 * 2
const cacheMeta = 25

var le = binary.LittleEndian

// state is part "state" of a segment with rows: every message below uidNext
// that was there had a row, and these UIDs could not be read. set names the
// messages of all rows, added all messages below uidNext that the index ever
// had (index.BaseHeader.Added): an index for which it is another gave these
// UIDs to others.
//
//	uidnext varint, added u64, set hash u64 * 2, absent UIDs (runs)
type state struct {
	uidNext uint32
	added   uint64
	set     index.SetHash
	absent  []uint32
}

func (s *state) encode() []byte {
	b := appendUint(nil, uint64(s.uidNext))
	b = le.AppendUint64(b, s.added)
	b = appendSetHash(b, s.set)
	return appendRuns(b, s.absent)
}

func (s *state) decode(b []byte, absent int) bool {
	c := cursor{b: b}
	s.uidNext = uint32(c.uint())
	k := c.bytes(24)
	if c.bad {
		return false
	}
	s.added, s.set = le.Uint64(k), index.SetHash{le.Uint64(k[8:]), le.Uint64(k[16:])}
	var ok bool
	s.absent, ok = decodeRuns(nil, c.b[c.off:], absent)
	return ok
}

func appendSetHash(b []byte, h index.SetHash) []byte {
	return le.AppendUint64(le.AppendUint64(b, h[0]), h[1])
}

func newKey() hashKey {
	var b [16]byte
	rand.Read(b[:])
	return hashKey{le.Uint64(b[:]), le.Uint64(b[8:])}
}

// cache opens the cache, or gives an empty one when there is none that belongs
// to the index as it is (missing, damaged, of another mailbox, from before a
// rebuild, newer than the index).
func (m *mailbox) cache(h *index.BaseHeader) (*store, error) {
	if m.st != nil && m.st.identity == m.identity(h) && m.st.state.uidNext <= h.UIDNext {
		return m.st, nil
	}
	m.drop()
	st, err := m.openCache(h)
	if err != nil {
		if !blockfile.IsAbsent(err) && !errors.Is(err, errOther) {
			return nil, err
		}
		st = m.emptyStore(h)
	}
	m.st = st
	return st, nil
}

func (m *mailbox) emptyStore(h *index.BaseHeader) *store {
	st := newStore(newKey())
	st.count = &m.counts
	st.identity = m.identity(h)
	return st
}

// errOther reports a cache that is whole but belongs to something else.
var errOther = errors.New("column: not this mailbox's cache")

func (m *mailbox) openCache(h *index.BaseHeader) (*store, error) {
	r, err := blockfile.Open(m.fs, m.cachePath)
	if err != nil {
		return nil, err
	}
	fh := r.Header()
	key, ok := m.cacheOK(&fh, h)
	if !ok {
		r.Close()
		return nil, errOther
	}
	st, err := openStore(r, key)
	if err == nil && st.state.uidNext > h.UIDNext {
		err = errOther
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	st.identity, st.count = m.identity(h), &m.counts
	if m.envelopes() && st.rows > 0 && !st.covers("env") {
		r.Close()
		return nil, errOther // made with fields=thread: made again
	}
	return st, nil
}

func (m *mailbox) envelopes() bool { return m.cfg.Options.Fields == "envelope" }

func (m *mailbox) cacheOK(fh *blockfile.Header, h *index.BaseHeader) (key hashKey, ok bool) {
	if fh.Kind != cacheKind || fh.Version != version || fh.UIDValidity != h.UIDValidity || fh.Generation > h.Generation ||
		len(fh.Meta) != cacheMeta || le.Uint64(fh.Meta) != h.ID || mailsort.Compat(fh.Meta[8]) != m.compat {
		return key, false
	}
	return hashKey{le.Uint64(fh.Meta[9:]), le.Uint64(fh.Meta[17:])}, true
}

func (m *mailbox) cacheHeader(h *index.BaseHeader, key hashKey) blockfile.Header {
	meta := le.AppendUint64(nil, h.ID)
	meta = append(meta, byte(m.compat))
	meta = le.AppendUint64(meta, key[0])
	meta = le.AppendUint64(meta, key[1])
	return blockfile.Header{Kind: cacheKind, Version: version, UIDValidity: h.UIDValidity, Generation: h.Generation, Meta: meta}
}

// publishing publishes in the background: the columns are complete, and a
// query may use them while they are being encoded and written. wait ends it.
func (m *mailbox) publishing(st *store, h *index.BaseHeader, parts func() []part) {
	m.wait()
	done := make(chan struct{})
	m.pending = done
	header := *h
	go func() {
		defer close(done)
		m.publish(st, &header, parts())
	}()
}

// wait waits until what is being published is on disk, or has failed.
func (m *mailbox) wait() {
	if m.pending != nil {
		<-m.pending
		m.pending = nil
	}
}

// publish writes parts: a new file if st has none, else a segment. Either is
// on disk when it returns. What cannot be written is an answer's time lost and
// not an answer: the error is kept for Check, and the store is dropped after
// use, because its rows are nowhere else.
func (m *mailbox) publish(st *store, h *index.BaseHeader, parts []part) {
	write := func(w *blockfile.Writer) error { return writeParts(w, parts) }
	var err error
	if st.r == nil {
		err = blockfile.Create(m.fs, m.cachePath, m.cacheHeader(h, st.key), write)
	} else {
		err = blockfile.Append(m.fs, st.r, write)
	}
	if err == nil {
		err = st.reopen(m.fs, m.cachePath)
	}
	m.lostCache = err
	st.tainted = err != nil
}

// reopen maps the file anew after a segment was added; decoded columns stay.
func (s *store) reopen(fsy index.FS, name string) error {
	r, err := blockfile.Open(fsy, name)
	if err != nil {
		return err
	}
	var parts []part
	for i := range r.Segments() {
		if parts, err = segParts(r.Segment(i), parts); err != nil {
			r.Close()
			return err
		}
	}
	rows := 0
	for _, p := range parts {
		if p.name == "uid" {
			rows += p.rows
		}
	}
	if rows != s.rows {
		r.Close()
		return fmt.Errorf("%w: column: other rows than were written", index.ErrCorrupt)
	}
	if s.r != nil {
		s.r.Close()
	}
	s.r, s.parts, s.env, s.body = r, parts, nil, nil // these point into the old map
	return nil
}
