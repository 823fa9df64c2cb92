package column

import (
	"fmt"
	"slices"

	"mailbench/index"
	"mailbench/index/blockfile"
	mailsort "mailbench/sort"
)

// A store is an open cache file and what was decoded of it so far. Everything
// is loaded on first use, whole columns at a time; what loads stays.
type store struct {
	identity
	state   state
	r       *blockfile.Reader
	tainted bool // has rows that are not on disk
	retried bool // absent messages have been looked for
	key     hashKey
	count   *counts // the mailbox's; nil: nobody counts
	parts   []part  // of all segments, in order of writing
	rows    int
	room    int // rows about to come: what loads has room for them

	cols     columns // uid is always there
	hasLinks bool    // ctl, id, ref, subject
	hasDates bool
	subject  text // its values are cols.subject
	address  [len(addressKeys)]text
	arrival  []int64
	size     []int64
	env      *envReader
	body     *bodies
}

// A text is a string column: the distinct strings, and each row's.
type text struct {
	name     string
	val      []int32
	dict     dict
	hasVal   bool
	hasRanks bool // dict.base and dict.later are loaded
	hasText  bool // and dict.text
}

// newStore is a store of no rows and no file.
func newStore(key hashKey) *store {
	s := &store{key: key, hasLinks: true, hasDates: true}
	s.cols.refOff = []uint32{0}
	s.names()
	s.subject.hasVal, s.subject.hasRanks, s.subject.hasText = true, true, true
	return s
}

func (s *store) names() {
	s.subject.name = "subject"
	for i := range s.address {
		s.address[i].name = addressKeys[i].name
	}
}

// openStore reads the directories and the UID column of r.
func openStore(r *blockfile.Reader, key hashKey) (*store, error) {
	s := &store{r: r, key: key}
	s.names()
	for i := range r.Segments() {
		var err error
		if s.parts, err = segParts(r.Segment(i), s.parts); err != nil {
			return nil, err
		}
	}
	s.subject.hasVal = false
	err := s.each("uid", func(b []byte, rows int) (ok bool) {
		s.cols.uid, ok = decodeRuns(s.cols.uid, b, rows)
		return ok
	})
	s.rows = len(s.cols.uid)
	if err != nil {
		return nil, err
	}
	var absent []uint32
	for _, p := range s.parts {
		if p.name != "state" {
			continue
		}
		b, err := s.bytes(p)
		if err != nil {
			return nil, err
		}
		if !s.state.decode(b, p.rows) {
			return nil, corrupt("state")
		}
		absent = append(absent, s.state.absent...)
	}
	s.state.absent = absent
	if s.rows > 0 && s.state.uidNext <= s.cols.uid[s.rows-1] {
		return nil, corrupt("state")
	}
	return s, nil
}

// each calls fn with the bytes of every part of that name, in order.
func (s *store) each(name string, fn func(b []byte, rows int) bool) error {
	for _, p := range s.parts {
		if p.name != name {
			continue
		}
		b, err := s.bytes(p)
		if err != nil {
			return err
		}
		if !fn(b, p.rows) {
			return corrupt(name)
		}
	}
	return nil
}

// bytes returns a part's stream.
func (s *store) bytes(p part) ([]byte, error) {
	b, err := p.bytes()
	s.count.decoded(int64(len(b)))
	return b, err
}

func corrupt(name string) error {
	return fmt.Errorf("%w: column: part %s does not decode", index.ErrCorrupt, name)
}

// covers reports whether the column has a value for each row.
func (s *store) covers(name string) bool {
	rows := 0
	for _, p := range s.parts {
		if p.name == name {
			rows += p.rows
		}
	}
	return rows == s.rows && s.rows > 0
}

func (s *store) loadDates() error {
	if s.hasDates {
		return nil
	}
	s.cols.date = make([]int64, 0, s.rows+s.room)
	err := s.each("date", func(b []byte, rows int) (ok bool) {
		s.cols.date, ok = decodeDeltas(s.cols.date, b, rows)
		return ok
	})
	if err == nil && len(s.cols.date) != s.rows {
		err = corrupt("date")
	}
	s.hasDates = err == nil
	return err
}

func (s *store) loadLinks() error {
	if s.hasLinks {
		return nil
	}
	n := s.rows + s.room
	c := columns{uid: s.cols.uid, date: s.cols.date, ctl: make([]uint8, 0, n), id: make([]int32, 0, n),
		refOff: append(make([]uint32, 0, n+1), 0), subject: make([]int32, 0, n)}
	var seg streams
	subjects := 0
	// The parts of a segment come in the order ctl id ref subject.str subject.
	for _, p := range s.parts {
		var to *[]byte
		switch p.name {
		case "ctl":
			to = &seg.ctl
		case "id":
			to = &seg.id
		case "ref":
			to = &seg.ref
		case "subject":
			to = &seg.subject
		case "subject.str":
			subjects += p.rows
			continue
		default:
			continue
		}
		var err error
		if *to, err = s.bytes(p); err != nil {
			return err
		}
		if p.name == "ctl" && len(seg.ctl) != p.rows {
			return corrupt("ctl")
		}
		if p.name == "subject" {
			if !c.decodeLinks(&seg, subjects) {
				return corrupt("links")
			}
			if rows := len(c.ctl); rows == len(seg.ctl) && rows > 0 { // the others will be like the first
				c.ref = slices.Grow(c.ref, max(0, n-rows)*min(4*rows, len(c.ref)+len(c.ref)/8)/rows)
			}
			seg = streams{}
		}
	}
	if len(c.ctl) != s.rows {
		return corrupt("ctl")
	}
	s.cols, s.hasLinks, s.subject.hasVal = c, true, true
	return nil
}

// loadRanks loads what ranks of t need.
func (s *store) loadRanks(t *text) error {
	if t.hasRanks {
		return nil
	}
	t.dict = dict{}
	first := true
	for _, p := range s.parts {
		switch p.name {
		case t.name + ".str":
			if first {
				t.dict.base, first = p.rows, false
			}
		case t.name + ".place":
			b, err := s.bytes(p)
			if err != nil {
				return err
			}
			if first || !t.dict.decodePlaces(b) {
				return corrupt(p.name)
			}
		}
	}
	t.hasRanks = true
	return nil
}

// loadText loads the strings of t.
func (s *store) loadText(t *text) error {
	if t.hasText {
		return nil
	}
	if err := s.loadRanks(t); err != nil {
		return err
	}
	bytes := 0
	for _, p := range s.parts {
		if p.name == t.name+".str" {
			bytes += p.raw()
		}
	}
	// What strings share with their neighbours is about half of them.
	t.dict.text = mailsort.Arena{Data: make([]byte, 0, bytes+bytes/2), Off: make([]uint32, 0, t.dict.len()+s.room+1)}
	err := s.each(t.name+".str", func(b []byte, rows int) bool {
		n, ok := decodeStrings(&t.dict.text, b)
		return ok && n == rows
	})
	if err == nil && t.dict.text.Len() != t.dict.len() {
		err = corrupt(t.name + ".str")
	}
	t.hasText = err == nil
	return err
}

// loadVal loads the rows' numbers of an address column.
func (s *store) loadVal(t *text) error {
	if t == &s.subject {
		return s.loadLinks()
	}
	if t.hasVal {
		return nil
	}
	if err := s.loadRanks(t); err != nil {
		return err
	}
	t.val = make([]int32, 0, s.rows+s.room)
	err := s.each(t.name, func(b []byte, rows int) (ok bool) {
		t.val, ok = decodeUints(t.val, b, rows, t.dict.len())
		return ok
	})
	if err == nil && len(t.val) != s.rows {
		err = corrupt(t.name)
	}
	t.hasVal = err == nil
	return err
}

// loadNumbers loads the arrival or size column.
func (s *store) loadNumbers(name string, to *[]int64) error {
	if *to != nil {
		return nil
	}
	v := make([]int64, 0, s.rows+s.room)
	err := s.each(name, func(b []byte, rows int) (ok bool) {
		v, ok = decodeDeltas(v, b, rows)
		return ok
	})
	if err == nil && len(v) != s.rows {
		err = corrupt(name)
	}
	if err == nil {
		*to = v
	}
	return err
}

// hashes calls fn with the stored hashes of ids first, first+1, ...
func (s *store) hashes(fn func(first int, b []byte)) error {
	n := 0
	return s.each("hash", func(b []byte, rows int) bool {
		if len(b) != 16*rows {
			return false
		}
		fn(n, b)
		n += rows
		return true
	})
}

func (s *store) close() error {
	if s.r == nil {
		return nil
	}
	return s.r.Close()
}
