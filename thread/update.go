package thread

import (
	"cmp"
	"slices"
)

// Update puts into dst what Build would make of the rows of old without those of
// gone and with those of fresh, by building the trees anew that the change can
// touch and copying the others. old must be what Build (or Update) gave for alg
// on in, in rows of in; gone (which are in old) and fresh (which are not) ascend.
// dst must not share memory with old. ok is false when the change touches too
// much for this to pay: dst is of no use then, and Build does it.
//
// What it can touch. Two ids belong together when one message names both, as its
// own or among its references. Links of step (1) are made and cut within such
// components only, so trees before step (5) of components without a row that
// came or went are what they were. Step (5) makes one tree of all roots of one
// subject, so the trees to replace are those with a row of a touched component,
// and those whose subject some root of a touched component has now. What else
// stands in these comes from other components: they are built again as well, and
// of what comes out the roots of the subjects concerned are kept. Trees of REFS
// are ordered by what only building tells when their latest dates are equal:
// then those are built again, too.
//
// O(rows + references), about a third of Build's time for a few rows.
func Update(alg Alg, in *Input, old *Forest, gone, fresh []int32, dst *Forest, sc *Scratch) (ok bool) {
	dst.Row, dst.Kids = dst.Row[:0], dst.Kids[:0]
	u := &sc.upd
	u.in, u.old, u.alg = in, old, alg
	if 8*(len(gone)+len(fresh)) > in.N+64 {
		return false
	}
	u.flag = sized(u.flag, in.N)
	clear(u.flag)
	u.trees()
	for _, r := range fresh {
		if u.flag[r]&rowThere != 0 {
			return false
		}
		u.flag[r] |= rowThere | rowTouched
	}
	for _, r := range gone {
		if u.flag[r]&rowThere == 0 {
			return false
		}
		u.flag[r] = rowGone | rowTouched
	}
	switch alg {
	case OrderedSubject:
		ok = sc.updateSubjects(gone, fresh)
	case Refs:
		ok = sc.updateRefs(gone, fresh)
	default:
		ok = sc.updateReferences(gone, fresh)
	}
	return ok && u.splice(dst, len(fresh)-len(gone))
}

// What is known of a row.
const (
	rowThere   = 1 << iota // in the tree or new
	rowGone                // was in the tree
	rowTouched             // of a component with a row that came or went
	rowAgain               // of another component to be built again
)

// An updater is the working memory of Update.
type updater struct {
	in   *Input
	old  *Forest
	alg  Alg
	flag []uint8   // by row
	tree []oldTree // of old, in their order
	comp []int32   // by id: its component, the lowest id of it
	hit  []uint64  // bitmap by component: touched
	more []uint64  // bitmap by component: to be built again
	subj []uint64  // bitmap by subject: concerned
	rows []int32   // to be built
	made Forest    // what came out
	at   []newTree
}

// An oldTree is one tree of the old forest.
type oldTree struct {
	from, to int32 // nodes
	lead     int32 // row that speaks for it
	latest   int64 // Refs: latest date in it
	replaced bool
}

type newTree struct {
	from, to int32
	place    int // number of old trees before it
}

// trees finds the trees of the old forest and notes their rows.
func (u *updater) trees() {
	u.tree = u.tree[:0]
	row, kids := u.old.Row, u.old.Kids
	for i := 0; i < len(row); {
		t := oldTree{from: int32(i), lead: row[i]}
		if t.lead < 0 {
			t.lead = row[i+1]
		}
		for due := int32(1); due > 0; i++ {
			due += kids[i] - 1
			if r := row[i]; r >= 0 {
				u.flag[r] |= rowThere
				if u.alg == Refs {
					t.latest = max(t.latest, u.in.Date[r])
				}
			}
		}
		t.to = int32(i)
		u.tree = append(u.tree, t)
	}
}

// components joins ids that some row names together.
func (u *updater) components() {
	in := u.in
	u.comp = sized(u.comp, in.NumIDs)
	p := u.comp
	for i := range p {
		p[i] = int32(i)
	}
	for row, a := range in.ID[:in.N] {
		for _, b := range in.Ref[in.RefOff[row]:in.RefOff[row+1]] {
			if a >= 0 && p[a] != p[b] {
				// The lower root stays, with paths halved on the way.
				x, y := a, b
				for p[x] != x {
					p[x] = p[p[x]]
					x = p[x]
				}
				for p[y] != y {
					p[y] = p[p[y]]
					y = p[y]
				}
				if x < y {
					p[y] = x
				} else {
					p[x] = y
				}
			}
			a = b
		}
	}
	for i, x := range p { // parents come first
		p[i] = p[x]
	}
	u.hit = bitmap(u.hit, in.NumIDs)
	u.more = bitmap(u.more, in.NumIDs)
}

// of is the component of a row, -1 when it names no id.
func (u *updater) of(row int32) int32 {
	id := u.in.ID[row]
	if id < 0 {
		if u.in.RefOff[row] == u.in.RefOff[row+1] {
			return -1
		}
		id = u.in.Ref[u.in.RefOff[row]]
	}
	return u.comp[id]
}

// touch notes the components of rows.
func (u *updater) touch(rows []int32) {
	for _, r := range rows {
		if c := u.of(r); c >= 0 {
			u.hit[c>>6] |= 1 << (c & 63)
		}
	}
}

// spread passes what is known of components on to their rows.
func (u *updater) spread() {
	for r := range int32(u.in.N) {
		if c := u.of(r); c >= 0 {
			if u.hit[c>>6]>>(c&63)&1 != 0 {
				u.flag[r] |= rowTouched
			}
			if u.more[c>>6]>>(c&63)&1 != 0 {
				u.flag[r] |= rowAgain
			}
		}
	}
}

// replace marks the trees that have a row with one of these flags.
func (u *updater) replace(flags uint8) {
	for i := range u.tree {
		t := &u.tree[i]
		for k := t.from; k < t.to && !t.replaced; k++ {
			if r := u.old.Row[k]; r >= 0 && u.flag[r]&flags != 0 {
				t.replaced = true
			}
		}
	}
}

// again has the components of a tree built again.
func (u *updater) again(t *oldTree) {
	for _, r := range u.old.Row[t.from:t.to] {
		if r < 0 {
			continue
		}
		if c := u.of(r); c >= 0 {
			u.more[c>>6] |= 1 << (c & 63)
		} else {
			u.flag[r] |= rowAgain
		}
	}
}

// pick lists the rows that are there and have one of these flags. false: they
// are too many.
func (u *updater) pick(flags uint8) bool {
	u.rows = u.rows[:0]
	for r, f := range u.flag {
		if f&rowThere != 0 && f&flags != 0 {
			u.rows = append(u.rows, int32(r))
		}
	}
	return 4*len(u.rows) <= u.in.N+64
}

// build is Build up to step (4) of the picked rows.
func (sc *Scratch) build(alg Alg) *Input {
	sc.steps, sc.lct.steps = 0, 0
	sc.rows = sc.upd.rows
	in := sc.subset(alg, sc.upd.in, sc.rows)
	switch {
	case in.N == 0:
		sc.roots = sc.roots[:0]
	case alg == OrderedSubject:
		sc.orderedSubject(in)
	default:
		sc.link(in)
		sc.splice(in)
		if alg == Refs {
			sc.orderByRecent(in)
		} else {
			sc.orderRoots(in)
		}
	}
	return in
}

func (sc *Scratch) updateSubjects(gone, fresh []int32) bool {
	u := &sc.upd
	u.subj = u.subj[:0]
	for _, rows := range [...][]int32{gone, fresh} {
		for _, r := range rows {
			u.concern(u.in.Subject[r])
		}
	}
	for i := range u.tree {
		t := &u.tree[i]
		t.replaced = u.concerned(u.in.Subject[t.lead])
	}
	for r, f := range u.flag {
		if f&rowThere != 0 && u.concerned(u.in.Subject[r]) {
			u.flag[r] |= rowTouched
		}
	}
	if !u.pick(rowTouched) {
		return false
	}
	sc.emitMade(sc.build(OrderedSubject))
	u.placeByLead()
	return true
}

// concern notes a subject.
func (u *updater) concern(s int32) {
	for int(s>>6) >= len(u.subj) {
		u.subj = append(u.subj, 0)
	}
	u.subj[s>>6] |= 1 << (s & 63)
}

func (u *updater) concerned(s int32) bool {
	return int(s>>6) < len(u.subj) && u.subj[s>>6]>>(s&63)&1 != 0
}

func (sc *Scratch) updateReferences(gone, fresh []int32) bool {
	u := &sc.upd
	u.components()
	u.touch(gone)
	u.touch(fresh)
	u.spread()
	u.replace(rowTouched)
	u.subj = u.subj[:0]
	others := false
	for i := range u.tree {
		if t := &u.tree[i]; t.replaced {
			if s := u.in.Subject[t.lead]; s != 0 {
				u.concern(s)
				u.again(t)
				others = true
			}
		}
	}
	if !u.pick(rowTouched) {
		return false
	}
	in := sc.build(References)
	for _, x := range sc.roots {
		if s := in.Subject[sc.lead(in, x)]; s != 0 {
			u.concern(s)
		}
	}
	for i := range u.tree {
		t := &u.tree[i]
		if s := u.in.Subject[t.lead]; !t.replaced && s != 0 && u.concerned(s) {
			t.replaced = true
			u.again(t)
			others = true
		}
	}
	if others {
		u.spread()
		if !u.pick(rowTouched | rowAgain) {
			return false
		}
		in = sc.build(References)
	}
	keep := func() {
		sc.roots = slices.DeleteFunc(sc.roots, func(x int32) bool {
			lead := sc.lead(in, x)
			if s := in.Subject[lead]; s != 0 {
				return !u.concerned(s)
			}
			return u.flag[sc.rows[lead]]&rowTouched == 0
		})
	}
	keep()
	if sc.mergeSubjects(in) {
		sc.orderRoots(in)
		keep()
	}
	sc.emitMade(in)
	u.placeByLead()
	return true
}

func (sc *Scratch) updateRefs(gone, fresh []int32) bool {
	u := &sc.upd
	u.components()
	u.touch(gone)
	u.touch(fresh)
	for range 4 {
		u.spread()
		u.replace(rowTouched | rowAgain)
		if !u.pick(rowTouched | rowAgain) {
			return false
		}
		sc.emitMade(sc.build(Refs))
		if !u.placeByRecent() {
			return true
		}
	}
	return false
}

// emitMade is emit into u.made, with the trees listed.
func (sc *Scratch) emitMade(in *Input) {
	u := &sc.upd
	u.made.Row, u.made.Kids, u.at = u.made.Row[:0], u.made.Kids[:0], u.at[:0]
	all := sc.roots
	for i := range all {
		from := len(u.made.Row)
		sc.roots = all[i : i+1]
		sc.emit(in, &u.made)
		u.at = append(u.at, newTree{from: int32(from), to: int32(len(u.made.Row))})
	}
	sc.roots = all
}

// placeByLead places new trees among the old by date and row of their leads.
func (u *updater) placeByLead() {
	at := 0
	for i := range u.at {
		n := &u.at[i]
		lead := u.made.Row[n.from]
		if lead < 0 {
			lead = u.made.Row[n.from+1]
		}
		date := u.in.Date[lead]
		k, _ := slices.BinarySearchFunc(u.tree[at:], lead, func(t oldTree, lead int32) int {
			return cmp.Or(cmp.Compare(u.in.Date[t.lead], date), cmp.Compare(t.lead, lead), 1)
		})
		at += k
		n.place = at
	}
}

// placeByRecent places new trees among the old by their latest date. ties: some
// have that of an old tree that stays; its components are noted to be built
// again.
func (u *updater) placeByRecent() (ties bool) {
	at := 0
	for i := range u.at {
		n := &u.at[i]
		latest := int64(0)
		for _, r := range u.made.Row[n.from:n.to] {
			if r >= 0 {
				latest = max(latest, u.in.Date[r])
			}
		}
		k, _ := slices.BinarySearchFunc(u.tree[at:], latest, func(t oldTree, latest int64) int {
			return cmp.Compare(t.latest, latest)
		})
		at += k
		n.place = at
		for k := at; k < len(u.tree) && u.tree[k].latest == latest; k++ {
			if t := &u.tree[k]; !t.replaced {
				u.again(t)
				ties = true
			}
		}
	}
	return ties
}

// splice writes the old trees that stay and the new ones; more is how many rows
// more than before there must be.
func (u *updater) splice(dst *Forest, more int) bool {
	nodes, rows := len(u.made.Row), 0
	for _, r := range u.made.Row {
		if r >= 0 {
			rows++
		}
	}
	for i := range u.tree {
		t := &u.tree[i]
		if !t.replaced {
			nodes += int(t.to - t.from)
			continue
		}
		for _, r := range u.old.Row[t.from:t.to] {
			if r >= 0 {
				rows--
			}
		}
	}
	if rows != more { // a row lost or twice: old is not what it should be
		return false
	}
	dst.Row, dst.Kids = slices.Grow(dst.Row, nodes), slices.Grow(dst.Kids, nodes)
	old := func(from, to int) {
		for from < to {
			if u.tree[from].replaced {
				from++
				continue
			}
			end := from + 1
			for end < to && !u.tree[end].replaced {
				end++
			}
			a, b := u.tree[from].from, u.tree[end-1].to
			dst.Row = append(dst.Row, u.old.Row[a:b]...)
			dst.Kids = append(dst.Kids, u.old.Kids[a:b]...)
			from = end
		}
	}
	done := 0
	for _, n := range u.at {
		old(done, n.place)
		done = n.place
		dst.Row = append(dst.Row, u.made.Row[n.from:n.to]...)
		dst.Kids = append(dst.Kids, u.made.Kids[n.from:n.to]...)
	}
	old(done, len(u.tree))
	return true
}

// bitmap returns s with n bits, all 0.
func bitmap(s []uint64, n int) []uint64 {
	s = sized(s, n/64+1)
	clear(s)
	return s
}
