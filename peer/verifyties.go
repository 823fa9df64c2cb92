package peer

import "strings"

// A tieless System leaves messages with the same sort key in no order, where RFC
// 5256 section 3 wants that of their sequence numbers. Everybody knows, so it is
// no news of a verdict.
type tieless interface{ ordersNoTies() bool }

// reversed asks for the opposite of keys: "REVERSE SUBJECT DATE" for "SUBJECT
// REVERSE DATE". Ties stay in order of sequence numbers under both.
func reversed(keys string) string {
	var out []string
	words := strings.Fields(keys)
	for i := 0; i < len(words); i++ {
		if words[i] == "REVERSE" && i+1 < len(words) {
			i++
			out = append(out, words[i])
		} else {
			out = append(out, "REVERSE", words[i])
		}
	}
	return strings.Join(out, " ")
}

// sortedButTies reports whether theirs has the messages of forward in the order
// of their keys, those with the same key in any order. backward is the answer
// to the reversed keys: two neighbours of forward have the same key when they
// stand the same way round in it.
func sortedButTies(theirs, forward, backward []uint32) bool {
	if len(theirs) != len(forward) || len(backward) != len(forward) {
		return false
	}
	at := make(map[uint32]int, len(backward))
	for i, uid := range backward {
		at[uid] = i
	}
	rank := make(map[uint32]int, len(forward))
	for i, uid := range forward {
		switch {
		case i == 0:
			rank[uid] = 0
		case at[forward[i-1]] < at[uid]:
			rank[uid] = rank[forward[i-1]]
		default:
			rank[uid] = rank[forward[i-1]] + 1
		}
	}
	last := 0
	for _, uid := range theirs {
		r, ok := rank[uid]
		if !ok || r < last {
			return false
		}
		last = r
		delete(rank, uid) // there once
	}
	return true
}

// butTies reports whether a sort differs from ours only among messages with the
// same key. forward is the answer to q by a, and not a's own memory.
func (q question) butTies(a Answers, theirs, forward []uint32) (bool, error) {
	back, err := a.Sort(reversed(q.sort))
	return err == nil && sortedButTies(theirs, forward, back), err
}
