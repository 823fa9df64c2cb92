package explain

import (
	"slices"

	"mailbench/index"
	"mailbench/thread"
)

// A Place is where THREAD REFERENCES has put a message, and why.
type Place struct {
	Parent uint32 // UID; 0: a top-level message, or below a dummy
	Root   uint32 // UID of the first message of its thread
	By     By
}

// By is the rule of RFC 5256 that put a message where it is.
type By uint8

// The rules.
const (
	ByNone       By = iota // nothing: it is at the top of its thread
	ByReferences           // a chain of references, its own or another message's (steps 1 to 4)
	BySubject              // its base subject (step 5)
)

// Places finds the places of the messages whose UIDs wanted selects (nil: of
// all) in the answer to THREAD REFERENCES. entry gives the source's entry of a
// UID, nil when it has gone. It reads the headers of all messages of their
// threads: a message may stand below another because of what a third says.
// O(messages) in memory, 40 bytes for each and its references.
func Places(src index.Source, ans *index.Answer, wanted map[uint32]bool, entry func(uid uint32) *index.Entry, compat index.Compat) (map[uint32]Place, error) {
	f := family(&ans.Forest, len(ans.UID))
	need := make([]bool, len(ans.UID)) // by the first row of a thread
	for row, uid := range ans.UID {
		if f.root[row] >= 0 && (wanted == nil || wanted[uid]) {
			need[f.root[row]] = true
		}
	}
	rows := index.Rows{Source: src, N: len(ans.UID), Entry: func(row int) *index.Entry {
		if f.root[row] < 0 || !need[f.root[row]] {
			return nil
		}
		return entry(ans.UID[row])
	}}
	cols, err := rows.Columns(index.WantIDs, compat)
	if err != nil {
		return nil, err
	}
	k := kin(&cols.Input)
	out := make(map[uint32]Place)
	for row, uid := range ans.UID {
		if f.root[row] < 0 || wanted != nil && !wanted[uid] {
			continue
		}
		p := Place{Root: ans.UID[f.root[row]]}
		switch at := f.parent[row]; {
		case at >= 0:
			p.Parent, p.By = ans.UID[at], BySubject
			if k.same(int32(row), at) {
				p.By = ByReferences
			}
		case at == underDummy:
			p.By = BySubject
			if f.mates(int32(row), k) > 1 {
				p.By = ByReferences
			}
		}
		out[uid] = p
	}
	return out, nil
}

// Values of families.parent that are no row.
const (
	atTop      = -1
	underDummy = -2
)

// families are the relations in a forest, by row.
type families struct {
	parent []int32         // row of the parent, or one of the above
	root   []int32         // first row of the thread; -1: not in the forest
	group  []int32         // of a row under a dummy: the dummy's node
	under  map[int32]group // by the dummy's node
}

// A group is the rows below one dummy, and, when it is first asked, how many
// of them hang together by references.
type group struct {
	rows  []int32
	count map[int32]int
}

func family(forest *thread.Forest, n int) *families {
	f := &families{parent: slices.Repeat([]int32{atTop}, n), root: slices.Repeat([]int32{-1}, n), group: make([]int32, n), under: map[int32]group{}}
	type level struct{ node, row, left int32 }
	var up []level // open ancestors
	first := int32(-1)
	for node, row := range forest.Row {
		if len(up) == 0 {
			first = -1
		}
		if row >= 0 {
			if first < 0 {
				first = row
			}
			f.root[row] = first
			if len(up) > 0 {
				at := up[len(up)-1]
				f.parent[row] = at.row
				if at.row < 0 {
					f.parent[row], f.group[row] = underDummy, at.node
					g := f.under[at.node]
					g.rows = append(g.rows, row)
					f.under[at.node] = g
				}
			}
		}
		if len(up) > 0 {
			up[len(up)-1].left--
		}
		if forest.Kids[node] > 0 {
			up = append(up, level{int32(node), row, forest.Kids[node]})
		}
		for len(up) > 0 && up[len(up)-1].left == 0 {
			up = up[:len(up)-1]
		}
	}
	return f
}

// mates is how many of the rows under row's dummy are tied to row by
// references, itself included.
func (f *families) mates(row int32, k *ties) int {
	g := f.under[f.group[row]]
	if g.count == nil {
		g.count = make(map[int32]int, len(g.rows))
		for _, r := range g.rows {
			g.count[k.of(r)]++
		}
		f.under[f.group[row]] = g
	}
	return g.count[k.of(row)]
}

// ties are sets of ids and messages that references connect.
type ties struct {
	node []int32 // of each row: its id, or one of its own where that is another's too
	up   []int32
}

func kin(in *thread.Input) *ties {
	k := &ties{node: make([]int32, in.N), up: make([]int32, in.NumIDs+in.N)}
	for i := range k.up {
		k.up[i] = int32(i)
	}
	held := make([]bool, in.NumIDs)
	for row := range in.N {
		k.node[row] = int32(in.NumIDs + row)
		if id := in.ID[row]; id >= 0 && !held[id] {
			held[id] = true
			k.node[row] = id
		}
	}
	for row := range in.N {
		at := k.node[row]
		refs := in.Ref[in.RefOff[row]:in.RefOff[row+1]]
		for i := len(refs) - 1; i >= 0; i-- {
			a, b := k.find(at), k.find(refs[i])
			k.up[max(a, b)] = min(a, b)
			at = refs[i]
		}
	}
	return k
}

func (k *ties) find(i int32) int32 {
	for k.up[i] != i {
		k.up[i] = k.up[k.up[i]]
		i = k.up[i]
	}
	return i
}

func (k *ties) of(row int32) int32   { return k.find(k.node[row]) }
func (k *ties) same(a, b int32) bool { return k.of(a) == k.of(b) }

// Put says in x where its message is. A tie by references is the message's own
// In-Reply-To when it has no References that could be used.
func (x *Message) Put(p Place) {
	x.ParentUID, x.RootUID = nil, nil
	if p.Parent != 0 {
		x.ParentUID = &p.Parent
	}
	if p.Root != 0 {
		x.RootUID = &p.Root
	}
	switch {
	case p.By == BySubject:
		x.By = "subject"
	case p.By == ByReferences && len(x.References) == 0 && len(x.InReplyTo) > 0:
		x.By = "in-reply-to"
	case p.By == ByReferences:
		x.By = "references"
	default:
		x.By = "none"
	}
}
