package box

import (
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	"mailbench/store"
)

// memory is the smallest Format: mail in memory, gone with the Store.
type memory struct{ s *memoryStore }

func newMemory() *memory { return &memory{s: &memoryStore{at: map[string]int{}}} }

func (m *memory) Name() string                           { return "memory" }
func (m *memory) Open(store.Config) (store.Store, error) { return m.s, nil }

type memoryStore struct {
	mu    sync.Mutex
	msgs  []memoryMsg // in the order of append; a removed one has no key
	at    map[string]int
	next  int
	tick  uint64
	sum   [2]uint64
	fail  func(m store.Message) error // asked before each message
	calls int
}

type memoryMsg struct {
	key string
	store.Message
}

func (m memoryMsg) hash() [2]uint64 {
	h := xxhash.Sum64String(fmt.Sprint(m.key, " ", m.Flags, " ", m.Keywords))
	return [2]uint64{h, h * h}
}

func (s *memoryStore) count(m memoryMsg, sign uint64) {
	h := m.hash()
	s.sum[0] += sign * h[0]
	s.sum[1] += sign * h[1]
	s.tick++
}

func (s *memoryStore) Append(msgs []store.Message) (keys []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	for _, m := range msgs {
		if s.fail != nil {
			if err := s.fail(m); err != nil {
				return keys, err
			}
		}
		s.next++
		m.Body = slices.Clone(m.Body)
		mm := memoryMsg{fmt.Sprintf("m%08d", s.next), m}
		s.at[mm.key] = len(s.msgs)
		s.msgs = append(s.msgs, mm)
		s.count(mm, 1)
		keys = append(keys, mm.key)
	}
	return keys, nil
}

func (s *memoryStore) SetFlags(changes []store.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		if i, ok := s.at[c.Key]; ok {
			s.count(s.msgs[i], ^uint64(0))
			s.msgs[i].Flags, s.msgs[i].Keywords = c.Flags, c.Keywords
			s.count(s.msgs[i], 1)
		}
	}
	return nil
}

func (s *memoryStore) Expunge(keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		if i, ok := s.at[k]; ok {
			s.count(s.msgs[i], ^uint64(0))
			s.msgs[i] = memoryMsg{}
			delete(s.at, k)
		}
	}
	return nil
}

func (s *memoryStore) Purge() error           { return nil }
func (s *memoryStore) Source() index.Source   { return (*memorySource)(s) }
func (s *memoryStore) Check() iter.Seq[error] { return func(func(error) bool) {} }
func (s *memoryStore) Close() error           { return nil }

type memorySource memoryStore

func (s *memorySource) Kind() string { return "memory" }
func (s *memorySource) Path() string { return "memory" }

func (s *memorySource) State() (index.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return index.State{A: s.tick}, nil
}

func (s *memorySource) List(l *index.Listing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.Entries, l.Digest = l.Entries[:0], index.Digest{Sum: s.sum, N: len(s.at)}
	for _, m := range s.msgs {
		if m.key != "" {
			l.Entries = append(l.Entries, m.entry())
		}
	}
	return nil
}

func (m memoryMsg) entry() index.Entry {
	return index.Entry{Key: m.key, Dir: index.DirNone, Flags: m.Flags, Keywords: m.Keywords, Size: int64(len(m.Body)), VSize: -1, MTime: m.Date, MTimeOK: true, Off: -1}
}

func (s *memorySource) Order(es []index.Entry) {
	slices.SortFunc(es, func(a, b index.Entry) int { return strings.Compare(a.Key, b.Key) })
}

func (s *memorySource) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[e.Key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return append(buf[:0], s.msgs[i].Body...), nil
}

func (s *memorySource) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	b, err := s.ReadMessage(e, buf)
	if end := rfc5322.HeaderEnd(b, 0); err == nil && end >= 0 {
		b = b[:end]
	}
	return b, err
}

func (s *memorySource) Stat(e *index.Entry) (int64, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[e.Key]
	if !ok {
		return 0, 0, fs.ErrNotExist
	}
	return int64(len(s.msgs[i].Body)), s.msgs[i].Date, nil
}

func (s *memorySource) NameEntry(e *index.Entry, key []byte, flags index.Flags, dir uint8, keywords uint32, buf []byte) []byte {
	buf = append(buf[:0], key...)
	*e = index.Entry{Key: string(buf), Dir: dir, Flags: flags, Keywords: keywords, Size: -1, VSize: -1, Off: -1}
	return buf
}

func (s *memorySource) UIDList() (string, bool) { return "", false }
func (s *memorySource) Close() error            { return nil }
