package sqlstore

import (
	"errors"
	"slices"
	"time"

	"mailbench/index"
	"mailbench/store"
	"mailbench/store/catalog"
)

// marks are the flags and keywords of a message.
type marks struct {
	flags    index.Flags
	keywords uint32
}

var setMarks = list{"UPDATE mailbench_messages SET flags = ?, keywords = ? WHERE mailbox_id = ? AND uid IN", " AND status = 0"}

// SetFlags changes flags in one transaction, with one statement for up to 64
// messages that get the same. Of two changes of one key the last one counts.
func (s *Store) SetFlags(changes []store.Change) error {
	s.edit.Lock()
	defer s.edit.Unlock()
	want := map[string]marks{}
	for _, c := range changes {
		want[c.Key] = marks{c.Flags & catalog.AllFlags, c.Keywords}
	}
	groups := map[marks][]int64{}
	for key, m := range want {
		r, ok := s.cat.Get(key)
		uid, valid := uidOf(key)
		if !ok || !valid || r.Flags == m.flags && r.Keywords == m.keywords {
			delete(want, key)
			continue
		}
		groups[m] = append(groups[m], uid)
	}
	if len(want) == 0 {
		return nil
	}
	err := s.again(func(c *session) error {
		for m, uids := range groups {
			if _, err := c.execList(&setMarks, []any{int64(m.flags), int64(m.keywords), s.id}, sorted(uids)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.wrap(err)
	}
	for key, m := range want {
		if r, ok := s.cat.Get(key); ok {
			r.Flags, r.Keywords = m.flags, m.keywords
			s.cat.Set(r)
		}
	}
	return nil
}

var expunge = list{"UPDATE mailbench_messages SET status = 2 WHERE mailbox_id = ? AND uid IN", ""}

// Expunge marks the messages as expunged, in one transaction: they are seen no
// more, and take their space until Purge. It is dbmail's way: what a message
// has shared with others need not be looked for while a client waits.
func (s *Store) Expunge(keys []string) error {
	s.edit.Lock()
	defer s.edit.Unlock()
	var uids []int64
	for _, key := range keys {
		if _, ok := s.cat.Get(key); ok {
			if uid, ok := uidOf(key); ok {
				uids = append(uids, uid)
			}
		}
	}
	if len(uids) == 0 {
		return nil
	}
	err := s.again(func(c *session) error {
		_, err := c.execList(&expunge, []any{s.id}, sorted(uids))
		return err
	})
	if err != nil {
		return s.wrap(err)
	}
	s.cat.Remove(keys...)
	return nil
}

// sorted makes parameters of numbers, in the order in which every transaction
// takes its rows, each once.
func sorted(numbers []int64) []any {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	out := make([]any, len(numbers))
	for i, n := range numbers {
		out[i] = n
	}
	return out
}

// again is change for what may be done twice: when it is not known whether a
// transaction was done, it is done once more.
func (s *Store) again(f func(*session) error) error {
	for end := time.Now().Add(s.patience); ; time.Sleep(100 * time.Millisecond) {
		err := s.db.change(f)
		var unsure *unsureError
		if !errors.As(err, &unsure) || time.Now().After(end) {
			return err
		}
	}
}
