package stat

import (
	"cmp"
	"slices"

	"mailbench/thread"
)

// finish turns counts into shares and threads the messages.
func (r *reader) finish() {
	s, c := &r.stats, &r.count
	s.Messages = r.in.N
	share := func(n int) float64 { return ratio(n, s.Messages) }

	s.Size, s.Header, s.Body = curve(r.size), curve(r.header), curve(r.body) // sorts the lists
	s.Over4K, s.Over8K = share(above(r.header, 4096)), share(above(r.header, 8192))
	s.To, s.Cc, s.Subject, s.References = curve(r.to), curve(r.cc), curve(r.subject), curve(r.references)
	s.Refs = curve(r.refs)
	s.HasTo, s.HasCc, s.HasSubject, s.HasDate, s.HasID = share(c.to), share(c.cc), share(c.subject), share(c.date), share(c.id)
	s.BadDate, s.HasReferences, s.HasInReplyTo = share(c.badDate), share(c.references), share(c.inReplyTo)
	s.HollowReferences, s.ProseInReplyTo = share(c.hollow), share(c.prose)
	s.Reply, s.EncodedSubject, s.Raw8Bit = share(c.reply), share(c.encoded), share(c.raw)
	s.NUL, s.BareCR, s.NoColon = share(c.nul), share(c.cr), share(c.noColon)
	s.DuplicateField, s.FromLine = share(c.duplicate), share(c.fromLine)
	s.SizeHint, s.New = share(c.hint), share(c.fresh)
	s.Fields, s.Flags = shares(r.fields, s.Messages), shares(r.flags, s.Messages)
	r.links()
	r.trees()
}

// links counts what the named parents say.
func (r *reader) links() {
	in := &r.in
	in.NumIDs = r.ids.Len()
	owner := make([]int32, in.NumIDs)
	for i := range owner {
		owner[i] = -1
	}
	for row, id := range in.ID {
		switch {
		case id < 0:
		case owner[id] >= 0:
			r.count.dup++
		default:
			owner[id] = int32(row)
		}
	}
	named, absent, early := 0, 0, 0
	for row := range in.N {
		refs := in.Ref[in.RefOff[row]:in.RefOff[row+1]]
		if len(refs) == 0 {
			continue
		}
		named++
		parent := owner[refs[len(refs)-1]]
		add(&absent, parent < 0)
		add(&early, parent > int32(row))
	}
	s := &r.stats
	s.DuplicateID = ratio(r.count.dup, s.Messages)
	s.AbsentParent = ratio(absent, named)
	s.EarlyChild = ratio(early, named-absent)
}

// trees measures the threads of REFERENCES. The forest is in preorder with
// the number of children of each node.
func (r *reader) trees() {
	var f thread.Forest
	var sc thread.Scratch
	thread.Build(thread.References, &r.in, nil, &f, &sc)
	var sizes, depths []int
	single, messages, deepest := 0, 0, 0
	type node struct{ toCome, level int32 }
	var open []node // the nodes on the way that have children to come
	for i, row := range f.Row {
		level := int32(0)
		if n := len(open); n > 0 {
			level = open[n-1].level
			if open[n-1].toCome--; open[n-1].toCome == 0 {
				open = open[:n-1]
			}
		}
		if row >= 0 {
			level++
			messages++
			deepest = max(deepest, int(level))
		}
		if f.Kids[i] > 0 {
			open = append(open, node{f.Kids[i], level})
		}
		if len(open) == 0 { // the thread ends here
			sizes, depths = append(sizes, messages), append(depths, deepest)
			add(&single, messages == 1)
			messages, deepest = 0, 0
		}
	}
	s := &r.stats
	s.Threads, s.ThreadSize, s.Depth = len(sizes), curve(sizes), curve(depths)
	s.Single = ratio(single, len(sizes))
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// curve sorts list.
func curve(list []int) Curve {
	n := len(list)
	if n == 0 {
		return Curve{}
	}
	slices.Sort(list)
	sum := 0
	for _, v := range list {
		sum += v
	}
	at := func(percent int) int { return list[min(n-1, n*percent/100)] }
	return Curve{N: n, Mean: float64(sum) / float64(n), P10: at(10), P50: at(50), P90: at(90), P99: at(99), Max: list[n-1]}
}

// above counts the values of a sorted list that are greater than limit.
func above(list []int, limit int) int {
	i, _ := slices.BinarySearch(list, limit+1)
	return len(list) - i
}

func shares(counts map[string]int, of int) []Share {
	list := make([]Share, 0, len(counts))
	for name, n := range counts {
		list = append(list, Share{name, ratio(n, of)})
	}
	slices.SortFunc(list, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name)) })
	return list
}
