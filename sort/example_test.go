package sort_test

import (
	"fmt"

	"mailbench/sort"
)

func ExampleOrder() {
	var subjects sort.Arena
	for _, raw := range []string{"Re: sloe gin", "quince jam", "[list] Sloe gin (fwd)"} {
		key, reply := sort.SubjectKey(nil, []byte(raw))
		fmt.Printf("%s %v\n", key, reply)
		subjects.Append(key)
	}
	var scratch sort.Scratch
	columns := map[sort.Key][]uint64{sort.Date: {30, 20, 40}}
	for _, r := range sort.Ranks(nil, &subjects, &scratch) {
		columns[sort.Subject] = append(columns[sort.Subject], uint64(r))
	}
	crit, _ := sort.ParseCriteria("SUBJECT REVERSE DATE")
	rows := sort.Order(nil, 3, nil, crit, func(k sort.Key) []uint64 { return columns[k] }, &scratch)
	uids := []uint32{}
	for _, r := range rows {
		uids = append(uids, uint32(r+1))
	}
	fmt.Printf("%s\n", sort.AppendIMAP(nil, uids))
	// Output:
	// SLOE GIN true
	// QUINCE JAM false
	// SLOE GIN true
	// * SORT 2 3 1
}
