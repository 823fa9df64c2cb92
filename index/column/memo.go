package column

import (
	"github.com/dgraph-io/ristretto/v2"
)

// A memo keeps decoded answers of an open handle, bounded by their bytes. It
// is made when there is something to keep, so that a handle that asks once
// pays nothing.
type memo struct {
	bound int64
	least int64
	c     *ristretto.Cache[string, kept]
}

// kept is a value and the messages that it is true of.
type kept struct {
	set set
	v   any
}

func (m *memo) get(name string, s set) any {
	if m.c == nil {
		return nil
	}
	if k, ok := m.c.Get(name); ok && k.set == s {
		return k.v
	}
	return nil
}

// memoAtLeast is the size from which an answer is kept: a smaller one decodes
// in the 0.2 ms that making a ristretto cache takes.
const memoAtLeast = 256 << 10

// put keeps v; whoever holds it must not change it.
func (m *memo) put(name string, s set, v any, bytes int64) {
	if bytes > m.bound || bytes < m.least {
		return
	}
	if m.c == nil {
		c, err := ristretto.NewCache(&ristretto.Config[string, kept]{NumCounters: 1000, MaxCost: m.bound, BufferItems: 64, IgnoreInternalCost: true})
		if err != nil {
			panic("column: ristretto options: " + err.Error()) // constants: cannot happen
		}
		m.c = c
	}
	m.c.Set(name, kept{s, v}, bytes)
	m.c.Wait() // sets are buffered: without it the next get might miss
}

func (m *memo) close() {
	if m.c != nil {
		m.c.Close()
		m.c = nil
	}
}
