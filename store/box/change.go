package box

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"mailbench/index"
	"mailbench/store"
)

// Query calls fn alone with the mailbox, brought up to date. What fn keeps of
// the mailbox must not be used after it returns. fn may be called again if its
// error says that the index is stale or damaged. Of the Box it may call Read and
// Status only: the rest waits for fn to return.
func (b *Box) Query(fn func(m index.Mailbox) error) error {
	if err := b.enter(); err != nil {
		return err
	}
	defer b.leave()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.again(func() error {
		if err := b.sync(); err != nil {
			return err
		}
		return fn(b.mbox)
	})
}

// SetFlags changes the flags and keywords of messages to what edit makes of
// them, in the store and the index, when it returns. UIDs that are gone are
// passed over. edit must not call the Box.
func (b *Box) SetFlags(uids []uint32, edit func(uid uint32, old index.Flags, keywords uint32) (index.Flags, uint32)) error {
	return b.change(uids, func(found []uint32, rs []row) error {
		changes := make([]store.Change, 0, len(rs))
		for i, r := range rs {
			flags, keywords := edit(found[i], r.flags, r.keywords)
			if flags != r.flags || keywords != r.keywords {
				changes = append(changes, store.Change{Key: r.key, Flags: flags, Keywords: keywords})
			}
		}
		if len(changes) == 0 {
			return nil
		}
		return b.store.SetFlags(changes)
	})
}

// Expunge removes messages from the store and the index. UIDs that are gone are
// passed over.
func (b *Box) Expunge(uids []uint32) error {
	return b.change(uids, func(_ []uint32, rs []row) error {
		keys := make([]string, len(rs))
		for i, r := range rs {
			keys[i] = r.key
		}
		return b.store.Expunge(keys)
	})
}

// change brings the index up to date, lets do change the store, and brings the
// index up to date again.
func (b *Box) change(uids []uint32, do func(found []uint32, rs []row) error) error {
	if err := b.enter(); err != nil {
		return err
	}
	defer b.leave()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.sync(); err != nil {
		return err
	}
	found, rs := make([]uint32, 0, len(uids)), make([]row, 0, len(uids))
	for _, uid := range uids {
		if r, ok := b.known.get(uid); ok {
			found, rs = append(found, uid), append(rs, r)
		}
	}
	if len(rs) == 0 {
		return nil
	}
	err := do(found, rs)
	return errors.Join(err, b.sync())
}

// Read returns the whole message, appended to buf[:0]. One that is not there
// gives an error that wraps fs.ErrNotExist.
func (b *Box) Read(uid uint32, buf []byte) ([]byte, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	r, ok := b.known.get(uid)
	if !ok {
		return nil, fmt.Errorf("box: uid %d: %w", uid, fs.ErrNotExist)
	}
	var e index.Entry
	b.namer.NameEntry(&e, []byte(r.key), r.flags, r.dir, r.keywords, nil)
	out, err := b.src.ReadMessage(&e, buf)
	if err != nil {
		return nil, fmt.Errorf("box: uid %d, message %s: %w", uid, r.key, err)
	}
	return out, nil
}

// Purge gives back the space of expunged messages in the store.
func (b *Box) Purge() error {
	if err := b.enter(); err != nil {
		return err
	}
	defer b.leave()
	if err := b.store.Purge(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sync()
}

// Check yields every inconsistency of the store, of the index and between them,
// none when all is well.
func (b *Box) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		if err := b.enter(); err != nil {
			yield(err)
			return
		}
		defer b.leave()
		for err := range b.store.Check() {
			if !yield(err) {
				return
			}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := b.sync(); err != nil {
			yield(err)
			return
		}
		for err := range b.mbox.Check() {
			if !yield(err) {
				return
			}
		}
		b.checkRows(yield)
	}
}

// checkRows holds index, rows and store against each other.
func (b *Box) checkRows(yield func(error) bool) bool {
	var l index.Listing
	if err := b.src.List(&l); err != nil {
		return yield(err)
	}
	listed := make(map[string]bool, len(l.Entries))
	for i := range l.Entries {
		listed[l.Entries[i].Key] = true
	}
	n, more := 0, true
	err := b.mbox.Messages(func(m index.Message) bool {
		n++
		r, ok := b.known.get(m.UID)
		switch {
		case !ok:
			more = yield(fmt.Errorf("box: uid %d of the index is not among the rows in memory", m.UID))
		case r != rowOf(m):
			more = yield(fmt.Errorf("box: uid %d: %+v in the index, %+v in memory", m.UID, rowOf(m), r))
		case !listed[m.Key]:
			more = yield(fmt.Errorf("box: uid %d, message %s is not in the store", m.UID, m.Key))
		}
		return more
	})
	if err != nil && more {
		more = yield(err)
	}
	if more && (n != b.known.len() || n != len(listed)) {
		more = yield(fmt.Errorf("box: %d messages in the index, %d in memory, %d in the store", n, b.known.len(), len(listed)))
	}
	return more
}
