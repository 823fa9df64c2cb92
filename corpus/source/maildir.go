package source

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"mailbench/index"
	"mailbench/maildir"
)

// A Maildir is a maildir, its subfolders not included.
type Maildir struct {
	path string
	o    maildir.Options
	opt  Options
	r    *maildir.Reader
	shut bool // closed for good
	p    *index.Phases

	unread unread
}

func openMaildir(path string, o Options) (index.Source, error) {
	switch cur := isDir(o.FS, path, "cur"); {
	case !cur && isDir(o.FS, path, "new"):
		return nil, fmt.Errorf("source: open %s: a maildir has cur, this has new alone: make an empty one if its mail is all in new", path)
	case !cur:
		return nil, fmt.Errorf("source: open %s: no maildir (a directory with cur), mbox or message", path)
	}
	s := &Maildir{path: path, o: maildir.Options{Separator: o.Separator}, opt: o}
	r, err := maildir.Open(path, s.o)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	s.r = r
	return s, nil
}

// Kind is "maildir".
func (s *Maildir) Kind() string { return "maildir" }

// Path is the maildir's path.
func (s *Maildir) Path() string { return s.path }

// MessageOffset is 0: each file is a message.
func (s *Maildir) MessageOffset(*index.Entry) int64 { return 0 }

// State is two stats: the times and inodes of cur/ and new/.
func (s *Maildir) State() (index.State, error) {
	defer s.p.Begin(index.PhaseScan).End()
	st, err := maildir.Stat(s.path)
	if err != nil {
		return index.State{}, fmt.Errorf("source: %w", err)
	}
	is := index.State{A: uint64(st.CurMTime), B: uint64(st.NewMTime), C: st.CurIno, D: st.NewIno}
	is.Racy, is.Busy = young(max(st.CurMTime, st.NewMTime))
	return is, nil
}

// List reads the two directories. No file is opened or asked for its size. No
// allocation per message when l is used again.
func (s *Maildir) List(l *index.Listing) error {
	if err := s.Glance(l); err != nil {
		return err
	}
	s.Fill(l)
	return nil
}

// Glance is the first half of List: it reads the directories and sets Digest,
// and leaves the entries empty. Most of the time of a List of a maildir that
// has not changed can so be saved.
func (s *Maildir) Glance(l *index.Listing) error {
	defer s.p.Begin(index.PhaseScan).End()
	scan, ok := l.Private.(*maildir.Scan)
	if !ok {
		scan = new(maildir.Scan)
		l.Private = scan
	}
	l.Entries, l.Problems = l.Entries[:0], l.Problems[:0]
	if err := scan.List(s.path, s.o); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	l.Digest = index.Digest(scan.Digest)
	return nil
}

// Fill is the second half of List, after Glance with the same l: the entries
// and problems.
func (s *Maildir) Fill(l *index.Listing) {
	defer s.p.Begin(index.PhaseScan).End()
	scan := l.Private.(*maildir.Scan)
	scan.Parse()
	l.Entries = slices.Grow(l.Entries[:0], len(scan.Entries))[:len(scan.Entries)]
	for i := range scan.Entries {
		setEntry(&l.Entries[i], &scan.Entries[i], i)
	}
	l.Problems = l.Problems[:0]
	for i := range scan.Skipped {
		l.Problems = append(l.Problems, scan.Skipped[i])
	}
}

func setEntry(to *index.Entry, from *maildir.Entry, i int) {
	*to = index.Entry{
		Key: from.Base, File: from.File, Folder: index.Folder(uint8(from.Dir)), Dir: uint8(from.Dir),
		Flags: index.Flags(from.Flags), Keywords: from.Keywords,
		Size: from.Size, VSize: from.VSize, Off: -1, Ref: int32(i),
	}
}

// Walk goes through the names after Glance, see index.Walker.
func (s *Maildir) Walk(l *index.Listing, part, parts int, fn func(at uint32, key string, flags index.Flags, dir uint8, keywords uint32)) bool {
	defer s.p.Begin(index.PhaseScan).End()
	return l.Private.(*maildir.Scan).Each(part, parts, func(at uint32, base string, dir maildir.Dir, f maildir.Flags, k uint32) {
		fn(at, base, index.Flags(f), uint8(dir), k)
	})
}

// FillAt makes the entries of some places.
func (s *Maildir) FillAt(l *index.Listing, at []index.Place) {
	defer s.p.Begin(index.PhaseScan).End()
	scan := l.Private.(*maildir.Scan)
	l.Entries = slices.Grow(l.Entries[:0], len(at))[:len(at)]
	for i, p := range at {
		e := scan.EntryAt(p.At, maildir.Dir(p.Dir))
		setEntry(&l.Entries[i], &e, i)
	}
}

// Seed gives the names after Glance in the order of Order.
func (s *Maildir) Seed(l *index.Listing) (index.Seed, bool) {
	defer s.p.Begin(index.PhaseScan).End()
	o, ok := l.Private.(*maildir.Scan).Ordered()
	return seed{o}, ok
}

// seed is maildir.Ordered in index's types.
type seed struct{ o maildir.Ordered }

func (s seed) Len() int         { return s.o.Len() }
func (s seed) KeyLen(i int) int { return s.o.BaseLen(i) }

func (s seed) Row(i int) (key string, flags index.Flags, dir uint8, keywords uint32) {
	key, d, f, k := s.o.At(i)
	return key, index.Flags(f), uint8(d), k
}

// NameEntry guesses the file name from base name, flags and keywords. A message
// whose name has something else in it, or has changed, is not found by it and
// looked for as any other that was renamed: by one listing for all of them.
func (s *Maildir) NameEntry(e *index.Entry, key []byte, flags index.Flags, dir uint8, keywords uint32, buf []byte) []byte {
	n := len(key)
	buf = slices.Grow(buf[:0], n+40) // separator, 2, comma and 32 letters: it does not move
	buf = append(buf, key...)
	base := unsafe.String(unsafe.SliceData(buf), n)
	buf = maildir.AppendFile(buf[:0], base, maildir.Dir(dir), maildir.Flags(flags), keywords, s.o)
	*e = index.Entry{Key: base, File: unsafe.String(unsafe.SliceData(buf), len(buf)), Folder: index.Folder(dir), Dir: dir,
		Flags: flags, Keywords: keywords, Off: -1, Ref: -1}
	e.Size, e.VSize = maildir.Sizes(base)
	return buf
}

// Order sorts by base name as Dovecot does: seconds, microseconds, the rest.
// O(n) by radix, see maildir.SortBase; nothing to do when already in order.
func (s *Maildir) Order(entries []index.Entry) {
	defer s.p.Begin(index.PhaseScan).End()
	if slices.IsSortedFunc(entries, compareKeys) {
		return
	}
	// Short entries are cheaper to move; Size remembers where each came from.
	names := make([]maildir.Entry, len(entries))
	for i := range entries {
		names[i].Base, names[i].Size = entries[i].Key, int64(i)
	}
	maildir.SortBase(names)
	for start := range names {
		if names[start].Size < 0 {
			continue
		}
		first, at := entries[start], start
		for {
			next := int(names[at].Size)
			names[at].Size = -1
			if next == start {
				entries[at] = first
				break
			}
			entries[at] = entries[next]
			at = next
		}
	}
}

// OrderIndex is Order without moving the entries.
func (s *Maildir) OrderIndex(dst []int32, entries []index.Entry) []int32 {
	return maildir.OrderBase(dst, len(entries), func(i int) string { return entries[i].Key })
}

func compareKeys(a, b index.Entry) int { return maildir.Compare(a.Key, b.Key) }

func entryOf(e *index.Entry) maildir.Entry {
	return maildir.Entry{File: e.File, Base: e.Key, Dir: maildir.Dir(e.Dir), Flags: maildir.Flags(e.Flags),
		Keywords: e.Keywords, Size: e.Size, VSize: e.VSize}
}

// ReadHeader reads the header with its empty line. A file that has changed its
// name is found again by its base name.
func (s *Maildir) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	m := entryOf(e)
	b, err := s.r.ReadHeader(&m, buf)
	s.p.Mail(len(b))
	s.unread.note(e, err)
	return b, err
}

// ReadHead is ReadHeader for who looks for the empty line, see index.HeadReader.
func (s *Maildir) ReadHead(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	m := entryOf(e)
	b, err := s.r.ReadHead(&m, buf)
	s.p.Mail(len(b))
	s.unread.note(e, err)
	return b, err
}

// ReadMessage reads the whole file.
func (s *Maildir) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	defer s.p.Begin(index.PhaseRead).End()
	m := entryOf(e)
	b, err := s.r.ReadAll(&m, buf)
	s.p.Mail(len(b))
	s.unread.note(e, err)
	return b, err
}

// Stat is one fstatat: size in bytes and modification time.
func (s *Maildir) Stat(e *index.Entry) (size, mtimeSec int64, err error) {
	defer s.p.Begin(index.PhaseRead).End()
	m := entryOf(e)
	size, ns, err := s.r.Stat(&m)
	return size, floorSec(ns), err
}

// Sizes reads the file and returns its bytes as stored and with CRLF line
// ends, holding a buffer of it at a time.
func (s *Maildir) Sizes(e *index.Entry, buf []byte) (size, vsize int64, err error) {
	m := entryOf(e)
	if cap(buf) == 0 {
		buf = make([]byte, 0, 256<<10)
	}
	size, vsize, err = s.r.Sizes(&m, buf)
	s.unread.note(e, err)
	return size, vsize, err
}

func floorSec(ns int64) int64 { return time.Unix(0, ns).Unix() }

// UIDList is the path of Dovecot's list of UIDs, if there is one and it is a
// regular file.
func (s *Maildir) UIDList() (string, bool) {
	path := filepath.Join(s.path, "dovecot-uidlist")
	info, err := s.opt.FS.Stat(path)
	return path, err == nil && !info.Dir && !info.Odd
}

// Keywords names the bits of Entry.Keywords, letter 'a' for bit 0, as
// dovecot-keywords has them.
func (s *Maildir) Keywords() (map[byte]string, error) { return maildir.Keywords(s.path) }

// Unreadable tells how many messages could not be read so far for another
// reason than that they have gone, and the errors of the first ones, by name.
func (s *Maildir) Unreadable() (first []error, n int) { return s.unread.list() }

// Record makes later calls record what they are part of, see index.Recorder.
func (s *Maildir) Record(p *index.Phases) { s.p = p }

// Pause closes the directories, so that the file system can be unmounted, and
// Resume opens them again. Nothing else may be called in between, nor beside
// either. Both do nothing after Close.
func (s *Maildir) Pause() error {
	if s.shut {
		return nil
	}
	return s.r.Close()
}

// Resume is the other half of Pause.
func (s *Maildir) Resume() error {
	if s.shut {
		return nil
	}
	r, err := maildir.Open(s.path, s.o)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	s.r = r
	return nil
}

// Close closes the directories.
func (s *Maildir) Close() error { s.shut = true; return s.r.Close() }

// Arrived makes entries of what has come since a listing with digest known, when
// nothing else has happened, see index.Newcomer.
func (s *Maildir) Arrived(l *index.Listing, known index.Digest, limit int) bool {
	scan := l.Private.(*maildir.Scan)
	at, ok := scan.Newest(maildir.Digest(known), limit)
	if !ok {
		return false
	}
	l.Entries = slices.Grow(l.Entries[:0], len(at))[:len(at)]
	for i, p := range at {
		e := scan.EntryAt(p.At, p.Dir)
		setEntry(&l.Entries[i], &e, i)
	}
	return true
}
