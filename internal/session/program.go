package session

import (
	"slices"

	"mailbench/index"
)

// An op is what a node of a search program asks.
type op uint8

const (
	opAll op = iota
	opNone
	opAnd
	opOr
	opNot
	opFlags   // one of flags is set
	opWords   // one of words is set
	opSeq     // sequence number in set
	opUID     // UID in set
	opDate    // day of INTERNALDATE in [from, to)
	opSent    // day of Date in [from, to)
	opSize    // RFC822.SIZE in (from, to), both ends outside
	opHeader  // needle is in field name
	opBody    // needle is in the text
	opText    // needle is in header or text
	opAddress // as opHeader, of a field with addresses
)

// A node is a search program, ready to be asked about messages.
type node struct {
	op       op
	kids     []*node
	flags    index.Flags
	words    uint32
	set      []span
	from, to int64
	name     string
	field    int // of plan.fields; -1: not among those that the index is asked for
	needle   needle
}

// A span is the numbers from lo to hi.
type span struct{ lo, hi uint32 }

// within reports whether n is in one of spans, which are sorted and apart.
func within(set []span, n uint32) bool {
	i, _ := slices.BinarySearchFunc(set, n, func(s span, n uint32) int {
		if s.hi < n {
			return -1
		}
		return 1
	})
	return i < len(set) && set[i].lo <= n
}

// tidy sorts spans and joins those that meet.
func tidy(set []span) []span {
	slices.SortFunc(set, func(a, b span) int {
		if a.lo < b.lo {
			return -1
		}
		return int(min(a.lo-b.lo, 1))
	})
	out := set[:0]
	for _, s := range set {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// cost orders the keys of an AND or OR: what is in memory, what costs a system
// call, what is in a header, what needs the whole message.
func (n *node) cost() int {
	switch n.op {
	case opDate:
		return 1
	case opHeader, opAddress, opSent:
		return 2
	case opSize:
		return 3
	case opBody, opText:
		return 4
	case opAnd, opOr, opNot:
		most := 0
		for _, k := range n.kids {
			most = max(most, k.cost())
		}
		return most
	}
	return 0
}

// order brings the cheap keys to the front, throughout.
func (n *node) order() {
	for _, k := range n.kids {
		k.order()
	}
	if n.op == opAnd || n.op == opOr {
		slices.SortStableFunc(n.kids, func(a, b *node) int { return a.cost() - b.cost() })
	}
}

// all reports whether the program is every message.
func (n *node) all() bool {
	switch n.op {
	case opAll:
		return true
	case opAnd:
		return !slices.ContainsFunc(n.kids, func(k *node) bool { return !k.all() })
	}
	return false
}

// undeleted reports whether the program is every message without \Deleted.
func (n *node) undeleted() bool {
	switch n.op {
	case opNot:
		k := n.kids[0]
		return k.op == opFlags && k.flags == index.FlagDeleted
	case opAnd:
		found := false
		for _, k := range n.kids {
			if k.undeleted() {
				found = true
			} else if !k.all() {
				return false
			}
		}
		return found
	}
	return false
}

// A verdict on a message, as far as it is known.
type verdict int8

const (
	no verdict = iota - 1
	unknown
	yes
)

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// A level is what a verdict may use.
type level uint8

const (
	levelRow    level = iota // the row
	levelFields              // and the fields that the index gave
	levelMail                // and the mail
)

// judge says whether c is one of the messages, as far as level allows: with
// levelMail it is never unknown.
func (n *node) judge(c *candidate, l level) (verdict, error) {
	switch n.op {
	case opAll:
		return yes, nil
	case opNone:
		return no, nil
	case opNot:
		v, err := n.kids[0].judge(c, l)
		return -v, err
	case opAnd, opOr:
		// AND ends with the first no, OR with the first yes.
		end := no
		if n.op == opOr {
			end = yes
		}
		result := -end
		for _, k := range n.kids {
			v, err := k.judge(c, l)
			if err != nil || v == end {
				return v, err
			}
			if v == unknown {
				result = unknown
			}
		}
		return result, nil
	case opFlags:
		return verdictOf(c.flags&n.flags != 0), nil
	case opWords:
		return verdictOf(c.words&n.words != 0), nil
	case opSeq:
		return verdictOf(within(n.set, c.seq)), nil
	case opUID:
		return verdictOf(within(n.set, c.uid)), nil
	}
	if n.field >= 0 && l >= levelFields && c.values != nil {
		return n.judgeField(c, c.values[n.field]), nil
	}
	if l < levelMail {
		return unknown, nil
	}
	return n.judgeMail(c)
}
