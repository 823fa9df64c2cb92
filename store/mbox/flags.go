package mbox

import (
	"fmt"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/catalog"
)

// SetFlags writes the states that are other ones now in place, and syncs once;
// if one has not enough room the file is written anew with all of them. After
// an error none has changed, unless the old ones could not be written back, or
// only the last fsync of the directory failed.
func (m *mailbox) SetFlags(changes []store.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(); err != nil {
		return err
	}
	edits, fit, err := m.edits(changes)
	if err != nil || len(edits) == 0 {
		return err
	}
	if !fit {
		want := make(map[string]state, len(edits))
		for i := range edits {
			want[edits[i].row.Key] = edits[i].now
		}
		return m.rewrite(nil, want)
	}
	for i := range edits {
		if err = edits[i].write(m, edits[i].fresh); err != nil {
			edits = edits[:i+1]
			break
		}
	}
	if err == nil {
		err = m.f.Datasync()
	}
	if err != nil {
		m.restore = append(m.restore, edits...)
		m.settle() // best effort: before the next change it must work
		return fmt.Errorf("store/mbox: flags: %w", err)
	}
	for i := range edits {
		row := edits[i].row
		row.Flags, row.Keywords = edits[i].now.flags, edits[i].now.keywords
		m.cat.Set(row)
	}
	return nil
}

// An edit is a state to write.
type edit struct {
	row        catalog.Row
	now        state
	off        int64
	old, fresh []byte
}

func (e *edit) write(m *mailbox, b []byte) error {
	_, err := m.f.WriteAt(b, e.off)
	return err
}

const knownFlags = index.FlagDraft | index.FlagFlagged | index.FlagForwarded | index.FlagAnswered | index.FlagSeen | index.FlagDeleted

// edits finds what is to be written: one edit for each message that changes.
// fit is false when one of them has no room.
func (m *mailbox) edits(changes []store.Change) (edits []edit, fit bool, err error) {
	final := make(map[string]state, len(changes))
	for _, c := range changes {
		final[c.Key] = state{c.Flags & knownFlags, c.Keywords}
	}
	fit = true
	var b [maxPrefix]byte
	for _, c := range changes {
		now, first := final[c.Key]
		if !first {
			continue // it was named before
		}
		delete(final, c.Key)
		row, ok := m.cat.Get(c.Key)
		if !ok || (state{row.Flags, row.Keywords}) == now {
			continue
		}
		from, _, _ := m.at(&row)
		prefix := b[:from-row.Off]
		r := record{off: row.Off}
		if err := catalog.ReadFullAt(m.f, prefix, row.Off); err != nil {
			return nil, false, m.corrupt(&row, err)
		}
		if !r.parse(prefix) || r.row(m.gen).Key != row.Key {
			return nil, false, m.corrupt(&row, ErrCorrupt)
		}
		e := edit{row: row, now: now, off: r.off + r.state}
		if len(now.names()) > r.width {
			fit = false
		} else {
			e.old, e.fresh = append([]byte(nil), prefix[r.state:]...), now.append(nil, r.uid, r.width)
		}
		edits = append(edits, e)
	}
	return edits, fit, nil
}
