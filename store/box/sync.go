package box

import (
	"errors"
	"fmt"
	"strings"

	"mailbench/index"
)

// tries bounds how often an index that is stale or damaged is opened again for
// one call.
const tries = 3

// sync brings the index up to date with the store and the rows with the index.
// b.mu is held.
func (b *Box) sync() error {
	return b.again(func() error {
		c, err := b.mbox.Sync()
		if err != nil {
			return err
		}
		return b.follow(c)
	})
}

// again runs do, and once more on an index opened afresh if it was stale or
// damaged. b.mu is held.
func (b *Box) again(do func() error) error {
	for try := 1; ; try++ {
		if b.mbox == nil {
			if err := b.reopen(); err != nil {
				return err
			}
		}
		err := do()
		if err == nil || try == tries || !errors.Is(err, index.ErrStale) && !errors.Is(err, index.ErrCorrupt) {
			return err
		}
		if err := b.reopen(); err != nil {
			return err
		}
	}
}

// reopen opens the index, again. b.mu is held. After an error there is none:
// the next call tries it.
func (b *Box) reopen() error {
	if err := b.closeIndex(); err != nil {
		return err
	}
	m, err := b.cfg.Design.Open(index.Config{Dir: b.cfg.IndexDir, FS: b.cfg.IndexFS, Source: b.src, Options: b.cfg.Options, Now: b.cfg.Now})
	if err != nil {
		return err
	}
	b.mbox = m
	return nil
}

func (b *Box) closeIndex() error {
	if b.mbox == nil {
		return nil
	}
	m := b.mbox
	b.mbox = nil
	return m.Close()
}

// follow brings the rows in line with the index after a Sync. O(what changed)
// for a design that is a Changer, else O(mailbox) if anything has.
func (b *Box) follow(c index.Changes) error {
	st := b.mbox.Status()
	if st.UIDValidity != b.seen.UIDValidity || c.Rebuilt {
		return b.reload(st)
	}
	changer, ok := b.mbox.(index.Changer)
	if !ok || !index.AxesOf(b.cfg.Design).ModSeqs {
		if !c.Scanned && c.Added+c.Removed == 0 {
			return nil
		}
		return b.reload(st)
	}
	if st.HighestModSeq == b.seen.HighestModSeq && st.UIDNext == b.seen.UIDNext && st.Messages == b.seen.Messages {
		return nil
	}
	return b.take(changer, st)
}

// take applies what changed since the last time.
func (b *Box) take(c index.Changer, st index.Status) error {
	b.known.mu.Lock()
	defer b.known.mu.Unlock()
	var bad error
	err := c.ChangesSince(b.seen.HighestModSeq, func(m index.Message) bool {
		if bad = b.known.put(m, b.seen.UIDNext); bad == nil && m.UID >= b.seen.UIDNext {
			b.arrival.came(strings.Clone(m.Key), m.UID)
		}
		return bad == nil
	}, func(uid uint32) bool {
		b.known.drop(uid)
		return true
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	if b.known.len() != st.Messages {
		return fmt.Errorf("box: the index has %d messages, its changes make %d", st.Messages, b.known.len())
	}
	b.known.st, b.seen = st, st
	return nil
}

// reload reads all rows. O(mailbox).
func (b *Box) reload(st index.Status) error {
	anew := st.UIDValidity != b.seen.UIDValidity
	var r rows
	var bad error
	err := b.mbox.Messages(func(m index.Message) bool {
		bad = r.put(m, 0)
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	if !anew {
		if err := r.same(&b.known); err != nil {
			return err
		}
	} else {
		b.arrival.forget()
	}
	for i := len(r.uid) - 1; i >= 0 && (anew || r.uid[i] >= b.seen.UIDNext); i-- {
		b.arrival.came(r.row[i].key, r.uid[i])
	}
	b.known.mu.Lock()
	defer b.known.mu.Unlock()
	b.known.st, b.known.uid, b.known.row, b.known.dead = st, r.uid, r.row, 0
	b.seen = st
	return nil
}
