package thread_test

import (
	"fmt"

	"mailbench/thread"
)

func ExampleBuild() {
	ids := thread.NewInterner(4, 100)
	quince, sloe, damson := ids.Intern([]byte("quince@x")), ids.Intern([]byte("sloe@x")), ids.Intern([]byte("damson@x"))
	in := thread.Input{
		N:       3,
		ID:      []int32{quince, sloe, damson},
		RefOff:  []uint32{0, 0, 1, 2},
		Ref:     []int32{quince, quince}, // rows 1 and 2 answer row 0
		NumIDs:  ids.Len(),
		Subject: []int32{1, 1, 1},
		Reply:   []uint8{0, 1, 1},
		Date:    []int64{100, 300, 200}, // row 2 was written before row 1
	}
	var forest thread.Forest
	var scratch thread.Scratch
	uids := []uint32{4, 7, 9}
	thread.Build(thread.References, &in, nil, &forest, &scratch)
	fmt.Printf("%s\n", forest.AppendIMAP(nil, uids))
	thread.Build(thread.References, &in, []int32{1, 2}, &forest, &scratch)
	fmt.Printf("%s\n", forest.AppendIMAP(nil, uids))
	// Output:
	// * THREAD (4 (9)(7))
	// * THREAD ((9)(7))
}
