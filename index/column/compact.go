package column

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"mailbench/index"
	"mailbench/index/blockfile"
)

// Compact rewrites the index, if it has a log to fold in, and the cache, without
// the rows of messages that are gone and what only they used. The index comes
// first: a crash in between leaves the old cache, which is older than the
// index and right. Stored answers that are true stay, others are removed. On
// disk when it returns.
func (m *mailbox) Compact() error {
	err := m.compact()
	if errors.Is(err, index.ErrCorrupt) && m.base.Damage() == nil {
		// A damaged cache: there is nothing in it to keep.
		m.drop()
		err = m.fs.Remove(m.cachePath)
	}
	return err
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
	var loaded error // of the columns, while the table is read
	var wg sync.WaitGroup
	wg.Go(func() { loaded = st.loadAll() })
	t, err := m.table(st, &h)
	wg.Wait()
	if err = errors.Join(err, loaded); err != nil {
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
	// While the cache is being rewritten in memory the index is on its way to
	// the disk.
	var pruned *store
	var parts []part
	var pruneErr error
	s := state{uidNext: st.state.uidNext, added: st.state.added}
	wg.Go(func() {
		pruned, parts, pruneErr = st.prune(live)
		if pruneErr == nil && st.covers("env") {
			var w *envWriter
			if w, pruneErr = st.pruneEnvelopes(live); pruneErr == nil {
				parts = append(parts, w.parts(len(live))...)
			}
		}
	})
	if _, err = m.fs.Stat(filepath.Join(m.cfg.Dir, index.LogFile)); err == nil {
		err = m.base.Compact()
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil // the index is a snapshot without anything dead
	}
	wg.Wait()
	if err := errors.Join(err, pruneErr); err != nil {
		return err
	}
	// Its rows are the table's below uidNext.
	s.set = h.Set.Minus(t.SetFrom(s.uidNext))
	for _, u := range st.state.absent {
		if _, ok := slices.BinarySearch(pruned.cols.uid, u); ok {
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
	pruned.identity, pruned.count, pruned.state, pruned.retried = st.identity, st.count, s, true
	m.drop()
	if err := pruned.reopen(m.fs, m.cachePath); err != nil {
		return err
	}
	m.st = pruned
	if m.storedAnswers(&h) == nil {
		if err := m.fs.Remove(m.answersPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
