package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Sort returns the UIDs in the order of the keys, as in "subject reverse date":
// arrival cc date from size subject to, displayfrom displayto, each with
// "reverse" before it or not. Ties are in UID order, also under reverse
// (RFC 5256 section 3). uids, ascending, are the messages to sort; nil means all.
func (t *Truth) Sort(keys string, uids []uint32) ([]uint32, error) {
	rows, err := t.rows(uids)
	if err != nil {
		return nil, err
	}
	type column struct {
		value   func(row int32) int64
		reverse int
	}
	var columns []column
	sign := 1
	for _, word := range strings.Fields(strings.ToLower(keys)) {
		if word == "reverse" && sign == 1 {
			sign = -1
			continue
		}
		value := t.column(word)
		if value == nil {
			return nil, fmt.Errorf("%w: sort %q", ErrAnswer, keys)
		}
		columns = append(columns, column{value, sign})
		sign = 1
	}
	if len(columns) == 0 || sign < 0 {
		return nil, fmt.Errorf("%w: sort %q", ErrAnswer, keys)
	}
	type entry struct {
		first int64
		row   int32
	}
	entries := make([]entry, len(rows))
	for i, row := range rows {
		entries[i] = entry{columns[0].value(row) * int64(columns[0].reverse), row}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Compare(a.first, b.first); c != 0 {
			return c
		}
		for _, col := range columns[1:] {
			if c := cmp.Compare(col.value(a.row), col.value(b.row)); c != 0 {
				return c * col.reverse
			}
		}
		return cmp.Compare(a.row, b.row)
	})
	order := make([]uint32, len(rows))
	for i, e := range entries {
		order[i] = uint32(e.row + 1)
	}
	return order, nil
}

// column returns a key's value of each row, or nil if there is no such key.
func (t *Truth) column(key string) func(row int32) int64 {
	person := func(whose []who, rank []uint32) func(int32) int64 {
		return func(row int32) int64 {
			if w := whose[row]; w != nobody {
				return int64(rank[w])
			}
			return 0 // no address: the empty string
		}
	}
	switch key {
	case "arrival":
		return func(row int32) int64 { return t.internal[row] }
	case "date":
		return func(row int32) int64 { return t.sent[row] }
	case "size":
		return func(row int32) int64 { return int64(t.vsize[row]) }
	case "subject":
		return func(row int32) int64 { return int64(t.subjects[t.subject[row]]) }
	case "from":
		return person(t.from, t.mailbox)
	case "to":
		return person(t.to, t.mailbox)
	case "cc":
		return person(t.cc, t.mailbox)
	case "displayfrom":
		return person(t.from, t.long)
	case "displayto":
		long, addr := person(t.to, t.long), person(t.to, t.addr)
		return func(row int32) int64 {
			if t.bareTo[row] {
				return addr(row)
			}
			return long(row)
		}
	}
	return nil
}
