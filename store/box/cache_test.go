package box

import (
	"testing"

	"mailbench/store"
)

func TestKnown(t *testing.T) {
	for _, x := range []struct {
		body, header, structure string
		vsize                   int64
	}{
		{"A: b\n\nhi\n", "A: b\n\n", `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 4 1 NIL NIL NIL NIL)`, 12},
		{"A: b\r\n\r\nhi\r\n", "A: b\r\n\r\n", "", 12},
		{"A: b\r\n\nhi\r", "A: b\r\n\n", "", 11},
		{"A: b", "A: b", "", 4},
		{"", "", "", 0},
	} {
		got := known(&store.Message{Body: []byte(x.body), Date: 7})
		if string(got.Header) != x.header || got.VSize != x.vsize || got.Size != int64(len(x.body)) || got.Date != 7 ||
			len(got.BodyStructure) == 0 || x.structure != "" && string(got.BodyStructure) != x.structure {
			t.Errorf("%q: header %q, vsize %d, %s", x.body, got.Header, got.VSize, got.BodyStructure)
		}
	}
}
