package pebbleidx

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"mailbench/index"
)

// getState reads the state; there is false when there is none, as in an engine
// that a crash left half built.
func getState(db pebble.Reader) (st state, there bool, err error) {
	b, closer, err := db.Get([]byte{keyState})
	if errors.Is(err, pebble.ErrNotFound) {
		return st, false, nil
	}
	if err != nil {
		return st, false, err
	}
	defer closer.Close()
	if !st.decode(b) {
		return st, false, &index.CorruptError{What: "state"}
	}
	return st, true, nil
}

// refresh reads the state anew and drops the rows if it is another one. Damage
// is for the next Sync.
func (m *mailbox) refresh() error {
	m.engine.lookUp()
	var st state
	there := false
	err := m.engine.read(func(db *pebble.DB) (err error) {
		st, there, err = getState(db)
		return err
	})
	switch {
	case errors.Is(err, errNone):
		there = false
	case errors.Is(err, index.ErrCorrupt):
		m.have, m.damaged, m.table = false, true, nil
		return nil
	case err != nil:
		return err
	}
	if st != m.st || there != m.have {
		m.table = nil
	}
	m.st, m.have, m.damaged = st, there, false
	return nil
}

// spoiled removes an index that cannot be read, so that the next Sync, of any
// process, builds it anew.
func (m *mailbox) spoiled(err error) error {
	if !errors.Is(err, index.ErrCorrupt) {
		return err
	}
	m.have, m.damaged, m.table = false, true, nil
	_ = m.engine.destroy() // should it fail, the damage is found again
	return err
}

// load makes table the rows of the state on disk. O(n).
func (m *mailbox) load() error {
	if err := m.refresh(); err != nil {
		return err
	}
	if m.damaged {
		return m.spoiled(&index.CorruptError{File: m.cfg.Dir, What: "it cannot be opened"})
	}
	if m.table != nil {
		return nil
	}
	if !m.have {
		m.table = index.NewTable(0, 1, 0, 0)
		return nil
	}
	var t *index.Table
	st := m.st
	var n int64
	err := m.engine.read(func(db *pebble.DB) error {
		if now, there, err := getState(db); err != nil || !there || now != st {
			return errors.Join(err, index.ErrStale)
		}
		t = index.NewTable(st.UIDValidity, st.UIDNext, st.HighestModSeq, min(st.Messages, 1<<20))
		bad := &index.CorruptError{File: m.cfg.Dir, What: "row"}
		err := scan(db, keyMessage, func(key, value []byte) error {
			n++
			if !addRow(t, key, value) {
				return bad
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = scan(db, keyVanished, func(key, _ []byte) error {
			if len(key) != 13 || t.AppendVanished(be.Uint32(key[9:]), be.Uint64(key[1:])) != nil {
				return bad
			}
			return nil
		})
		if err == nil && t.Len() != st.Messages {
			bad.What = "number of messages"
			err = bad
		}
		if err == nil && sumRows(t) != st.sum {
			bad.What = "rows of different states"
			err = bad
		}
		return err
	})
	m.keys += n
	if err != nil {
		return m.spoiled(err)
	}
	m.table = t
	return nil
}

// scan calls fn for all keys of a kind, in order.
func scan(db pebble.Reader, kind byte, fn func(key, value []byte) error) error {
	lower, upper := bounds(kind)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err == nil {
			err = fn(it.Key(), v)
		}
	}
	return errors.Join(err, it.Error(), it.Close())
}
