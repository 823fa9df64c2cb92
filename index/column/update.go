package column

import (
	"slices"
	"strings"
	"sync"

	"mailbench/index"
	"mailbench/index/blockfile"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// An update is the answers that were stored for an earlier set of messages, made
// true of the messages that are there now: what came is put in its place, what
// went is taken out, threads that either touches are built again, and the rest
// is copied (thread.Update, mailsort.Merge).
type update struct {
	uid     []uint32 // of the messages
	answers []*updated
}

type updated struct {
	name   string
	alg    thread.Alg // with forest
	crit   []mailsort.Criterion
	forest *thread.Forest // over messages; nil: an order
	order  []int32        // over messages
	secs   []section      // nil: it could not be done
}

func (u *update) find(name string) *updated {
	if u != nil {
		for _, a := range u.answers {
			if a.name == name && a.secs != nil {
				return a
			}
		}
	}
	return nil
}

// sections are those of all answers that are up to date.
func (u *update) sections() (secs []section) {
	if u != nil {
		for _, a := range u.answers {
			secs = append(secs, a.secs...)
		}
	}
	return secs
}

// update brings the stored answers up to date; nil: there is nothing that this
// can be done with, or too much has happened. Nothing is written. O(n) with a
// small constant for each answer, side by side.
func (m *mailbox) update(st *store, v *view, h *index.BaseHeader) *update {
	a, l := m.olderAnswers(h)
	if a == nil {
		return nil
	}
	defer a.r.Close()
	m.wait() // for the few rows that came; a first fill has no answers before it
	c := m.changeOf(st, v, a, l)
	if c == nil {
		return nil
	}
	u := &update{uid: m.liveUIDs(v, st)}
	trees := false
	for i := range a.r.Segments() {
		for _, s := range a.r.Segment(i).Sections() {
			if x := m.updatable(st, s.Name()); x != nil {
				u.answers = append(u.answers, x)
				trees = trees || x.crit == nil
			}
		}
	}
	if len(u.answers) == 0 {
		return nil
	}
	if trees {
		if st.loadLinks() != nil || st.loadDates() != nil {
			return nil // the cache's damage is found by who needs it
		}
		m.replies = st.cols.replies(m.replies)
		c.in = st.cols.input(m.replies)
	}
	for _, x := range u.answers { // columns are loaded and made by one goroutine
		for _, k := range x.crit {
			if c.col[k.Key] != nil {
				continue
			}
			if st.loadKey(k.Key) != nil {
				return nil
			}
			c.col[k.Key] = st.values(make([]uint64, 0, st.rows), k.Key)
		}
	}
	var wg sync.WaitGroup
	first := true
	for _, x := range u.answers {
		if x.crit == nil {
			sc := &m.threads
			if !first {
				sc = new(thread.Scratch)
			}
			first = false
			wg.Go(func() { x.tree(a, c, sc) })
		}
	}
	wg.Go(func() {
		for _, x := range u.answers {
			if x.crit != nil {
				x.sorted(a, c)
			}
		}
	})
	wg.Wait()
	for _, x := range u.answers {
		if x.secs != nil {
			m.counts.updated.Add(1)
		}
	}
	return u
}

// updatable says what section name of the answers is; nil: not an answer, or one
// whose columns are not there.
func (m *mailbox) updatable(st *store, name string) *updated {
	if alg, ok := strings.CutPrefix(name, "t."); ok {
		a, err := thread.ParseAlg(alg)
		if err != nil {
			return nil // its second stream
		}
		return &updated{name: name, alg: a}
	}
	letters, ok := strings.CutPrefix(name, "s.")
	if !ok {
		return nil
	}
	x := &updated{name: name}
	for _, l := range []byte(letters) {
		k := strings.IndexByte(keyLetters, l|0x20)
		if k < 0 || !st.has(mailsort.Key(k)) {
			return nil
		}
		x.crit = append(x.crit, mailsort.Criterion{Key: mailsort.Key(k), Reverse: l&0x20 == 0})
	}
	if orderName(x.crit) != name {
		return nil
	}
	return x
}

// has reports whether the column of a sort key is in memory or in the file.
func (s *store) has(k mailsort.Key) bool {
	switch k {
	case mailsort.Date, mailsort.Subject:
		return true
	case mailsort.Arrival:
		return s.arrival != nil || s.covers("arrival")
	case mailsort.Size:
		return s.size != nil || s.covers("size")
	}
	t := s.addressOf(k)
	return t != nil && (t.hasVal || s.covers(t.name))
}

// A change is how the messages that answers are true of became those of now.
type change struct {
	n       int     // messages then
	row     []int32 // their cache rows
	gone    []int32 // cache rows
	fresh   []int32
	message []int32 // by cache row, now; nil: the row itself
	in      thread.Input
	col     [mailsort.NumKeys][]uint64
}

// olderAnswers opens answers that are true of an earlier set of messages, and
// tells what has happened since.
func (m *mailbox) olderAnswers(h *index.BaseHeader) (*answersFile, *index.Lately) {
	if m.forget {
		return nil, nil
	}
	r, err := blockfile.Open(m.fs, m.answersPath)
	if err != nil {
		return nil, nil
	}
	fh := r.Header()
	now := m.set(h)
	a := &answersFile{r: r, c: &m.counts}
	if fh.Kind == answersKind && fh.Version == version && fh.UIDValidity == h.UIDValidity && fh.Generation <= h.Generation &&
		a.set.decode(fh.Meta, h.UIDValidity) && a.set.identity == now.identity && a.set != now {
		l, ok, err := m.base.Lately(a.set.uidNext, a.set.hash)
		if ok && err == nil && 8*(l.Added()+len(l.Removed)) <= a.set.messages && a.uids() {
			return a, l
		}
	}
	r.Close()
	return nil, nil
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

// changeOf finds the cache rows of what was, went and came; nil: the cache does
// not have them all.
func (m *mailbox) changeOf(st *store, v *view, a *answersFile, l *index.Lately) *change {
	rows := func(uids []uint32) ([]int32, bool) {
		out := make([]int32, 0, len(uids))
		k := 0
		for _, u := range uids {
			for k < len(st.cols.uid) && st.cols.uid[k] < u {
				k++
			}
			if k == len(st.cols.uid) || st.cols.uid[k] != u {
				return nil, false
			}
			out = append(out, int32(k))
		}
		return out, true
	}
	c := &change{n: len(a.uid)}
	var ok [3]bool
	c.row, ok[0] = rows(a.uid)
	c.gone, ok[1] = rows(l.Removed)
	c.fresh, ok[2] = rows(l.UIDs())
	if ok != [3]bool{true, true, true} || len(c.row)+len(c.fresh)-len(c.gone) != v.n {
		return nil
	}
	if v.live != nil {
		c.message = make([]int32, st.rows)
		for i, r := range v.live {
			c.message[r] = int32(i)
		}
	}
	return c
}

// messages turns cache rows into messages where they are.
func (c *change) messages(rows []int32) {
	if c.message == nil {
		return
	}
	for i, r := range rows {
		if r >= 0 {
			rows[i] = c.message[r]
		}
	}
}

// tree updates a stored forest.
func (x *updated) tree(a *answersFile, c *change, sc *thread.Scratch) {
	row, nodes, ok1 := a.bytes(x.name)
	kids, nodes2, ok2 := a.bytes(x.name + ".k")
	var old, f thread.Forest
	if !ok1 || !ok2 || nodes != nodes2 || !decodeForest(&old, row, kids, nodes, c.n) {
		return
	}
	for i, r := range old.Row {
		if r >= 0 {
			old.Row[i] = c.row[r]
		}
	}
	if !thread.Update(x.alg, &c.in, &old, c.gone, c.fresh, &f, sc) {
		return
	}
	c.messages(f.Row)
	x.forest, x.secs = &f, forestSections(x.name, &f)
}

// sorted updates a stored order.
func (x *updated) sorted(a *answersFile, c *change) {
	b, rows, ok := a.bytes(x.name)
	if !ok || rows != c.n {
		return
	}
	old, ok := decodeOrder(nil, b, c.row)
	if !ok {
		return
	}
	var col [][]uint64
	for _, k := range x.crit {
		col = append(col, c.col[k.Key])
	}
	if x.order, ok = mailsort.Merge(nil, old, c.gone, slices.Clone(c.fresh), x.crit, col); !ok {
		return
	}
	c.messages(x.order)
	x.secs = []section{{x.name, len(x.order), encodeOrder(x.order)}}
}
