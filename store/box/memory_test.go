package box

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/rfc5322"
	"mailbench/store"
)

// memory is the smallest Format: mail in memory, and with spool in a file that
// is a log of all changes.
type memory struct {
	spool bool
	lazy  bool                        // a liar: writes what it has acknowledged with a later call
	fail  func(m store.Message) error // asked before each message
	calls atomic.Int64                // of Append
	reads atomic.Int64                // of mail, by whoever
}

func newMemory() *memory { return &memory{} }

func (m *memory) Name() string {
	switch {
	case m.lazy:
		return "lazy"
	case m.spool:
		return "spool"
	}
	return "memory"
}

func (m *memory) Open(cfg store.Config) (store.Store, error) {
	s := &memoryStore{f: m, at: map[string]int{}}
	if m.spool {
		if err := s.open(cfg); err != nil {
			return nil, err
		}
	}
	return s, nil
}

type memoryStore struct {
	f    *memory
	mu   sync.Mutex
	msgs []memoryMsg // in the order of append; a removed one has no key
	at   map[string]int
	next int
	sum  [2]uint64
	log  fsys.File
	owed []byte // lazy: not written yet
}

// A change is a line of the log, behind its checksum.
type change struct {
	Key  string
	Gone bool
	Set  bool
	Msg  store.Message
}

func (s *memoryStore) open(cfg store.Config) (err error) {
	if err := cfg.FS.MkdirAll(cfg.Dir, 0o700); err != nil {
		return err
	}
	if s.log, err = cfg.FS.OpenFile(filepath.Join(cfg.Dir, "spool"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	size, err := s.log.Size()
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if _, err := s.log.ReadAt(b, 0); size > 0 && err != nil && err != io.EOF {
		return err
	}
	good := 0
	for line := range bytes.Lines(b) {
		var c change
		if len(line) < 18 || line[len(line)-1] != '\n' || fmt.Sprintf("%016x ", xxhash.Sum64(line[17:])) != string(line[:17]) || json.Unmarshal(line[17:], &c) != nil {
			break
		}
		good += len(line)
		s.apply(c)
	}
	if err := s.log.Truncate(int64(good)); err != nil {
		return err
	}
	if err := s.log.Sync(); err != nil {
		return err
	}
	return cfg.FS.SyncDir(cfg.Dir)
}

// write puts changes into the log and into memory.
func (s *memoryStore) write(cs []change) error {
	if s.log != nil && len(cs) > 0 {
		var b bytes.Buffer
		for _, c := range cs {
			line, err := json.Marshal(c)
			if err != nil {
				return err
			}
			line = append(line, '\n')
			fmt.Fprintf(&b, "%016x %s", xxhash.Sum64(line), line)
		}
		s.owed = append(s.owed, b.Bytes()...)
		if s.f.lazy && len(s.owed) < 50_000 {
			b.Reset()
		} else {
			b = *bytes.NewBuffer(s.owed)
			s.owed = nil
		}
		if _, err := s.log.Write(b.Bytes()); err != nil {
			return err
		}
		if err := s.log.Sync(); err != nil {
			return err
		}
	}
	for _, c := range cs {
		s.apply(c)
	}
	return nil
}

func (s *memoryStore) apply(c change) {
	switch i, ok := s.at[c.Key]; {
	case !ok && (c.Gone || c.Set):
	case c.Gone:
		s.count(s.msgs[i], ^uint64(0))
		s.msgs[i] = memoryMsg{}
		delete(s.at, c.Key)
	case c.Set:
		s.count(s.msgs[i], ^uint64(0))
		s.msgs[i].Flags, s.msgs[i].Keywords = c.Msg.Flags, c.Msg.Keywords
		s.count(s.msgs[i], 1)
	default:
		fmt.Sscanf(c.Key, "m%d", &s.next)
		mm := memoryMsg{c.Key, c.Msg}
		s.at[mm.key] = len(s.msgs)
		s.msgs = append(s.msgs, mm)
		s.count(mm, 1)
	}
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
}

func (s *memoryStore) Append(msgs []store.Message) (keys []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.f.calls.Add(1)
	var cs []change
	for _, m := range msgs {
		if s.f.fail != nil {
			if err = s.f.fail(m); err != nil {
				break
			}
		}
		m.Body = slices.Clone(m.Body)
		keys = append(keys, fmt.Sprintf("m%08d", s.next+1+len(keys)))
		cs = append(cs, change{Key: keys[len(keys)-1], Msg: m})
	}
	if failed := s.write(cs); failed != nil {
		return nil, failed
	}
	return keys, err
}

func (s *memoryStore) SetFlags(changes []store.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var cs []change
	for _, c := range changes {
		cs = append(cs, change{Key: c.Key, Set: true, Msg: store.Message{Flags: c.Flags, Keywords: c.Keywords}})
	}
	return s.write(cs)
}

func (s *memoryStore) Expunge(keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var cs []change
	for _, k := range keys {
		cs = append(cs, change{Key: k, Gone: true})
	}
	return s.write(cs)
}

func (s *memoryStore) Purge() error           { return nil }
func (s *memoryStore) Source() index.Source   { return (*memorySource)(s) }
func (s *memoryStore) Check() iter.Seq[error] { return func(func(error) bool) {} }
func (s *memoryStore) Close() error {
	if s.log != nil {
		return s.log.Close()
	}
	return nil
}

type memorySource memoryStore

func (s *memorySource) Kind() string { return "memory" }
func (s *memorySource) Path() string { return "memory" }

func (s *memorySource) State() (index.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return index.State{A: s.sum[0], B: s.sum[1], C: uint64(len(s.at))}, nil
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
	s.f.reads.Add(1)
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
