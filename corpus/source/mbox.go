package source

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/maildir"
	"mailbench/mbox"
)

// An Mbox is an mbox as IMAP shows it: unquoted, with flags, without UW-IMAP's
// internal message. List and Close must not run beside other calls.
type Mbox struct {
	file
	rows     []row
	count    counter
	problems mbox.Problems
	imap     imapBase

	mu     sync.Mutex // for what is made when it is first asked for
	listed bool
	byKey  map[rowKey]int32
}

// A row is what is known of a message after a scan.
type row struct {
	off, body, head, end int64 // From_ line, header, body, end of the stored bytes
	key                  rowKey
	raw                  uint64 // hash of the header's lines as they are
	rawEnd               int64  // and where they end
	date                 int64
	uid                  uint32
	quoted               int32
	dateOK               bool
}

// A rowKey is a key before it is written out.
type rowKey struct {
	hash uint64
	nth  uint32
}

// Kind is "mbox".
func (s *Mbox) Kind() string { return "mbox" }

// List scans the file once and hashes each header; it opens the file again
// first if it has changed, and again if it is cut meanwhile. Of a damaged compressed file it lists the whole
// messages and has the damage among the problems.
//
// O(bytes of the file); no allocation per message when l is used again.
func (s *Mbox) List(l *index.Listing) error {
	defer s.p.Begin(index.PhaseScan).End()
	l.Problems, l.Digest = l.Problems[:0], index.Digest{}
	entries := l.Entries[:0]
	err := mbox.ErrChanged
	for tries := 0; tries < 3 && errors.Is(err, mbox.ErrChanged); tries++ {
		if err := s.refresh(); err != nil {
			return err
		}
		entries = entries[:0]
		err = s.scan(func(e index.Entry) { entries = append(entries, e) })
	}
	if err != nil {
		return err
	}
	l.Entries = entries
	if err := s.m.Damage(); err != nil {
		l.Problems = append(l.Problems, err)
	}
	keys, ok := l.Private.(*keyArena)
	if !ok {
		keys = new(keyArena)
		l.Private = keys
	}
	keys.reset(len(entries))
	for i := range entries {
		e := &entries[i]
		key := s.rows[e.Ref].key
		e.Key = keys.add(key)
		sum := digestOf(key.hash, key.nth, e)
		l.Digest.Sum[0] += sum[0]
		l.Digest.Sum[1] += sum[1]
	}
	l.Digest.N = len(entries)
	return nil
}

// scan fills s.rows and hands out the entries, which have no key yet.
func (s *Mbox) scan(add func(index.Entry)) error {
	s.rows, s.byKey, s.listed = s.rows[:0], nil, false
	s.imap.reset()
	data := s.m.Data()
	var h fieldWalk
	first := true
	problems, err := s.m.Scan(func(m mbox.Message) bool {
		stored := data[m.BodyOff:m.End]
		h.walk(stored)
		if h.hashed == 0 {
			h.hash = xxhash.Sum64(data[m.Off:m.BodyOff])
		}
		if first {
			first = false
			if s.imap.learn(&h) {
				return true // not mail
			}
		}
		r := row{off: m.Off, body: m.BodyOff, head: m.BodyOff + int64(h.end), end: m.End, key: rowKey{hash: h.hash},
			raw: h.raw, rawEnd: m.BodyOff + int64(h.rawEnd),
			date: m.Date, dateOK: m.DateOK, uid: h.uid, quoted: m.Quoted}
		add(index.Entry{
			Dir: index.DirNone, Flags: h.flags, Keywords: s.imap.bits(h.keywords),
			Size: m.Size(), VSize: maildir.CRLFSize(stored) - int64(m.Quoted),
			MTime: m.Date, MTimeOK: m.DateOK, Off: m.Off, Ref: int32(len(s.rows)),
		})
		s.rows = append(s.rows, r)
		return true
	})
	s.problems = problems
	if err != nil && len(s.m.Data()) > 0 && s.m.Damage() == nil {
		s.rows = s.rows[:0]
		return fmt.Errorf("source: %s: %w", s.path, err)
	}
	// In a loop of its own the processor waits for several slots at a time.
	s.count.reset(len(s.rows))
	for i := range s.rows {
		s.rows[i].key.nth = s.count.next(s.rows[i].key.hash)
	}
	s.listed = true
	return nil
}

// Order sorts into file order.
func (s *Mbox) Order(entries []index.Entry) {
	inOrder := func(a, b index.Entry) int { return cmp.Compare(a.Off, b.Off) }
	if !slices.IsSortedFunc(entries, inOrder) {
		slices.SortStableFunc(entries, inOrder)
	}
}

// Problems lists what was odd about the file at the last List.
func (s *Mbox) Problems() mbox.Problems { return s.problems }

// IMAPBase tells what UW-IMAP or Dovecot wrote into an X-IMAP or X-IMAPbase
// field at the last List: the UIDVALIDITY and the highest UID given out.
func (s *Mbox) IMAPBase() (uidValidity, lastUID uint32, ok bool) {
	return s.imap.validity, s.imap.last, s.imap.validity != 0
}

// Keywords names the bits of Entry.Keywords, letter 'a' for bit 0.
func (s *Mbox) Keywords() (map[byte]string, error) {
	names := make(map[byte]string, len(s.imap.names))
	for i, name := range s.imap.names {
		names['a'+byte(i)] = name
	}
	return names, nil
}

// UID is the X-UID of an entry, 0 if it has none.
func (s *Mbox) UID(e *index.Entry) uint32 {
	if r, err := s.row(e); err == nil {
		return r.uid
	}
	return 0
}

// MessageOffset is where the message begins: the offset of the first byte
// after its From_ line, in the uncompressed file; -1 when it has gone.
func (s *Mbox) MessageOffset(e *index.Entry) int64 {
	r, err := s.row(e)
	if err != nil {
		return -1
	}
	return r.body
}

// row finds what an entry of any listing is now: by its place if that still
// has its key, else by its key.
func (s *Mbox) row(e *index.Entry) (*row, error) {
	key, ok := parseKey(e.Key)
	if !ok {
		return nil, s.gone(e)
	}
	if i := int(e.Ref); i >= 0 && i < len(s.rows) && s.rows[i].key == key {
		return &s.rows[i], nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listed {
		if err := s.scan(func(index.Entry) {}); err != nil {
			return nil, err
		}
	}
	if s.byKey == nil {
		s.byKey = make(map[rowKey]int32, len(s.rows))
		for i := range s.rows {
			s.byKey[s.rows[i].key] = int32(i)
		}
	}
	if i, ok := s.byKey[key]; ok {
		return &s.rows[i], nil
	}
	return nil, s.gone(e)
}

// ReadHeader copies the header with its empty line, unquoted. From a mapped
// file it checks that the header is still the listed one: a mail reader that
// writes the file anew in place gives an error that wraps fs.ErrNotExist, never
// another message's header. (A copy, because the caller will append to it, and
// because a file that is cut must not take it away.) O(header), at most
// maildir.MaxHeader bytes come back; no allocation when buf is large enough.
func (s *Mbox) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	r, err := s.row(e)
	if err != nil {
		return buf[:0], err
	}
	return s.read(e, r, min(r.head, r.body+maildir.MaxHeader), buf)
}

// ReadMessage copies the message, unquoted as far as the dialect allows, with
// the same promise as ReadHeader's for its header. O(message).
func (s *Mbox) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	r, err := s.row(e)
	if err != nil {
		return buf[:0], err
	}
	return s.read(e, r, r.end, buf)
}

func (s *Mbox) read(e *index.Entry, r *row, end int64, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	s.p.Mail(int(end - r.body))
	same := true
	err := s.m.Guard(func() {
		buf = append(buf[:0], s.m.Data()[r.body:end]...)
		if s.m.Mapped() {
			same = s.same(r, buf)
		}
	})
	if errors.Is(err, mbox.ErrUnreadable) {
		return buf[:0], fmt.Errorf("source: %s: %w", s.path, err)
	}
	if err != nil || !same {
		return buf[:0], s.gone(e)
	}
	if r.quoted > 0 {
		buf = mbox.Unquote(buf[:0], buf, s.o.Dialect) // never longer: in place
	}
	return buf, nil
}

// same reports whether got, just copied, begins with the header of r: as it
// was, or changed in nothing that matters.
func (s *Mbox) same(r *row, got []byte) bool {
	if n := r.rawEnd - r.body; n > 0 && int64(len(got)) >= n && xxhash.Sum64(got[:n]) == r.raw {
		return true
	}
	data := s.m.Data()
	if int64(len(got)) < r.head-r.body { // longer than MaxHeader
		got = data[r.body:r.end]
	}
	var h fieldWalk
	h.walk(got)
	if h.hashed == 0 {
		h.hash = xxhash.Sum64(data[r.off:r.body])
	}
	return h.hash == r.key.hash
}

// Sizes returns a message's bytes as stored and with CRLF line ends, unquoted,
// as the listing has counted them. O(1).
func (s *Mbox) Sizes(e *index.Entry, _ []byte) (size, vsize int64, err error) {
	r, err := s.row(e)
	if err != nil {
		return 0, 0, err
	}
	return r.end - r.body, e.VSize, nil
}

// Stat returns the stored bytes and the time of the From_ line; without one
// the file's modification time.
func (s *Mbox) Stat(e *index.Entry) (size, mtimeSec int64, err error) {
	r, err := s.row(e)
	if err != nil {
		return 0, 0, err
	}
	if r.dateOK {
		return r.end - r.body, r.date, nil
	}
	return r.end - r.body, s.m.Info().ModTime.Unix(), nil
}

// Close releases the file.
func (s *Mbox) Close() error {
	s.rows, s.byKey, s.listed = nil, nil, false
	return s.file.Close()
}
