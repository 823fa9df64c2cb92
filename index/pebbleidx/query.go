package pebbleidx

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// ready loads the rows. What was made for another Compat is removed: it is made
// again by use.
func (m *mailbox) ready() error {
	if err := m.load(); err != nil {
		return err
	}
	if !m.have || m.st.compat == m.compat {
		return nil
	}
	return m.update(true, func(b *pebble.Batch, st *state) error {
		st.compat = m.compat
		lower, upper := bounds(keyFields)
		return b.DeleteRange(lower, upper, nil)
	})
}

// walk calls fn for each of uids (ascending), which must be rows, with the value
// of a kind; it returns those that have none, which fn does not see.
func (m *mailbox) walk(kind byte, uids []uint32, fn func(i int, value []byte) error) (missing []uint32, err error) {
	st := m.st
	err = m.engine.read(func(db *pebble.DB) error {
		if now, there, err := getState(db); err != nil || !there || now != st {
			if err == nil {
				err = index.ErrStale
			}
			return err
		}
		lower, upper := bounds(kind)
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
		if err != nil {
			return err
		}
		missing, err = m.follow(it, kind, uids, fn)
		return errors.Join(err, it.Error(), it.Close())
	})
	if err != nil {
		return nil, m.spoiled(err)
	}
	return missing, nil
}

const nextsBeforeSeek = 8

func (m *mailbox) follow(it *pebble.Iterator, kind byte, uids []uint32, fn func(i int, value []byte) error) (missing []uint32, err error) {
	var key []byte
	ok, at := false, uint32(0) // whether it stands on a key, and its UID
	read := func(valid bool) error {
		if ok = valid; ok {
			m.keys++
			var good bool
			if at, good = uidOf(it.Key()); !good {
				return &index.CorruptError{File: m.cfg.Dir, What: "key"}
			}
		}
		return nil
	}
	for i, uid := range uids {
		m.lookups++
		if i == 0 {
			err = read(it.SeekGE(appendKey(key[:0], kind, uid)))
		}
		for n := 0; ok && at < uid && err == nil; n++ {
			if n < nextsBeforeSeek {
				err = read(it.Next())
			} else {
				key = appendKey(key[:0], kind, uid)
				err = read(it.SeekGE(key))
			}
		}
		if err != nil {
			return nil, err
		}
		if !ok || at != uid {
			missing = append(missing, uid)
			continue
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		m.decoded += int64(len(v))
		if v, ok = unseal(m.st.identity, kind, uid, v); !ok {
			return nil, &index.CorruptError{File: m.cfg.Dir, What: "sum of a value"}
		}
		if err := fn(i, v); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// gather is walk after which every message has the kind: what is missing is
// read from the mail. fn is then called for all from the beginning, after
// reset; with a nil value for a message that has gone, and the value of an empty
// one for a message that may not be read: that one is tried each time.
func (m *mailbox) gather(kind byte, uids []uint32, reset func(), fn func(i int, value []byte) error) error {
	clear(m.denied)
	missed := func(i int) []byte { return m.denied[uids[i]].value[kindAt(kind)] }
	for try := 0; ; try++ {
		reset()
		next := 0
		seen := func(i int, value []byte) error {
			for ; next < i && try > 0; next++ { // those that have gone
				if err := fn(next, missed(next)); err != nil {
					return err
				}
			}
			next = i + 1
			return fn(i, value)
		}
		missing, err := m.walk(kind, uids, seen)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		if try > 0 {
			for ; next < len(uids); next++ {
				if err := fn(next, missed(next)); err != nil {
					return err
				}
			}
			return nil
		}
		kinds := []byte{kind}
		if kind == keyFields && m.envelopes {
			kinds = append(kinds, keyEnvelope)
		}
		if err := m.fill(missing, kinds...); err != nil {
			return err
		}
	}
}

// selected makes m.uids those that s selects.
func (m *mailbox) selected(s index.Search) error {
	t := m.table
	rows, all, err := t.Select(m.rows[:0], s)
	if err != nil {
		return err
	}
	m.rows, m.uids = rows, m.uids[:0]
	if all {
		m.uids = append(m.uids, t.UIDs()...)
		return nil
	}
	for _, row := range rows {
		m.uids = append(m.uids, t.UIDs()[row])
	}
	return nil
}

func (m *mailbox) columns(want index.Want) (*index.Columns, error) {
	var a *index.Assembler
	var f index.Fields
	err := m.gather(keyFields, m.uids, func() { a = index.NewAssembler(len(m.uids), want) }, func(_ int, v []byte) error {
		if v == nil {
			f = index.Fields{}
		} else if rest, ok := index.ParseFields(v, &f); !ok || len(rest) > 0 {
			return &index.CorruptError{File: m.cfg.Dir, What: "fields"}
		}
		a.Add(&f, f.Date)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a.Columns(), nil
}

// numbers gathers a kind whose value is a number.
func (m *mailbox) numbers(kind byte, parse func(b []byte) (int64, int)) ([]int64, error) {
	var out []int64
	err := m.gather(kind, m.uids, func() { out = make([]int64, len(m.uids)) }, func(i int, v []byte) error {
		if v == nil {
			return nil
		}
		n, k := parse(v)
		if k != len(v) {
			return &index.CorruptError{File: m.cfg.Dir, What: "number"}
		}
		out[i] = n
		return nil
	})
	return out, err
}

// Thread scans the fields of the selected messages and threads.
func (m *mailbox) Thread(alg thread.Alg, s index.Search) (*index.Answer, error) {
	if err := m.ready(); err != nil {
		return nil, err
	}
	if err := m.selected(s); err != nil {
		return nil, err
	}
	c, err := m.columns(index.WantThread)
	if err != nil {
		return nil, err
	}
	thread.Build(alg, &c.Input, nil, &m.answer.Forest, &m.threads)
	m.answer.UID = m.uids
	return &m.answer, nil
}

// Sort scans what the criteria need.
func (m *mailbox) Sort(crit []mailsort.Criterion, s index.Search) ([]uint32, error) {
	if err := m.ready(); err != nil {
		return nil, err
	}
	if err := m.selected(s); err != nil {
		return nil, err
	}
	c := &index.Columns{}
	if want := index.WantFor(crit); want != 0 {
		var err error
		if c, err = m.columns(want); err != nil {
			return nil, err
		}
	}
	arrival := func() ([]int64, error) { return m.numbers(keyArrival, binary.Varint) }
	size := func() ([]int64, error) {
		return m.numbers(keySize, func(b []byte) (int64, int) {
			n, k := binary.Uvarint(b)
			return int64(n), k
		})
	}
	col, err := c.ForSort(crit, arrival, size, &m.sorts)
	if err != nil {
		return nil, err
	}
	m.order = mailsort.Order(m.order[:0], len(m.uids), nil, crit, col, &m.sorts)
	out := make([]uint32, len(m.order))
	for i, row := range m.order {
		out[i] = m.uids[row]
	}
	return out, nil
}

// Fetch takes envelopes from the cache with fields=envelope, filling in those
// that are missing; everything else comes from the mail.
func (m *mailbox) Fetch(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	if err := m.ready(); err != nil {
		return err
	}
	place := make([]int, len(fields))
	cached := m.envelopes
	for i, f := range fields {
		place[i] = slices.IndexFunc(index.EnvelopeFields, func(e string) bool { return equalFold(e, f) })
		cached = cached && place[i] >= 0
	}
	if !cached {
		return m.fetchMail(uids, fields, fn)
	}
	values := make([][]byte, len(fields))
	var got envelopes
	for from := 0; from < len(uids); {
		// A piece at a time: fn must not be called while pebble is held.
		piece := uids[from:min(from+fetchPiece, len(uids))]
		from += len(piece)
		if err := m.envelopesOf(piece, &got); err != nil {
			return err
		}
		for _, uid := range piece {
			b := got.of(uid)
			if b == nil {
				continue
			}
			var env [10][]byte
			if !parseEnvelope(b, &env) {
				return m.spoiled(&index.CorruptError{File: m.cfg.Dir, What: "envelope"})
			}
			for i, p := range place {
				values[i] = env[p]
			}
			if err := fn(uid, values); err != nil {
				return err
			}
		}
	}
	return nil
}

const fetchPiece = 256

// envelopes are the values of some messages.
type envelopes struct {
	uids []uint32 // ascending
	end  []int    // of each value in text; where it begins too: there is none
	text []byte
}

func (e *envelopes) of(uid uint32) []byte {
	i, ok := slices.BinarySearch(e.uids, uid)
	if !ok {
		return nil
	}
	from := 0
	if i > 0 {
		from = e.end[i-1]
	}
	if from == e.end[i] {
		return nil
	}
	return e.text[from:e.end[i]]
}

// envelopesOf gathers those of uids that are there.
func (m *mailbox) envelopesOf(uids []uint32, e *envelopes) error {
	e.uids = e.uids[:0]
	for _, uid := range uids {
		if _, ok := m.table.Row(uid); ok {
			e.uids = append(e.uids, uid)
		}
	}
	slices.Sort(e.uids)
	e.uids = slices.Compact(e.uids)
	return m.gather(keyEnvelope, e.uids, func() { e.end, e.text = e.end[:0], e.text[:0] }, func(_ int, v []byte) error {
		e.text = append(e.text, v...)
		e.end = append(e.end, len(e.text))
		return nil
	})
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func (m *mailbox) fetchMail(uids []uint32, fields []string, fn func(uid uint32, values [][]byte) error) error {
	if err := m.bind(); err != nil {
		return err
	}
	var e index.Entry
	var buf []byte
	return index.FetchFrom(m.cfg.Source, uids, fields, func(uid uint32) (entry *index.Entry) {
		if row, ok := m.table.Row(uid); ok {
			m.opened++
			entry, buf = m.track.EntryInto(row, &e, buf)
		}
		return entry
	}, fn)
}
