package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unsafe"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	"mailbench/maildir"
)

// source is a Catalog as an index.Source: a Glancer, a Newcomer, a Journal, a
// Namer, a HeadReader and a Recorder.
type source struct {
	c *Catalog
	p *index.Phases
}

var (
	_ index.Newcomer   = (*source)(nil)
	_ index.Journal    = (*source)(nil)
	_ index.Namer      = (*source)(nil)
	_ index.HeadReader = (*source)(nil)
	_ index.Recorder   = (*source)(nil)
)

// glance is the private part of a Listing: how many changes there had been.
type glance struct {
	c *Catalog
	n uint64
}

func (s *source) Kind() string            { return s.c.kind }
func (s *source) Path() string            { return s.c.path }
func (s *source) UIDList() (string, bool) { return "", false }
func (s *source) Close() error            { return nil }

// Record makes later calls record what they are part of, see index.Recorder.
func (s *source) Record(p *index.Phases) { s.p = p }

// State is the digest (C2). Nothing changes behind a store's back.
func (s *source) State() (index.State, error) {
	d := s.c.Digest()
	return index.State{A: d.Sum[0], B: d.Sum[1], C: uint64(d.N)}, nil
}

// Glance notes the moment. O(1).
func (s *source) Glance(l *index.Listing) error {
	s.c.mu.RLock()
	defer s.c.mu.RUnlock()
	s.note(l)
	return nil
}

func (s *source) note(l *index.Listing) *glance {
	g, ok := l.Private.(*glance)
	if !ok {
		g = new(glance)
		l.Private = g
	}
	g.c, g.n = s.c, s.c.recent.n
	l.Digest, l.Problems, l.Entries = s.c.digest, l.Problems[:0], l.Entries[:0]
	return g
}

// Fill lists what is there now, and says so in the Digest: after a Glance that
// others' changes followed it is another one (C3).
func (s *source) Fill(l *index.Listing) {
	defer s.p.Begin(index.PhaseScan).End()
	s.c.mu.RLock()
	defer s.c.mu.RUnlock()
	s.note(l)
	l.Entries = slices.Grow(l.Entries, l.Digest.N)[:l.Digest.N]
	n := 0
	for i := range s.c.rows {
		if r := &s.c.rows[i]; !r.dead {
			r.entry(&l.Entries[n], r.mark())
			n++
		}
	}
}

// List is Glance and Fill at the same moment. O(rows).
func (s *source) List(l *index.Listing) error {
	s.Fill(l)
	return nil
}

// entry makes the Entry of a row that is, or was, like m.
func (r *row) entry(e *index.Entry, m mark) {
	*e = index.Entry{Key: r.key, Folder: index.Folder(m.dir), Dir: m.dir, Flags: m.flags, Keywords: m.keywords,
		Size: r.size, VSize: r.vsize, MTime: r.date, MTimeOK: r.date != NoDate, Off: -1, Ref: int32(r.serial)}
}

// Order sorts by append. Entries that the catalog has not made are looked up.
func (s *source) Order(entries []index.Entry) {
	byRef := func(a, b index.Entry) int { return cmp.Compare(uint32(a.Ref), uint32(b.Ref)) }
	s.c.mu.RLock()
	for i := range entries {
		if e := &entries[i]; e.Ref < 0 {
			if at, _ := s.c.find(hashKey(e.Key), e.Key); at >= 0 {
				e.Ref = int32(s.c.rows[at].serial)
			}
		}
	}
	s.c.mu.RUnlock()
	if !slices.IsSortedFunc(entries, byRef) {
		slices.SortStableFunc(entries, byRef)
	}
}

// Arrived tells what has come, if nothing else has happened, see index.Newcomer.
func (s *source) Arrived(l *index.Listing, known index.Digest, limit int) bool {
	gone, changed, ok := s.since(l, known, limit)
	return ok && len(gone) == 0 && changed == 0
}

// Since tells what has happened, see index.Journal: the messages whose flags or
// folder changed, then those that came, all in the order of append.
func (s *source) Since(l *index.Listing, known index.Digest, limit int) (gone []string, ok bool) {
	gone, _, ok = s.since(l, known, limit)
	return gone, ok
}

// A net is what became of a message between two moments.
type net struct {
	key      string
	serial   uint32
	old, now mark
}

func (s *source) since(l *index.Listing, known index.Digest, limit int) (gone []string, changed int, ok bool) {
	g, mine := l.Private.(*glance)
	l.Entries = l.Entries[:0]
	// The digest of nothing is also what an index keeps that does not trust its
	// last listing; and of an empty mailbox all is new: Fill tells that as fast.
	if !mine || g.c != s.c || known == (index.Digest{}) {
		return nil, 0, false
	}
	s.c.mu.RLock()
	defer s.c.mu.RUnlock()
	r := &s.c.recent
	from, ok := r.find(known, g.n)
	// A message may have changed more than once; far more changes than limit
	// are not worth sorting out.
	if !ok || g.n-from > 8*uint64(max(limit, 0)) {
		return nil, 0, false
	}
	nets := make([]net, 0, g.n-from)
	at := make(map[string]int, g.n-from)
	for n := from; n < g.n; n++ {
		c := &r.at[n%uint64(len(r.at))]
		if i, seen := at[c.key]; seen {
			nets[i].now = c.now
			continue
		}
		at[c.key] = len(nets)
		nets = append(nets, net{c.key, c.serial, c.old, c.now})
	}
	slices.SortFunc(nets, func(a, b net) int { return cmp.Compare(a.serial, b.serial) })
	for i := range nets {
		n := &nets[i]
		switch {
		case n.old == n.now:
			continue // came and went, or is as it was
		case !n.now.there:
			gone = append(gone, n.key)
		default:
			if n.old.there {
				changed++
			}
			l.Entries = append(l.Entries, index.Entry{})
			e := &l.Entries[len(l.Entries)-1]
			was := row{key: n.key, serial: n.serial, size: -1, vsize: -1, date: NoDate}
			if p, _ := s.c.find(hashKey(n.key), n.key); p >= 0 {
				was = s.c.rows[p]
			}
			was.entry(e, n.now)
		}
		if len(gone)+len(l.Entries) > limit {
			l.Entries = l.Entries[:0]
			return nil, 0, false
		}
	}
	return gone, changed, true
}

// NameEntry makes the Entry of a key, with what the catalog knows of it.
func (s *source) NameEntry(e *index.Entry, key []byte, flags index.Flags, dir uint8, keywords uint32, buf []byte) []byte {
	buf = append(buf[:0], key...)
	name := unsafe.String(unsafe.SliceData(buf), len(buf))
	*e = index.Entry{Key: name, Folder: index.Folder(dir), Dir: dir, Flags: flags, Keywords: keywords, Size: -1, VSize: -1, Off: -1, Ref: -1}
	s.c.mu.RLock()
	defer s.c.mu.RUnlock()
	if at, _ := s.c.find(hashKey(name), name); at >= 0 {
		r := &s.c.rows[at]
		e.Size, e.VSize, e.MTime, e.MTimeOK, e.Ref = r.size, r.vsize, r.date, r.date != NoDate, int32(r.serial)
	}
	return buf
}

// ReadHead is ReadHeader for who looks for the empty line, see index.HeadReader.
func (s *source) ReadHead(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	return s.look(e, buf, s.c.read.ReadHead)
}

// ReadHeader reads the header with its empty line, at most maildir.MaxHeader
// bytes.
func (s *source) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	b, err := s.ReadHead(e, buf)
	if err != nil {
		return b, err
	}
	if end := rfc5322.HeaderEnd(b, 0); end >= 0 {
		b = b[:end]
	}
	return b[:min(len(b), maildir.MaxHeader)], nil
}

// ReadMessage reads the whole message.
func (s *source) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	return s.look(e, buf, s.c.read.ReadMessage)
}

// maxMoves bounds how often a message is looked for that moves while it is read.
const maxMoves = 8

func (s *source) look(e *index.Entry, buf []byte, read func(Row, []byte) ([]byte, error)) ([]byte, error) {
	r, ok := s.c.Get(e.Key)
	for try := 0; ok; try++ {
		b, err := read(r, buf)
		if err == nil {
			s.p.Mail(len(b))
			return b, nil
		}
		now, still := s.c.Get(e.Key)
		if still && (now == r || try == maxMoves) {
			return buf[:0], err
		}
		r, ok = now, still
	}
	return buf[:0], s.gone(e)
}

// Stat tells size and INTERNALDATE: from the row, or from the mail where that
// does not know them.
func (s *source) Stat(e *index.Entry) (size, date int64, err error) {
	r, ok := s.c.Get(e.Key)
	for try := 0; ok; try++ {
		if r.Size >= 0 && r.Date != NoDate {
			return r.Size, r.Date, nil
		}
		st, can := s.c.read.(Stater)
		if !can {
			return 0, 0, fmt.Errorf("catalog: %s: size and date of %s: %w", s.c.path, e.Key, errors.ErrUnsupported)
		}
		if size, date, err = st.Stat(r); err == nil {
			return size, date, nil
		}
		now, still := s.c.Get(e.Key)
		if still && (now == r || try == maxMoves) {
			return 0, 0, err
		}
		r, ok = now, still
	}
	return 0, 0, s.gone(e)
}

func (s *source) gone(e *index.Entry) error {
	return fmt.Errorf("catalog: %s: message %s: %w", s.c.path, e.Key, fs.ErrNotExist)
}
