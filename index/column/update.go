package column

import (
	"slices"
	"strings"

	"mailbench/index"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// An updated is an answer that was stored for an earlier set of messages, made
// true of the messages that are there now: what came is put in its place, what
// went is taken out, threads that either touches are built again, and the rest
// is copied (thread.Update, mailsort.Merge).
type updated struct {
	alg    thread.Alg // with forest
	crit   []mailsort.Criterion
	uid    []uint32       // of the messages
	forest *thread.Forest // over messages; nil: an order
	order  []int32        // over messages
	secs   []section      // nil: it could not be done
}

// update brings a stored answer up to date; nil: there is none that this can be
// done with, or too much has happened. Nothing is written, and other answers
// stay as they are: who asks for one pays for it. O(n) with a small constant.
func (m *mailbox) update(st *store, v *view, h *index.BaseHeader, name string) *updated {
	a := m.openAnswers(h, false)
	if a == nil {
		return nil
	}
	seg := a.newest(name)
	if seg < 0 || a.sets[seg] == m.set(h) {
		return nil
	}
	of := a.sets[seg]
	l, ok, err := m.base.Lately(of.uidNext, of.hash)
	if err != nil || !ok || 8*(l.Added()+len(l.Removed)) > of.messages {
		return nil
	}
	uid, ok := a.uids(of)
	if !ok {
		return nil
	}
	m.wait() // for the few rows that came; a first fill has no answers before it
	c := m.changeOf(st, v, uid, l)
	x := m.updatable(st, name)
	if c == nil || x == nil {
		return nil
	}
	x.uid = m.liveUIDs(v, st)
	if x.crit == nil {
		if st.loadLinks() != nil || st.loadDates() != nil {
			return nil // the cache's damage is found by who needs it
		}
		m.replies = st.cols.replies(m.replies)
		c.in = st.cols.input(m.replies)
		x.tree(a, seg, name, c, &m.threads)
	} else {
		for _, k := range x.crit {
			if st.loadKey(k.Key) != nil {
				return nil
			}
			c.col[k.Key] = st.values(make([]uint64, 0, st.rows), k.Key)
		}
		x.sorted(a, seg, name, c)
	}
	if x.secs == nil {
		return nil
	}
	m.counts.updated.Add(1)
	return x
}

// updatable says what section name of the answers is; nil: not an answer, or one
// whose columns are not there.
func (m *mailbox) updatable(st *store, name string) *updated {
	if alg, ok := strings.CutPrefix(name, "t."); ok {
		a, err := thread.ParseAlg(alg)
		if err != nil {
			return nil // its second stream
		}
		return &updated{alg: a}
	}
	letters, ok := strings.CutPrefix(name, "s.")
	if !ok {
		return nil
	}
	x := &updated{}
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

// changeOf finds the cache rows of what was, went and came; nil: the cache does
// not have them all.
func (m *mailbox) changeOf(st *store, v *view, was []uint32, l *index.Lately) *change {
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
	c := &change{n: len(was)}
	var ok [3]bool
	c.row, ok[0] = rows(was)
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
func (x *updated) tree(a *answersFile, seg int, name string, c *change, sc *thread.Scratch) {
	row, nodes, ok1 := a.bytes(seg, name)
	kids, nodes2, ok2 := a.bytes(seg, name+".k")
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
	x.forest, x.secs = &f, forestSections(name, &f)
}

// sorted updates a stored order.
func (x *updated) sorted(a *answersFile, seg int, name string, c *change) {
	b, rows, ok := a.bytes(seg, name)
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
	x.secs = []section{{name, len(x.order), encodeOrder(x.order)}}
}
