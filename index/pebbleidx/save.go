package pebbleidx

import (
	"context"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2"

	"mailbench/index"
)

// batchBytes is about the most that one commit holds where a change may be split.
const batchBytes = 4 << 20

// keeper is the mailbox as index.Follow sees it.
type keeper struct{ m *mailbox }

func (k keeper) Known() (index.Known, bool, error) {
	err := k.m.refresh()
	return k.m.st.known, k.m.have, err
}

func (k keeper) Load() (*index.Table, error) {
	err := k.m.load()
	return k.m.table, err
}

// Note does not wait for the disk.
func (k keeper) Note(n index.Known) error {
	return k.m.update(false, func(_ *pebble.Batch, st *state) error {
		st.known = n
		return nil
	})
}

// Save writes a change as one batch.
func (k keeper) Save(t *index.Table, d *index.Delta, n index.Known, c index.Changes) error {
	m := k.m
	if c.Rebuilt {
		return m.build(t, n)
	}
	err := m.update(true, func(b *pebble.Batch, st *state) error {
		var key, value []byte
		for _, uid := range d.Removed {
			key = appendKey(key[:0], keyMessage, uid)
			if err := b.Delete(key, nil); err != nil {
				return err
			}
			for _, kind := range cachedKinds {
				key[0] = kind
				if err := b.Delete(key, nil); err != nil {
					return err
				}
			}
			if err := b.Set(vanishedKey(t.HighestModSeq, uid), nil, nil); err != nil {
				return err
			}
		}
		for _, rows := range [...][]int32{d.Flagged, d.Moved, d.Added} {
			for _, row := range rows {
				key = appendKey(key[:0], keyMessage, t.UIDs()[row])
				value = appendRow(value[:0], t, int(row))
				if err := b.Set(key, value, nil); err != nil {
					return err
				}
			}
		}
		st.take(t)
		st.known = n
		return nil
	})
	if err == nil {
		m.table = t
	}
	return err
}

// take copies a table's counts.
func (s *state) take(t *index.Table) {
	generation := s.Generation
	s.Status = t.Status()
	s.Generation = generation
	s.sum = sumRows(t)
}

// update commits what fn puts into a batch, and the state that it changes. The
// rows stay loaded.
func (m *mailbox) update(wait bool, fn func(b *pebble.Batch, st *state) error) error {
	was := m.st
	st, commit := was, m.commit(wait)
	err := m.engine.write(func(db *pebble.DB) error {
		if now, there, err := getState(db); err != nil || !there || now != was {
			if err == nil {
				err = index.ErrStale
			}
			return err
		}
		b := db.NewBatch()
		defer b.Close()
		if err := fn(b, &st); err != nil {
			return err
		}
		st.seq++
		if err := b.Set([]byte{keyState}, st.encode(), nil); err != nil {
			return err
		}
		return b.Commit(commit)
	})
	if err != nil {
		m.table = nil
		return m.spoiled(err)
	}
	m.st = st
	return nil
}

func (m *mailbox) commit(wait bool) *pebble.WriteOptions {
	if wait && m.engine.set.sync {
		return pebble.Sync
	}
	return pebble.NoSync
}

// build removes what is there and writes every row, the state last: without it
// there is no index.
func (m *mailbox) build(t *index.Table, n index.Known) error {
	if err := m.cfg.FS.MkdirAll(m.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := index.ChooseUIDValidity(m.cfg.FS, m.cfg.Dir, t, m.cfg.Options, m.cfg.Now()); err != nil {
		return err
	}
	st := state{compat: m.compat, known: n, seq: m.st.seq + 1, identity: rand.Uint64()}
	st.Generation = m.st.Generation + 1
	st.take(t)
	err := m.engine.create(func(db *pebble.DB) error {
		b := db.NewBatch()
		defer func() { b.Close() }()
		var key, value []byte
		for row, uid := range t.UIDs() {
			key = appendKey(key[:0], keyMessage, uid)
			value = appendRow(value[:0], t, row)
			if err := b.Set(key, value, nil); err != nil {
				return err
			}
			if b.Len() >= batchBytes {
				if err := b.Commit(pebble.NoSync); err != nil {
					return err
				}
				b.Close()
				b = db.NewBatch()
			}
		}
		if err := b.Set([]byte{keyState}, st.encode(), nil); err != nil {
			return err
		}
		return b.Commit(m.commit(true))
	})
	if err != nil {
		return err
	}
	m.st, m.have, m.damaged, m.table = st, true, false, t
	return nil
}

// Compact merges all tables into the last level: what is deleted is gone then.
func (m *mailbox) Compact() error {
	if err := m.load(); err != nil || !m.have {
		return err
	}
	err := m.update(true, func(_ *pebble.Batch, st *state) error {
		st.Generation++
		return nil
	})
	if err != nil {
		return err
	}
	return m.spoiled(m.engine.write(func(db *pebble.DB) error {
		if err := db.Flush(); err != nil {
			return err
		}
		return db.Compact(context.Background(), []byte{0}, []byte{0xff}, false)
	}))
}
