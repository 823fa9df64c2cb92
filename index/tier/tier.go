package tier

import (
	"fmt"
	"strings"

	"mailbench/index"
)

// Kinds are the kinds of tier that New makes.
var Kinds = []string{"none", "lru", "ristretto", "clairvoyant"}

// Overhead is what a record counts beside its bytes: about what a slot of a
// map and an element of a list take.
const Overhead = 128

// A Tier keeps records of one mailbox at a time. It is not for concurrent use.
type Tier struct {
	kind  string
	bytes int64
	keep  keeper
	lists [][]string // lists of fields; a key has a place in it
	stats Stats
}

// Stats count messages since New or ResetStats.
type Stats struct {
	Hits   int64 // answered from the tier
	Misses int64 // asked of the design, messages that are not there too
}

// HitShare is the share of hits, 0 when nothing was asked.
func (s Stats) HitShare() float64 {
	if s.Hits+s.Misses == 0 {
		return 0
	}
	return float64(s.Hits) / float64(s.Hits+s.Misses)
}

// A keeper is one kind's way to keep records.
type keeper interface {
	get(key uint64) []byte // nil: not kept
	add(key uint64, record []byte)
	remove(key uint64)
	clear()
	bytes() int64 // records with their Overhead
	wait()
	close()
}

// New makes a tier of a kind that holds at most bytes. Close it after use.
func New(kind string, bytes int64) (*Tier, error) {
	t := &Tier{kind: kind, bytes: bytes}
	if bytes <= 0 {
		return nil, fmt.Errorf("tier: a bound of %d bytes", bytes)
	}
	var err error
	switch kind {
	case "none":
		t.keep = nothing{}
	case "lru":
		t.keep, err = newLRU(bytes)
	case "ristretto":
		t.keep, err = newRistretto(bytes)
	case "clairvoyant":
		t.keep = newClairvoyant(bytes)
	default:
		return nil, fmt.Errorf("tier: no kind %q (there are %s)", kind, strings.Join(Kinds, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("tier: %s: %w", kind, err)
	}
	return t, nil
}

// Stats tells how often it helped.
func (t *Tier) Stats() Stats { return t.stats }

// ResetStats begins to count anew.
func (t *Tier) ResetStats() { t.stats = Stats{} }

// Bytes is what the records take, with their Overhead.
func (t *Tier) Bytes() int64 { return t.keep.bytes() }

// Wait returns when every record that was given is kept or refused: call it
// before measuring.
func (t *Tier) Wait() { t.keep.wait() }

// Close lets go of the records and ends the tier's goroutines.
func (t *Tier) Close() { t.keep.close() }

// A Call is one call of Fetch.
type Call struct {
	UIDs   []uint32
	Fields []string
}

// Foresee tells a clairvoyant tier every call to come, from the next one on.
// A call that was not foretold keeps nothing. Other kinds have no use for it.
func (t *Tier) Foresee(calls []Call) {
	c, ok := t.keep.(*clairvoyant)
	if !ok {
		return
	}
	var keys []uint64
	for _, call := range calls {
		list := t.list(call.Fields)
		for _, uid := range call.UIDs {
			keys = append(keys, key(list, uid))
		}
	}
	c.foresee(keys)
}

// list numbers a list of fields.
func (t *Tier) list(fields []string) int {
next:
	for i, l := range t.lists {
		if len(l) != len(fields) {
			continue
		}
		for j := range l {
			if l[j] != fields[j] && !strings.EqualFold(l[j], fields[j]) {
				continue next
			}
		}
		return i
	}
	own := make([]string, len(fields))
	for i, f := range fields {
		own[i] = strings.Clone(f)
	}
	t.lists = append(t.lists, own)
	return len(t.lists) - 1
}

func key(list int, uid uint32) uint64 { return uint64(list)<<32 | uint64(uid) }

// forget drops every record of a message.
func (t *Tier) forget(uid uint32) {
	for list := range t.lists {
		t.keep.remove(key(list, uid))
	}
}

// Wrap puts t, emptied, in front of mb, which must be an index.Fetcher.
func (t *Tier) Wrap(mb index.Mailbox) (*Mailbox, error) {
	f, ok := mb.(index.Fetcher)
	if !ok {
		return nil, fmt.Errorf("tier: %T does not fetch", mb)
	}
	t.keep.clear()
	return &Mailbox{Mailbox: mb, below: f, tier: t, known: mb.Status()}, nil
}

// nothing is the kind none.
type nothing struct{}

func (nothing) get(uint64) []byte  { return nil }
func (nothing) add(uint64, []byte) {}
func (nothing) remove(uint64)      {}
func (nothing) clear()             {}
func (nothing) bytes() int64       { return 0 }
func (nothing) wait()              {}
func (nothing) close()             {}
