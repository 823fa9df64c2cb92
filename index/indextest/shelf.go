package indextest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
)

// A Shelf is mail in memory whose changes all go through it: a Source that is
// an index.Journal, an index.Newcomer and an index.Namer. It is not for
// concurrent changes; reading beside reading is safe.
type Shelf struct {
	Mute  bool // messages cannot be read: an error, not one of a message that has gone
	Lists int  // how often all of it was listed, by List or Fill

	msgs   []*shelfMail          // in order of arrival; nil: expunged
	at     map[string]*shelfMail // by key
	digest index.Digest
	past   []index.Digest // before event i
	events []string       // keys
	born   map[string]int // event of each key's arrival
	serial int
}

type shelfMail struct {
	place int
	e     index.Entry
	text  string
}

// ErrMute is what reading from a mute Shelf gives.
var ErrMute = errors.New("indextest: this shelf is not to be read")

// NewShelf makes an empty one.
func NewShelf() *Shelf { return &Shelf{at: map[string]*shelfMail{}, born: map[string]int{}} }

// Deliver adds a message with that INTERNALDATE and returns its key.
func (s *Shelf) Deliver(text string, date int64, flags index.Flags, keywords uint32) string {
	s.serial++
	key := fmt.Sprintf("%09d.shelf", s.serial)
	m := &shelfMail{place: len(s.msgs), text: text,
		e: index.Entry{Key: key, Flags: flags, Keywords: keywords, Dir: index.DirNone, Size: int64(len(text)), VSize: int64(len(text) + strings.Count(text, "\n")), MTime: date, MTimeOK: true, Off: -1}}
	s.born[key] = len(s.events)
	s.event(key)
	s.msgs = append(s.msgs, m)
	s.at[key] = m
	s.sum(m, 1)
	return key
}

// SetFlags changes a message that is there.
func (s *Shelf) SetFlags(key string, flags index.Flags, keywords uint32) {
	m := s.at[key]
	s.event(key)
	s.sum(m, ^uint64(0))
	m.e.Flags, m.e.Keywords = flags, keywords
	s.sum(m, 1)
}

// Expunge takes a message away.
func (s *Shelf) Expunge(key string) {
	m := s.at[key]
	s.event(key)
	s.sum(m, ^uint64(0))
	s.msgs[m.place] = nil
	delete(s.at, key)
}

// Keys are those of the messages, in order of arrival.
func (s *Shelf) Keys() (keys []string) {
	for _, m := range s.msgs {
		if m != nil {
			keys = append(keys, m.e.Key)
		}
	}
	return keys
}

// Text is a message.
func (s *Shelf) Text(key string) string { return s.at[key].text }

// Forget makes the shelf unable to tell what happened before now.
func (s *Shelf) Forget() {
	for i := range s.past {
		s.past[i].N = -1
	}
}

// Plain is the shelf without what a source may do beside its duty.
func (s *Shelf) Plain() index.Source { return plain{s} }

type plain struct{ index.Source }

func (s *Shelf) event(key string) {
	s.past = append(s.past, s.digest)
	s.events = append(s.events, key)
}

// sum adds a message to the digest, or with sign -1 takes it out.
func (s *Shelf) sum(m *shelfMail, sign uint64) {
	h := xxhash.Sum64String(fmt.Sprint(m.e.Key, " ", m.e.Flags, m.e.Keywords))
	s.digest.Sum[0] += sign * h
	s.digest.Sum[1] += sign * h * (h | 1)
	s.digest.N += int(int64(sign))
}

// Kind implements index.Source.
func (s *Shelf) Kind() string { return "shelf" }

// Path implements index.Source.
func (s *Shelf) Path() string { return "shelf" }

// State implements index.Source.
func (s *Shelf) State() (index.State, error) {
	return index.State{A: uint64(len(s.events)), B: 1}, nil
}

// List implements index.Source.
func (s *Shelf) List(l *index.Listing) error {
	if err := s.Glance(l); err != nil {
		return err
	}
	s.Fill(l)
	return nil
}

// Glance implements index.Glancer.
func (s *Shelf) Glance(l *index.Listing) error {
	l.Digest, l.Entries, l.Problems = s.digest, l.Entries[:0], nil
	return nil
}

// Fill implements index.Glancer.
func (s *Shelf) Fill(l *index.Listing) {
	s.Lists++
	l.Entries = l.Entries[:0]
	for _, m := range s.msgs {
		if m != nil {
			l.Entries = append(l.Entries, m.e)
		}
	}
}

// since finds the event before which the digest was that one, and what was
// touched from there on.
func (s *Shelf) since(known index.Digest, limit int) (from int, keys []string, ok bool) {
	if known == s.digest {
		return len(s.events), nil, true
	}
	seen := map[string]bool{}
	for i := len(s.past) - 1; i >= 0 && len(keys) <= limit; i-- {
		if k := s.events[i]; !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
		if s.past[i] == known {
			return i, keys, len(keys) <= limit
		}
	}
	return 0, nil, false
}

// Since implements index.Journal.
func (s *Shelf) Since(l *index.Listing, known index.Digest, limit int) (gone []string, ok bool) {
	from, keys, ok := s.since(known, limit)
	if !ok {
		return nil, false
	}
	l.Entries = l.Entries[:0]
	for _, k := range keys {
		if m := s.at[k]; m != nil {
			l.Entries = append(l.Entries, m.e)
		} else if s.born[k] < from {
			gone = append(gone, k)
		}
	}
	s.Order(l.Entries)
	return gone, true
}

// Arrived implements index.Newcomer.
func (s *Shelf) Arrived(l *index.Listing, known index.Digest, limit int) bool {
	from, keys, ok := s.since(known, limit)
	if !ok {
		return false
	}
	l.Entries = l.Entries[:0]
	for _, k := range keys {
		m := s.at[k]
		if m == nil || s.born[k] < from {
			return false
		}
		l.Entries = append(l.Entries, m.e)
	}
	return true
}

// Order implements index.Source.
func (s *Shelf) Order(entries []index.Entry) {
	slices.SortFunc(entries, func(a, b index.Entry) int { return cmp.Compare(a.Key, b.Key) })
}

// NameEntry implements index.Namer.
func (s *Shelf) NameEntry(e *index.Entry, key []byte, flags index.Flags, dir uint8, keywords uint32, buf []byte) []byte {
	*e = index.Entry{Key: string(key), Flags: flags, Dir: dir, Keywords: keywords, Size: -1, VSize: -1, Off: -1}
	if m := s.at[e.Key]; m != nil {
		*e = m.e
	}
	return buf
}

// ReadHeader implements index.Source.
func (s *Shelf) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	b, err := s.ReadMessage(e, buf)
	if i := strings.Index(string(b), "\n\n"); i >= 0 {
		b = b[:i+2]
	}
	return b, err
}

// ReadMessage implements index.Source.
func (s *Shelf) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	if s.Mute {
		return nil, ErrMute
	}
	m, ok := s.at[e.Key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return append(buf[:0], m.text...), nil
}

// Stat implements index.Source.
func (s *Shelf) Stat(e *index.Entry) (size, mtimeSec int64, err error) {
	if s.Mute {
		return 0, 0, ErrMute
	}
	m, ok := s.at[e.Key]
	if !ok {
		return 0, 0, fs.ErrNotExist
	}
	return m.e.Size, m.e.MTime, nil
}

// UIDList implements index.Source.
func (s *Shelf) UIDList() (string, bool) { return "", false }

// Close implements index.Source.
func (s *Shelf) Close() error { return nil }
