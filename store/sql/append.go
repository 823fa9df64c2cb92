package sqlstore

import (
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

var (
	insertPhys    = insert{"INTO mailbench_physmessage (id, messagesize, rfcsize, internal_date)", 4, false}
	insertPlace   = insert{"INTO mailbench_partlists (physmessage_id, part_order, part_depth, is_header, part_id)", 5, false}
	insertField   = insert{"INTO mailbench_header (physmessage_id, headername_id, headervalue_id)", 3, false}
	insertMessage = insert{"INTO mailbench_messages (mailbox_id, uid, physmessage_id, flags, keywords, status)", 6, false}
)

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
