package sqlstore

import (
	"crypto/sha256"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxNames bounds the header names that a Store remembers.
const maxNames = 4096

var insertName = insert{"INTO mailbench_headername (id, headername)", 2, true}

// nameIDs returns the ids of header names, each once. Those that are not known
// get theirs in a transaction of their own: names are never taken away, so that
// a Store may remember them, and no Append waits for another one's.
func (s *Store) nameIDs(names []string) ([]int64, error) {
	out := make([]int64, len(names))
	var missing []int
	s.nameMu.RLock()
	for i, name := range names {
		if out[i] = s.names[name]; out[i] == 0 {
			missing = append(missing, i)
		}
	}
	s.nameMu.RUnlock()
	if len(missing) == 0 {
		return out, nil
	}
	find := func(c *session, left []int) (absent []int, err error) {
		for _, i := range left {
			id, ok, err := c.integer("SELECT id FROM mailbench_headername WHERE headername = ?", names[i])
			if err != nil {
				return nil, err
			}
			if out[i] = id; !ok {
				absent = append(absent, i)
			}
		}
		return absent, nil
	}
	var absent []int
	err := s.db.read(func(c *session) (err error) {
		absent, err = find(c, missing)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(absent) > 0 {
		first, err := s.ids(len(absent))
		if err != nil {
			return nil, err
		}
		err = s.db.change(func(c *session) error {
			_, err := c.insertRows(&insertName, len(absent), nil, func(args []any, i int) []any {
				return append(args, first+int64(i), names[absent[i]])
			})
			if err != nil {
				return err
			}
			still, err := find(c, absent)
			if err == nil && len(still) > 0 {
				err = fmt.Errorf("%w: header name %q is neither there nor can be put there", errDamaged, names[still[0]])
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	s.nameMu.Lock()
	defer s.nameMu.Unlock()
	if s.names == nil {
		s.names = map[string]int64{}
	}
	for _, i := range missing {
		if len(s.names) < maxNames {
			s.names[names[i]] = out[i]
		}
	}
	return out, nil
}

// A sharing is a table whose rows messages share.
type sharing struct {
	insert insert
	find   list
	sized  bool // has a column size
	ask    bool // most rows are there already: look first
}

var (
	shareParts = sharing{
		insert: insert{"INTO mailbench_mimeparts (id, hash, data, size)", 4, true},
		find:   list{"SELECT id, hash FROM mailbench_mimeparts WHERE hash IN", ""},
		sized:  true,
	}
	shareValues = sharing{
		insert: insert{"INTO mailbench_headervalue (id, hash, headervalue)", 3, true},
		find:   list{"SELECT id, hash FROM mailbench_headervalue WHERE hash IN", ""},
		ask:    true,
	}
)

// share gives each of all, which are sorted by hash, the id of its row. Rows
// that another transaction takes away before they are referred to make the
// foreign key complain, and the transaction is done again.
func (c *session) share(t *sharing, all []*shared) error {
	missing := all
	if t.ask {
		var err error
		if missing, err = c.find(t, all); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	n, err := c.insertRows(&t.insert, len(missing), func(i int) int { return len(missing[i].data) + 64 }, func(args []any, i int) []any {
		s := missing[i]
		s.id = s.own
		args = append(args, s.own, s.hash[:], s.data)
		if t.sized {
			args = append(args, len(s.data))
		}
		return args
	})
	if err != nil || n == int64(len(missing)) {
		return err
	}
	if missing, err = c.find(t, missing); err != nil {
		return err
	}
	if len(missing) > 0 {
		return errVanished
	}
	return nil
}

// errVanished reports a row that was there when it was to be stored and is not
// any more. It counts as having met another transaction.
var errVanished = errors.New("a part was purged while it was to be used")

// find sets the ids of those that have a row and returns the others.
func (c *session) find(t *sharing, all []*shared) (missing []*shared, err error) {
	at := make(map[[sha256.Size]byte]*shared, len(all))
	hashes := make([]any, len(all))
	for i, s := range all {
		s.id = 0
		at[s.hash] = s
		hashes[i] = s.hash[:]
	}
	err = c.queryList(&t.find, nil, hashes, func(row []driver.Value) error {
		hash, err := asBytes(row[1])
		if err != nil {
			return err
		}
		if len(hash) != sha256.Size || at[[sha256.Size]byte(hash)] == nil {
			return fmt.Errorf("%w: a row with a hash that was not asked for", errDamaged)
		}
		return ints(row[:1], &at[[sha256.Size]byte(hash)].id)
	})
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.id == 0 {
			missing = append(missing, s)
		}
	}
	return missing, nil
}
