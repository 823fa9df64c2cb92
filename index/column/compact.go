package column

import (
	"errors"
	"io/fs"
	"slices"
	"sync"

	"mailbench/index"
	"mailbench/index/blockfile"
)

// Compact rewrites the index, if it has a log to fold in, and the cache, without
// the rows of messages that are gone and what only they used. The index comes
// first: a crash in between leaves the old cache, which is older than the
// index and right. Stored answers that are true and whole stay, others are
// removed: what is asked next writes them anew. On disk when it returns.
func (m *mailbox) Compact() error {
	err := m.compact()
	if errors.Is(err, index.ErrCorrupt) && m.base.Damage() == nil {
		// A damaged cache: there is nothing in it to keep.
		m.drop()
		err = m.fs.Remove(m.cachePath)
	}
	return errors.Join(err, m.dropDamagedAnswers())
}

// dropDamagedAnswers removes an answers file with damage anywhere in it, also
// where no query has looked. The memory is emptied with it: what is answered
// from there is not written.
func (m *mailbox) dropDamagedAnswers() error {
	h := m.base.Header()
	var damage error
	m.checkAnswers(&h, func(err error) bool { damage = err; return false })
	if !errors.Is(damage, index.ErrCorrupt) {
		return nil // what cannot be read now is Check's to tell
	}
	m.closeAnswers()
	m.memo.close()
	if err := m.fs.Remove(m.answersPath); err != nil {
		return err
	}
	m.forget, m.lost = false, nil
	return nil
}

func (m *mailbox) compact() error {
	h := m.base.Header()
	if !h.Exists {
		return m.base.Damage()
	}
	st, err := m.cache(&h)
	if err != nil {
		return err
	}
	t, err := m.uidTable(st, &h)
	if err != nil {
		return err
	}
	live, _, ok := match(st, t)
	if !ok || st.r == nil {
		m.drop()
		if err := m.fs.Remove(m.cachePath); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return m.base.Compact()
	}
	// Its rows are the table's below uidNext.
	s := state{uidNext: st.state.uidNext, added: st.state.added, set: h.Set.Minus(t.SetFrom(st.state.uidNext))}
	// While the cache is being rewritten in memory the index is on its way to
	// the disk.
	var wg sync.WaitGroup
	var parts []part
	var pruneErr error
	wg.Go(func() {
		parts, pruneErr = st.prune(live)
		if pruneErr == nil && st.covers("env") {
			var w *envWriter
			if w, pruneErr = st.pruneEnvelopes(live); pruneErr == nil {
				parts = append(parts, w.parts(len(live))...)
			}
		}
		if pruneErr == nil {
			var p part
			var ok bool
			if p, ok, pruneErr = st.pruneBodies(live); ok {
				parts = append(parts, p)
			}
		}
	})
	if !m.base.Folded() {
		err = m.base.Compact()
	}
	wg.Wait()
	if err := errors.Join(err, pruneErr); err != nil {
		return err
	}
	for _, u := range st.state.absent {
		row, ok := slices.BinarySearch(st.cols.uid, u)
		if _, kept := slices.BinarySearch(live, int32(row)); ok && kept {
			s.absent = append(s.absent, u)
		}
	}
	parts = append(parts, part{name: "state", rows: len(s.absent), b: s.encode()})
	h = m.base.Header()
	err = blockfile.Create(m.fs, m.cachePath, m.cacheHeader(&h, st.key), func(w *blockfile.Writer) error { return writeParts(w, parts) })
	if err != nil {
		return err
	}
	m.lostCache = nil
	if err := m.dropTail(&h, st.state.uidNext); err != nil {
		return err
	}
	m.drop() // what it had decoded has other numbers now
	return m.compactAnswers(&h)
}

// compactAnswers keeps the answers that are true of the messages that are there.
func (m *mailbox) compactAnswers(h *index.BaseHeader) error {
	now := m.set(h)
	a := m.openAnswers(h, true)
	var secs []section
	var uid []uint32
	stale := false
	if a != nil {
		for _, name := range a.names() {
			seg := a.newest(name)
			b, rows, ok := a.bytes(seg, name)
			if !ok || a.sets[seg] != now {
				stale = true
				continue
			}
			secs = append(secs, section{name, rows, slices.Clone(b)})
		}
		var ok bool
		if uid, ok = a.uids(now); !ok {
			secs = nil
		}
		uid = slices.Clone(uid)
		if len(secs) > 0 && !stale && !a.full() {
			return nil
		}
	}
	m.closeAnswers()
	if len(secs) > 0 {
		return m.createAnswers(h, uid, secs)
	}
	if err := m.fs.Remove(m.answersPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// uidTable is m.table for those who need no more than the UIDs.
func (m *mailbox) uidTable(st *store, h *index.BaseHeader) (*index.Table, error) {
	if st.rows > 0 && st.state.uidNext == h.UIDNext {
		return m.base.UIDs()
	}
	return m.base.Table()
}
