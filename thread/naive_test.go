package thread

import (
	"cmp"
	"slices"
	"strconv"
)

// naive is RFC 5256 section 3 to the letter, with pointers, maps, recursion and
// a walk to the root for each link: what Build is held against.
type naive struct {
	in    *Input
	byID  map[int32]*nnode
	order []*nnode // in order of creation
	own   []*nnode
}

type nnode struct {
	row    int32 // -1 dummy
	parent *nnode
	kids   []*nnode
}

func (t *naive) add(row int32) *nnode {
	n := &nnode{row: row}
	t.order = append(t.order, n)
	return n
}

func (t *naive) lookup(id int32) *nnode {
	n := t.byID[id]
	if n == nil {
		n = t.add(-1)
		t.byID[id] = n
	}
	return n
}

func nlink(p, c *nnode) {
	for a := p; a != nil; a = a.parent {
		if a == c {
			return
		}
	}
	c.parent = p
	p.kids = append(p.kids, c)
}

func (t *naive) link(rows []int32) {
	t.byID = map[int32]*nnode{}
	for _, row := range rows {
		var self *nnode
		if id := t.in.ID[row]; id < 0 {
			self = t.add(row)
		} else if self = t.lookup(id); self.row < 0 {
			self.row = row
		} else {
			self = t.add(row)
		}
		t.own = append(t.own, self)
		var last *nnode
		for _, id := range t.in.Ref[t.in.RefOff[row]:t.in.RefOff[row+1]] {
			n := t.lookup(id)
			if last != nil && n.parent == nil {
				nlink(last, n)
			}
			last = n
		}
		if self.parent != nil && self.parent != last {
			p := self.parent
			p.kids = slices.DeleteFunc(p.kids, func(k *nnode) bool { return k == self })
			self.parent = nil
		}
		if last != nil && self.parent == nil {
			nlink(last, self)
		}
	}
}

// prune is step (3) for a list of siblings.
func prune(list []*nnode, top bool) (out []*nnode) {
	for _, n := range list {
		n.kids = prune(n.kids, false)
		switch {
		case n.row >= 0 || top && len(n.kids) > 1:
			out = append(out, n)
		default:
			out = append(out, n.kids...)
		}
	}
	return out
}

func (t *naive) lead(n *nnode) int32 {
	if n.row >= 0 {
		return n.row
	}
	return n.kids[0].row
}

func (t *naive) sort(list []*nnode) {
	for _, n := range list {
		t.sort(n.kids)
	}
	slices.SortFunc(list, func(a, b *nnode) int {
		x, y := t.lead(a), t.lead(b)
		return cmp.Or(cmp.Compare(t.in.Date[x], t.in.Date[y]), cmp.Compare(x, y))
	})
}

func (t *naive) roots() (roots []*nnode) {
	for _, n := range t.order {
		if n.parent == nil {
			roots = append(roots, n)
		}
	}
	return roots
}

func (t *naive) references(rows []int32) []*nnode {
	t.link(rows)
	roots := prune(t.roots(), true)
	t.sort(roots)
	// (5)
	table := map[int32]*nnode{}
	for _, c := range roots {
		s := t.in.Subject[t.lead(c)]
		if s == 0 {
			continue
		}
		e := table[s]
		if e == nil || e.row >= 0 && (c.row < 0 || t.in.Reply[e.row] != 0 && t.in.Reply[c.row] == 0) {
			table[s] = c
		}
	}
	gone := map[*nnode]bool{}
	var added []*nnode
	for _, c := range roots {
		s := t.in.Subject[t.lead(c)]
		e := table[s]
		switch {
		case s == 0 || e == c:
			continue
		case e.row < 0 && c.row < 0:
			e.kids = append(e.kids, c.kids...)
		case e.row < 0, t.in.Reply[c.row] != 0 && t.in.Reply[e.row] == 0:
			e.kids = append(e.kids, c)
		default:
			d := &nnode{row: -1, kids: []*nnode{c, e}}
			gone[e] = true
			added = append(added, d)
			table[s] = d
		}
		gone[c] = true
	}
	roots = append(slices.DeleteFunc(roots, func(n *nnode) bool { return gone[n] }), added...)
	t.sort(roots)
	return roots
}

func (t *naive) refs(rows []int32) []*nnode {
	t.link(rows)
	type thread struct {
		n      *nnode
		latest int64
		real   int
		place  int32
	}
	var list []thread
	var latest func(n *nnode) int64
	latest = func(n *nnode) (d int64) {
		if n.row >= 0 {
			d = t.in.Date[n.row]
		}
		for _, k := range n.kids {
			d = max(d, latest(k))
		}
		return max(d, 0)
	}
	for i, r := range t.roots() {
		real, place := 0, int32(i)
		if r.row >= 0 {
			real, place = 1, r.row
		}
		d := latest(r)
		for _, n := range prune([]*nnode{r}, true) {
			t.sort([]*nnode{n})
			list = append(list, thread{n, d, real, place})
		}
	}
	slices.SortFunc(list, func(a, b thread) int {
		return cmp.Or(cmp.Compare(a.latest, b.latest), cmp.Compare(a.real, b.real), cmp.Compare(a.place, b.place))
	})
	var out []*nnode
	for _, th := range list {
		out = append(out, th.n)
	}
	return out
}

func (t *naive) orderedSubject(rows []int32) []*nnode {
	byDate := slices.Clone(rows)
	slices.SortStableFunc(byDate, func(a, b int32) int { return cmp.Compare(t.in.Date[a], t.in.Date[b]) })
	first := map[int32]*nnode{}
	var roots []*nnode
	for _, row := range byDate {
		n := &nnode{row: row}
		if f := first[t.in.Subject[row]]; f != nil {
			f.kids = append(f.kids, n)
		} else {
			first[t.in.Subject[row]] = n
			roots = append(roots, n)
		}
	}
	return roots
}

// naiveThread answers as AppendIMAP does; the UID of a row is row+1.
func naiveThread(alg Alg, in *Input, rows []int32) string {
	if rows == nil {
		rows = []int32{}
		for i := range in.N {
			rows = append(rows, int32(i))
		}
	}
	t := &naive{in: in}
	var roots []*nnode
	switch alg {
	case References:
		roots = t.references(rows)
	case Refs:
		roots = t.refs(rows)
	case OrderedSubject:
		roots = t.orderedSubject(rows)
	}
	out := []byte("* THREAD")
	if len(roots) > 0 {
		out = append(out, ' ')
	}
	for _, r := range roots {
		out = nprint(out, r)
	}
	return string(out)
}

// nprint writes thread-list = "(" (thread-members / thread-nested) ")".
func nprint(out []byte, n *nnode) []byte {
	out = append(out, '(')
	for {
		if n.row >= 0 {
			out = strconv.AppendInt(out, int64(n.row)+1, 10)
		}
		if len(n.kids) != 1 {
			break
		}
		n = n.kids[0]
		out = append(out, ' ')
	}
	if len(n.kids) > 0 && n.row >= 0 {
		out = append(out, ' ')
	}
	for _, k := range n.kids {
		out = nprint(out, k)
	}
	return append(out, ')')
}
