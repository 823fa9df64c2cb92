package sqlstore

import (
	"crypto/sha256"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"mailbench/store"
	"mailbench/store/catalog"
)

// Append stores messages in one transaction: all of them or, with an error,
// none. Any number of goroutines may be in it, with as many transactions as
// there are connections; messages are shown in the order of their keys.
//
// When the connection is lost during the commit, the server is asked again
// whether it was done; if it does not come back in time the error says that
// nobody knows, and the next opening shows what became of it.
func (s *Store) Append(msgs []store.Message) (keys []string, err error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	b := newBatch(msgs, s.headers, s.now().Unix())
	names, err := s.nameIDs(b.names)
	if err != nil {
		return nil, s.wrap(err)
	}
	first, err := s.ids(b.rows())
	if err != nil {
		return nil, s.wrap(err)
	}
	b.number(first)

	before, mine, err := s.takeKeys(b)
	if err != nil {
		return nil, s.wrap(err)
	}
	defer close(mine)
	err = s.db.change(func(c *session) error { return c.store(s.id, b, names) })
	if err != nil {
		err = s.settle(err, b.letters[0].uid)
	}
	<-before
	if err != nil {
		return nil, s.wrap(err)
	}
	rows := make([]catalog.Row, len(b.letters))
	keys = make([]string, len(b.letters))
	for i := range b.letters {
		l := &b.letters[i]
		rows[i] = makeRow(l.uid, l.phys, l.flags, l.keywords, l.size, l.vsize, l.date)
		keys[i] = rows[i].Key
	}
	s.cat.Add(rows...)
	return keys, nil
}

// takeKeys gives the letters their uids. before is closed when all Appends that
// took keys earlier are done with; mine is to be closed when this one is.
func (s *Store) takeKeys(b *batch) (before <-chan struct{}, mine chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == 0 || s.next+int64(len(b.letters)) > math.MaxUint32 {
		if len(b.letters) > math.MaxUint32 {
			return nil, nil, fmt.Errorf("%d messages at once", len(b.letters))
		}
		if s.epoch, err = s.nextEpoch(); err != nil {
			s.epoch = 0
			return nil, nil, err
		}
		s.next = 1
	}
	for i := range b.letters {
		b.letters[i].uid = s.epoch<<32 | s.next
		s.next++
	}
	before, mine = s.turn, make(chan struct{})
	s.turn = mine
	return before, mine, nil
}

// settleFor is how long a server may take to come back before the outcome of a
// commit is given up: Store.patience, which tests make shorter.
const settleFor = 5 * time.Second

// settle finds out whether a transaction whose commit was interrupted has been
// done: then the message of uid is there.
func (s *Store) settle(err error, uid int64) error {
	var unsure *unsureError
	if !errors.As(err, &unsure) {
		return err
	}
	for end := time.Now().Add(s.patience); ; time.Sleep(100 * time.Millisecond) {
		var n int64
		rerr := s.db.read(func(c *session) (err error) {
			n, _, err = c.integer("SELECT COUNT(*) FROM mailbench_messages WHERE mailbox_id = ? AND uid = ?", s.id, uid)
			return err
		})
		switch {
		case rerr == nil && n == 1:
			return nil
		case rerr == nil:
			// The server may still be about to do it: it has our COMMIT and has
			// not noticed that we are gone. So this is no certain no.
			return err
		case time.Now().After(end) || s.db.d.trouble(rerr) != lost:
			return err
		}
	}
}

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
	insertPhys    = insert{"INTO mailbench_physmessage (id, messagesize, rfcsize, internal_date)", 4, false}
	insertPlace   = insert{"INTO mailbench_partlists (physmessage_id, part_order, part_depth, is_header, part_id)", 5, false}
	insertField   = insert{"INTO mailbench_header (physmessage_id, headername_id, headervalue_id)", 3, false}
	insertMessage = insert{"INTO mailbench_messages (mailbox_id, uid, physmessage_id, flags, keywords, status)", 6, false}
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

// store writes the rows of a batch, what is referred to first.
func (c *session) store(mailbox int64, b *batch, names []int64) error {
	_, err := c.insertRows(&insertPhys, len(b.letters), nil, func(args []any, i int) []any {
		l := &b.letters[i]
		return append(args, l.phys, l.size, l.vsize, l.date)
	})
	if err != nil {
		return err
	}
	if err := c.share(&shareParts, b.parts); err != nil {
		return err
	}
	_, err = c.insertRows(&insertPlace, len(b.places), nil, func(args []any, i int) []any {
		p := &b.places[i]
		header := 0
		if p.header {
			header = 1
		}
		return append(args, b.letters[p.letter].phys, p.order, p.depth, header, p.part.id)
	})
	if err != nil {
		return err
	}
	if err := c.share(&shareValues, b.values); err != nil {
		return err
	}
	_, err = c.insertRows(&insertField, len(b.fields), nil, func(args []any, i int) []any {
		f := &b.fields[i]
		return append(args, b.letters[f.letter].phys, names[f.name], f.value.id)
	})
	if err != nil {
		return err
	}
	_, err = c.insertRows(&insertMessage, len(b.letters), nil, func(args []any, i int) []any {
		l := &b.letters[i]
		return append(args, mailbox, l.uid, l.phys, l.flags, l.keywords, statusLive)
	})
	return err
}
