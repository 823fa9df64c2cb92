package peer

import (
	"fmt"
	"slices"
)

// opNeeds are the operations without which another one is not what it is called:
// "again" is nothing without a first time.
var opNeeds = map[Op][]Op{
	OpSelectAgain: {OpSelectFirst}, OpResync: {OpSelectFirst},
	OpThreadFirst: {OpSelectFirst}, OpThreadAgain: {OpThreadFirst},
	OpSortDateFirst: {OpThreadFirst}, OpSortDateAgain: {OpSortDateFirst},
	OpSortSubjectFirst: {OpThreadFirst}, OpSortSubjectAgain: {OpSortSubjectFirst},
	OpCompact: {OpThreadFirst},
}

// ParseOps parses a list of operations: those named and all that they need, in
// the order in which a round does them.
func ParseOps(words []string) ([]Op, error) {
	var want []Op
	for _, w := range words {
		if !slices.Contains(Ops, Op(w)) {
			return nil, fmt.Errorf("no operation %q (there are %v)", w, Ops)
		}
		want = append(want, Op(w))
	}
	for i := 0; i < len(want); i++ { // it grows
		want = append(want, opNeeds[want[i]]...)
	}
	slices.SortFunc(want, func(a, b Op) int { return slices.Index(Ops, a) - slices.Index(Ops, b) })
	return slices.Compact(want), nil
}
