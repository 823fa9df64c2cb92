package decimal

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestPut(t *testing.T) {
	check := func(v uint32) {
		var b [12]byte
		n := Put(b[:], 1, v)
		if got, want := string(b[1:n]), strconv.FormatUint(uint64(v), 10); got != want {
			t.Fatalf("Put(%d) wrote %q", v, got)
		}
	}
	for p := uint64(1); p < 1<<32; p *= 10 {
		for d := uint64(0); d < 3; d++ {
			check(uint32(p - 1 + d))
		}
	}
	check(0)
	check(1<<32 - 1)
	for range 100_000 {
		check(rand.Uint32() >> rand.IntN(32))
	}
}
