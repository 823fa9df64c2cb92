package tier

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mailbench/index"
)

// box is a mailbox in memory whose values tell which message they are of.
type box struct {
	index.Mailbox // nil: the rest is not called
	there         map[uint32]bool
	status        index.Status
	vanished      map[uint32]uint64 // UID -> MODSEQ
	pending       func(*box) index.Changes
	size          func(uid uint32) int
	asked         int // messages
}

func newBox(n int) *box {
	b := &box{there: map[uint32]bool{}, vanished: map[uint32]uint64{}, status: index.Status{UIDValidity: 1, HighestModSeq: 1}}
	for u := range uint32(n) {
		b.there[u+1] = true
	}
	b.count()
	return b
}

func (b *box) count() { b.status.Messages = len(b.there) }

func (b *box) Status() index.Status { return b.status }

func (b *box) Sync() (index.Changes, error) {
	var c index.Changes
	if b.pending != nil {
		c = b.pending(b)
		b.pending = nil
		b.count()
	}
	return c, nil
}

// value is a field's value, nil for the field "Absent".
func (b *box) value(uid uint32, field string) []byte {
	switch strings.ToLower(field) {
	case "absent":
		return nil
	case "empty":
		return []byte{}
	}
	v := fmt.Sprintf("%d/%d/%s ", b.status.UIDValidity, uid, strings.ToLower(field))
	if b.size != nil {
		v += strings.Repeat("x", b.size(uid))
	}
	return []byte(v)
}

func (b *box) Fetch(uids []uint32, fields []string, fn func(uint32, [][]byte) error) error {
	for _, uid := range uids {
		b.asked++
		if !b.there[uid] {
			continue
		}
		var values [][]byte
		for _, f := range fields {
			values = append(values, b.value(uid, f))
		}
		if err := fn(uid, values); err != nil {
			return err
		}
		for _, v := range values { // valid until fn returns
			clear(v)
		}
	}
	return nil
}

// modBox is a box that is a Changer.
type modBox struct {
	*box
	fail error
}

func (b modBox) ChangesSince(modseq uint64, _ func(index.Message) bool, vanished func(uint32) bool) error {
	if b.fail != nil {
		return b.fail
	}
	for uid, m := range b.vanished {
		if m > modseq && !vanished(uid) {
			break
		}
	}
	return nil
}

// expunge makes a pending change: these messages go.
func expunge(uids ...uint32) func(*box) index.Changes {
	return func(b *box) index.Changes {
		b.status.HighestModSeq++
		for _, u := range uids {
			delete(b.there, u)
			b.vanished[u] = b.status.HighestModSeq
		}
		return index.Changes{Removed: len(uids)}
	}
}

// fetched is what Fetch gives, as text.
func fetched(t *testing.T, f index.Fetcher, uids []uint32, fields []string) string {
	t.Helper()
	var out strings.Builder
	if err := f.Fetch(uids, fields, func(uid uint32, values [][]byte) error {
		fmt.Fprintf(&out, "%d:", uid)
		for _, v := range values {
			fmt.Fprintf(&out, " %q %v", v, v == nil)
		}
		out.WriteByte('\n')
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// seeded is a source of randomness whose seed is told.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	s := rand.Uint64()
	t.Logf("seed %d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// opened makes a tier in front of mb.
func opened(t *testing.T, kind string, bytes int64, mb index.Mailbox) (*Tier, *Mailbox) {
	t.Helper()
	tr, err := New(kind, bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	m, err := tr.Wrap(mb)
	if err != nil {
		t.Fatal(err)
	}
	return tr, m
}
