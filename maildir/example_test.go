package maildir_test

import (
	"fmt"

	"mailbench/maildir"
)

func ExampleParse() {
	n := maildir.Parse("1700000000.M123456P42.host,S=2048,W=2101:2,RSa", maildir.Options{})
	fmt.Println(n.Base)
	fmt.Println(n.Flags, n.Keywords, n.Size, n.VSize)
	n.Flags |= maildir.FlagFlagged
	fmt.Println(n.File(maildir.Options{}))
	// Output:
	// 1700000000.M123456P42.host,S=2048,W=2101
	// RS 1 2048 2101
	// 1700000000.M123456P42.host,S=2048,W=2101:2,FRSa
}
