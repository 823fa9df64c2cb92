package maildir

import (
	"errors"
	"fmt"
	"io/fs"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/catalog"
)

// allFlags are those that have a letter; other bits are not kept.
const allFlags = index.FlagDraft | index.FlagFlagged | index.FlagForwarded | index.FlagAnswered | index.FlagSeen | index.FlagDeleted

// SetFlags renames the messages that have other flags now, and syncs each
// directory it has touched once. After an error none has changed, unless the
// file system refused to rename one back.
func (m *mailbox) SetFlags(changes []store.Change) error {
	for _, c := range changes {
		if c.Keywords >= 1<<26 {
			return fmt.Errorf("%w: %#x", ErrKeyword, c.Keywords)
		}
	}
	if m.closed.Load() {
		return errClosed
	}
	m.change.Lock()
	defer m.change.Unlock()
	var done []move
	var touched [2]bool
	var err error
	last := make(map[string]int, len(changes))
	for i := range changes {
		last[changes[i].Key] = i
	}
	for i, c := range changes {
		if last[c.Key] != i {
			continue // what is between was never anybody's wish to see
		}
		old, ok := m.cat.Get(c.Key)
		c.Flags &= allFlags
		if !ok || old.Flags == c.Flags && old.Keywords == c.Keywords {
			continue
		}
		now := old
		now.Flags, now.Keywords = c.Flags, c.Keywords
		if now.Flags != 0 || now.Keywords != 0 {
			now.Dir = index.DirCur
		}
		if err = m.move(move{old, now}); err != nil {
			break
		}
		done = append(done, move{old, now})
		touched[old.Dir], touched[now.Dir] = true, true
	}
	if err == nil {
		err = m.syncDirs(touched)
	}
	if err == nil {
		return nil
	}
	for i := len(done) - 1; i >= 0; i-- {
		m.move(move{done[i].now, done[i].old}) // best effort; the catalog follows what happened
	}
	return fmt.Errorf("store/maildir: flags: %w", err)
}

// A move is a change of name.
type move struct{ old, now catalog.Row }

// move renames one file and tells the catalog, so that no reader finds the one
// without the other.
func (m *mailbox) move(v move) error {
	m.place.Lock()
	defer m.place.Unlock()
	if err := m.fs.Rename(m.file(&v.old), m.file(&v.now)); err != nil {
		return err
	}
	m.cat.Set(v.now)
	return nil
}

// Expunge removes files and syncs each directory it has touched once. After an
// error those that it had come to are gone.
func (m *mailbox) Expunge(keys []string) error {
	if m.closed.Load() {
		return errClosed
	}
	m.change.Lock()
	defer m.change.Unlock()
	if err := m.noteNewest(keys); err != nil {
		return fmt.Errorf("store/maildir: expunge: %w", err)
	}
	var touched [2]bool
	var failed error
	for _, key := range keys {
		r, ok := m.cat.Get(key)
		if !ok {
			continue
		}
		if failed = m.remove(&r); failed != nil {
			break
		}
		touched[r.Dir] = true
	}
	failed = errors.Join(failed, m.syncDirs(touched))
	if failed != nil {
		return fmt.Errorf("store/maildir: expunge: %w", failed)
	}
	return nil
}

// remove removes one file and its row, so that no reader finds the one without
// the other.
func (m *mailbox) remove(r *catalog.Row) error {
	m.place.Lock()
	defer m.place.Unlock()
	if err := m.fs.Remove(m.file(r)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.cat.Remove(r.Key)
	return nil
}

// noteNewest keeps the rule M3.
func (m *mailbox) noteNewest(keys []string) error {
	m.naming.Lock()
	defer m.naming.Unlock()
	for _, key := range keys {
		if key == m.newest {
			return m.note()
		}
	}
	return nil
}

// Purge does nothing: a removed file takes no space.
func (m *mailbox) Purge() error {
	if m.closed.Load() {
		return errClosed
	}
	return nil
}

// Source is the mailbox as an index sees it.
func (m *mailbox) Source() index.Source { return m.cat.Source() }

// Close waits for what is being done. All is on disk already.
func (m *mailbox) Close() error {
	m.closed.Store(true)
	m.change.Lock()
	defer m.change.Unlock()
	m.naming.Lock()
	defer m.naming.Unlock()
	return m.settle()
}
