package index_test

import (
	"errors"
	"testing"

	"mailbench/index"
)

// A number that has no place in 32 bits is damage, not the largest number.
func TestParseUIDList_largeNumbers(t *testing.T) {
	for _, head := range []string{"3 V99999999999999999999 N1", "3 V4294967296 N1", "3 V1 N4294967296", "1 4294967296 1", "1 1 99999999999999999999", "3 V0 N1", "3 V-1 N1"} {
		if u, err := index.ParseUIDList([]byte(head + "\n1 :a\n")); !errors.Is(err, index.ErrUIDList) {
			t.Errorf("%q: %+v, %v", head, u, err)
		}
	}
	u, err := index.ParseUIDList([]byte("3 V4294967295 N4294967295\n4294967296 :a\n4294967294 :b\n"))
	if err != nil || u.UIDValidity != 1<<32-1 || u.UIDNext != 1<<32-1 || len(u.Entries) != 1 {
		t.Errorf("%+v, %v", u, err)
	}
}
