package sqlstore

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"time"

	"mailbench/store"
	"mailbench/store/catalog"
)

// A batch is the rows of one Append, made before its transaction begins.
type batch struct {
	letters []letter
	parts   []*shared // by hash, each once
	values  []*shared // by hash, each once
	places  []place
	fields  []field
	names   []string // of header fields, each once
}

// A letter is one message of a batch.
type letter struct {
	uid, phys         int64
	size, vsize, date int64
	flags, keywords   int64
}

// A shared is a row that messages share: a part, a header value.
type shared struct {
	hash [sha256.Size]byte
	data []byte
	own  int64 // id of the row if nobody has stored these bytes before
	id   int64 // id of the row that has them
}

// A place is a row of mailbench_partlists.
type place struct {
	letter       int
	order, depth int
	header       bool
	part         *shared
}

// A field is a row of mailbench_header.
type field struct {
	letter int
	name   int // in batch.names
	value  *shared
}

// newBatch splits the messages and makes what they share one. Nothing is
// copied but header values. O(bytes).
func newBatch(msgs []store.Message, h headers, now int64) *batch {
	b := &batch{letters: make([]letter, len(msgs))}
	parts, values := map[[sha256.Size]byte]*shared{}, map[[sha256.Size]byte]*shared{}
	names := map[string]int{}
	var segments []segment
	type pair struct {
		name  int
		value *shared
	}
	seen := map[pair]bool{}
	for i := range msgs {
		m := &msgs[i]
		l := &b.letters[i]
		l.size, l.vsize = int64(len(m.Body)), crlfSize(m.Body)
		l.flags, l.keywords = int64(m.Flags&catalog.AllFlags), int64(m.Keywords)
		l.date = catalog.DateOf(m, func() time.Time { return time.Unix(now, 0) })
		segments = split(segments[:0], m.Body)
		header := 0 // bytes
		for n, s := range segments {
			b.places = append(b.places, place{i, n, s.depth, s.header, intern(parts, &b.parts, s.bytes)})
			if s.header && s.depth == 0 {
				header += len(s.bytes)
			}
		}
		clear(seen)
		h.fields(m.Body[:header], func(name string, value []byte) {
			n, ok := names[name]
			if !ok {
				n = len(b.names)
				names[name] = n
				b.names = append(b.names, name)
			}
			p := pair{n, intern(values, &b.values, value)}
			if !seen[p] {
				seen[p] = true
				b.fields = append(b.fields, field{i, n, p.value})
			}
		})
	}
	// Two transactions that take the same rows in the same order cannot wait
	// for each other.
	byHash := func(a, b *shared) int { return bytes.Compare(a.hash[:], b.hash[:]) }
	slices.SortFunc(b.parts, byHash)
	slices.SortFunc(b.values, byHash)
	return b
}

func intern(known map[[sha256.Size]byte]*shared, all *[]*shared, data []byte) *shared {
	hash := sha256.Sum256(data)
	s := known[hash]
	if s == nil {
		s = &shared{hash: hash, data: data}
		known[hash] = s
		*all = append(*all, s)
	}
	return s
}

// crlfSize is the size of b with CR LF for each line end.
func crlfSize(b []byte) int64 {
	n := int64(len(b))
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return n
		}
		if at += i; at == 0 || b[at-1] != '\r' {
			n++
		}
		at++
	}
}

// number gives the rows their ids: the Store's own, from first on.
func (b *batch) number(first int64) {
	for i := range b.letters {
		b.letters[i].phys = first
		first++
	}
	for _, all := range [][]*shared{b.parts, b.values} {
		for _, s := range all {
			s.own = first
			first++
		}
	}
}

// rows is how many ids number gives.
func (b *batch) rows() int { return len(b.letters) + len(b.parts) + len(b.values) }
