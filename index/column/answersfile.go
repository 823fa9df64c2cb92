package column

import (
	"errors"
	"slices"

	"mailbench/index"
	"mailbench/index/blockfile"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// A section is a stream of the answers file that is to be written.
type section struct {
	name string
	rows int
	b    []byte
}

// answersFile is the opened answers file. Each of its segments is true of one
// set of messages: of the one in its section "set", or, without that, in the
// header page. A later section of a name takes the place of an earlier one.
type answersFile struct {
	r    *blockfile.Reader
	sets []set            // by segment
	uid  map[set][]uint32 // decoded on first use
	c    *counts
}

const setSection = "set"

// openAnswers opens the answers file, of whatever set it is true; nil: there is
// none of this index. newest: if what is open is of an earlier set only, another
// process may have written since.
func (m *mailbox) openAnswers(h *index.BaseHeader, newest bool) *answersFile {
	if m.forget {
		return nil
	}
	now := m.set(h)
	if a := m.answers; a != nil {
		if a.sets[0].identity == now.identity && (!newest || slices.Contains(a.sets, now)) {
			return a
		}
		m.closeAnswers()
	}
	r, err := blockfile.Open(m.fs, m.answersPath)
	if err != nil {
		return nil // missing, damaged, unreadable: there are none
	}
	fh := r.Header()
	a := &answersFile{r: r, uid: map[set][]uint32{}, c: &m.counts, sets: make([]set, r.Segments())}
	ok := fh.Kind == answersKind && fh.Version == version && fh.UIDValidity == h.UIDValidity && fh.Generation <= h.Generation &&
		a.sets[0].decode(fh.Meta, h.UIDValidity) && a.sets[0].identity == now.identity
	for i := 1; ok && i < len(a.sets); i++ {
		a.sets[i] = a.sets[0]
		if s := r.Segment(i).Section(setSection); s != nil {
			b, err := s.Bytes()
			ok = err == nil && a.sets[i].decode(b, h.UIDValidity) && a.sets[i].identity == now.identity
		}
	}
	if !ok {
		r.Close()
		return nil
	}
	m.answers = a
	return a
}

func (s *set) meta() []byte {
	b := le.AppendUint64(nil, s.id)
	b = append(b, byte(s.compat))
	b = le.AppendUint32(b, s.uidNext)
	b = le.AppendUint32(b, uint32(s.messages))
	return appendSetHash(b, s.hash)
}

func (s *set) decode(meta []byte, uidValidity uint32) bool {
	if len(meta) != len(s.meta()) {
		return false
	}
	s.id, s.compat, s.uidValidity = le.Uint64(meta), mailsort.Compat(meta[8]), uidValidity
	s.uidNext, s.messages = le.Uint32(meta[9:]), int(le.Uint32(meta[13:]))
	s.hash = index.SetHash{le.Uint64(meta[17:]), le.Uint64(meta[25:])}
	return true
}

func (m *mailbox) closeAnswers() {
	if m.answers != nil {
		m.answers.r.Close()
	}
	m.answers = nil
}

// newest finds the segment that has the last section of that name; -1: none.
func (a *answersFile) newest(name string) int {
	for i := a.r.Segments() - 1; i >= 0; i-- {
		if a.r.Segment(i).Section(name) != nil {
			return i
		}
	}
	return -1
}

func (a *answersFile) bytes(seg int, name string) (b []byte, rows int, ok bool) {
	s := a.r.Segment(seg).Section(name)
	if s == nil {
		return nil, 0, false
	}
	var err error
	if s.Encoding() == blockfile.Raw {
		b, err = s.Bytes()
	} else {
		b, err = s.ReadAll(make([]byte, 0, s.Len()))
	}
	a.c.decoded(int64(len(b)))
	return b, s.Rows(), err == nil
}

// uids decodes the UIDs of the messages of a set.
func (a *answersFile) uids(of set) ([]uint32, bool) {
	if u, ok := a.uid[of]; ok {
		return u, true
	}
	for i, s := range a.sets {
		if s != of || a.r.Segment(i).Section("uid") == nil {
			continue
		}
		b, rows, ok := a.bytes(i, "uid")
		if !ok || rows != of.messages {
			return nil, false
		}
		u, ok := decodeRuns(nil, b, rows)
		if ok {
			a.uid[of] = u
		}
		return u, ok
	}
	return nil, false
}

// storedAt finds an answer that is true of the messages that are there now.
func (m *mailbox) storedAt(name string, h *index.BaseHeader) (a *answersFile, seg int) {
	if a = m.openAnswers(h, true); a == nil {
		return nil, -1
	}
	if seg = a.newest(name); seg < 0 || a.sets[seg] != m.set(h) {
		return nil, -1
	}
	return a, seg
}

func (m *mailbox) hasStored(name string, h *index.BaseHeader) bool {
	a, _ := m.storedAt(name, h)
	return a != nil
}

// bad forgets an answers file that does not decode: the columns answer.
func (m *mailbox) bad() {
	m.closeAnswers()
	m.forget = true
}

// storedForest reads a stored tree. What is missing or damaged is not there.
func (m *mailbox) storedForest(name string, h *index.BaseHeader) (ans index.Answer, ok bool) {
	a, seg := m.storedAt(name, h)
	if a == nil {
		return ans, false
	}
	row, nodes, ok1 := a.bytes(seg, name)
	kids, nodes2, ok2 := a.bytes(seg, name+".k")
	uid, ok3 := a.uids(a.sets[seg])
	if !ok1 || !ok2 || !ok3 || nodes != nodes2 || !decodeForest(&ans.Forest, row, kids, nodes, len(uid)) {
		m.bad()
		return ans, false
	}
	ans.UID = uid
	return ans, true
}

// storedOrder reads a stored order into m.uids.
func (m *mailbox) storedOrder(name string, h *index.BaseHeader) bool {
	a, seg := m.storedAt(name, h)
	if a == nil {
		return false
	}
	b, rows, ok := a.bytes(seg, name)
	uid, ok2 := a.uids(a.sets[seg])
	if ok = ok && ok2 && rows == len(uid); ok {
		m.uids, ok = decodeOrder(m.uids, b, uid)
	}
	if !ok {
		m.uids = m.uids[:0]
		m.bad()
	}
	return ok
}

func forestSections(name string, f *thread.Forest) []section {
	row, kids := encodeForest(f)
	return []section{{name, len(f.Row), row}, {name + ".k", len(f.Row), kids}}
}

// orderSection makes the section of m.order, which holds cache rows.
func (m *mailbox) orderSection(v *view, crit []mailsort.Criterion) section {
	order := m.order
	if v.live != nil {
		message := make([]int32, slices.Max(v.live)+1)
		for i, r := range v.live {
			message[r] = int32(i)
		}
		for i, r := range order {
			order[i] = message[r]
		}
	}
	return section{orderName(crit), len(order), encodeOrder(order)}
}

// save stores sections, which are true of the messages that are there now,
// beside those of other answers; in a new file when more than half of the old
// one is of no use. A failure costs the time to compute the answer again, not
// the answer.
func (m *mailbox) save(h *index.BaseHeader, uid []uint32, secs []section) {
	m.wait()
	now := m.set(h)
	var err error
	for range 2 {
		a := m.openAnswers(h, false)
		switch {
		case a == nil:
			err = m.createAnswers(h, uid, secs)
		case a.full():
			err = m.renewAnswers(a, h, uid, secs)
		default:
			err = m.appendAnswers(a, now, uid, secs)
		}
		m.closeAnswers()
		if !errors.Is(err, blockfile.ErrChanged) { // else another process has written: once more
			break
		}
	}
	m.lost = err
}

func (m *mailbox) createAnswers(h *index.BaseHeader, uid []uint32, secs []section) error {
	s := m.set(h)
	hd := blockfile.Header{Kind: answersKind, Version: version, UIDValidity: h.UIDValidity, Generation: h.Generation, Meta: s.meta()}
	err := blockfile.Create(m.fs, m.answersPath, hd, func(w *blockfile.Writer) error {
		if err := w.Raw("uid", len(uid), appendRuns(nil, uid)); err != nil {
			return err
		}
		return writeSections(w, secs)
	})
	if err == nil {
		m.forget = false
	}
	return err
}

// appendAnswers adds a segment.
func (m *mailbox) appendAnswers(a *answersFile, of set, uid []uint32, secs []section) error {
	return blockfile.Append(m.fs, a.r, func(w *blockfile.Writer) error {
		if of != a.sets[0] {
			if err := w.Raw(setSection, 0, of.meta()); err != nil {
				return err
			}
		}
		if !slices.Contains(a.sets, of) {
			if err := w.Raw("uid", len(uid), appendRuns(nil, uid)); err != nil {
				return err
			}
		}
		return writeSections(w, secs)
	})
}

// renewAnswers writes the file anew: the answers of now, and behind them those
// of earlier sets that can still be brought up to date.
func (m *mailbox) renewAnswers(a *answersFile, h *index.BaseHeader, uid []uint32, secs []section) error {
	now := m.set(h)
	old := map[set][]section{}
	var order []set
	for _, name := range a.names() {
		if slices.ContainsFunc(secs, func(s section) bool { return s.name == name }) {
			continue
		}
		seg := a.newest(name)
		of := a.sets[seg]
		b, rows, ok := a.bytes(seg, name)
		if !ok {
			continue
		}
		s := section{name, rows, slices.Clone(b)}
		if of == now {
			secs = append(secs, s)
			continue
		}
		if old[of] == nil {
			if _, ok, err := m.base.Lately(of.uidNext, of.hash); !ok || err != nil {
				continue
			}
			order = append(order, of)
		}
		old[of] = append(old[of], s)
	}
	uids := map[set][]uint32{}
	for _, of := range order {
		u, ok := a.uids(of)
		if !ok {
			delete(old, of)
		}
		uids[of] = u
	}
	m.closeAnswers()
	if err := m.createAnswers(h, uid, secs); err != nil {
		return err
	}
	for _, of := range order {
		if a := m.openAnswers(h, false); a != nil && old[of] != nil {
			err := m.appendAnswers(a, of, uids[of], old[of])
			m.closeAnswers()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// names are those of all answers.
func (a *answersFile) names() (names []string) {
	for i := range a.r.Segments() {
		for _, s := range a.r.Segment(i).Sections() {
			if n := s.Name(); n != "uid" && n != setSection && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// full reports whether the file would have more dead bytes than others.
func (a *answersFile) full() bool {
	live := int64(0)
	for _, name := range a.names() {
		live += a.r.Segment(a.newest(name)).Section(name).Stored()
	}
	return a.r.Size() > 2*live+(64<<10)
}

func writeSections(w *blockfile.Writer, secs []section) error {
	for _, s := range secs {
		var err error
		if len(s.b) < 1024 {
			err = w.Raw(s.name, s.rows, s.b)
		} else {
			err = w.ZstdBytes(s.name, s.rows, s.b, blockSize)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
