package index

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// memSource is mail in memory whose clock is a counter.
type memSource struct {
	msgs   map[string]*memMsg
	tick   uint64
	racy   bool
	lists  int
	onList func(l *Listing) // after each listing
	uidl   string
}

type memMsg struct {
	flags    Flags
	keywords uint32
	dir      uint8
	text     string
}

func newMemSource() *memSource { return &memSource{msgs: map[string]*memMsg{}, tick: 1} }

func (m *memSource) deliver(key string) {
	m.msgs[key] = &memMsg{dir: DirNew, text: "Message-ID: <" + key + "@example.net>\nSubject: " + key + "\nDate: 1 Jan 2020 00:00:00 +0000\n\nx\n"}
	m.tick++
}

func (m *memSource) Kind() string { return "memory" }
func (m *memSource) Path() string { return "memory" }
func (m *memSource) State() (State, error) {
	return State{A: m.tick, Racy: m.racy}, nil
}

func (m *memSource) List(l *Listing) error {
	m.lists++
	l.Entries = l.Entries[:0]
	l.Digest = Digest{}
	for k, v := range m.msgs {
		l.Entries = append(l.Entries, Entry{Key: k, Dir: v.dir, Folder: Folder(v.dir), Flags: v.flags, Keywords: v.keywords, Size: -1, VSize: -1, Off: -1})
		h := xxhash.Sum64String(fmt.Sprint(k, " ", v.dir, v.flags, v.keywords))
		l.Digest.Sum[0] += h
		l.Digest.Sum[1] += h * h
		l.Digest.N++
	}
	if m.onList != nil {
		m.onList(l)
	}
	return nil
}

func (m *memSource) Order(es []Entry) {
	slices.SortFunc(es, func(a, b Entry) int { return cmp.Compare(a.Key, b.Key) })
}

func (m *memSource) ReadHeader(e *Entry, buf []byte) ([]byte, error) {
	b, err := m.ReadMessage(e, buf)
	if i := strings.Index(string(b), "\n\n"); i >= 0 {
		b = b[:i+2]
	}
	return b, err
}

func (m *memSource) ReadMessage(e *Entry, buf []byte) ([]byte, error) {
	v, ok := m.msgs[e.Key]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return append(buf[:0], v.text...), nil
}

func (m *memSource) Stat(e *Entry) (int64, int64, error) {
	v, ok := m.msgs[e.Key]
	if !ok {
		return 0, 0, fs.ErrNotExist
	}
	return int64(len(v.text)), 0, nil
}
func (m *memSource) UIDList() (string, bool) { return m.uidl, m.uidl != "" }
func (m *memSource) Close() error            { return nil }

// mutate changes the source at random and returns what it did.
func (m *memSource) mutate(r *rand.Rand) string {
	keys := make([]string, 0, len(m.msgs))
	for k := range m.msgs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	m.tick++
	op := r.IntN(5)
	if len(keys) == 0 {
		op = 0
	}
	switch op {
	case 0, 1:
		for range 1 + r.IntN(3) {
			m.deliver(fmt.Sprintf("%d.M%dP%d.host,S=%d", 1_600_000_000+r.IntN(1e6), r.IntN(1e6), r.IntN(100), r.IntN(9000)))
		}
		return "deliver"
	case 2:
		v := m.msgs[keys[r.IntN(len(keys))]]
		v.flags, v.dir = Flags(r.IntN(64)), DirCur
		if r.IntN(3) == 0 {
			v.keywords = r.Uint32N(8)
		}
		return "flag"
	case 3:
		m.msgs[keys[r.IntN(len(keys))]].dir = DirCur
		return "move"
	}
	delete(m.msgs, keys[r.IntN(len(keys))])
	return "expunge"
}
