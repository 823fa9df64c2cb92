// Package decimal writes UIDs as text, two digits at a time.
package decimal

const pairs = "" +
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748" +
	"4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495969798" +
	"99"

// Put writes v at b[n:] and returns the index behind it. b must have ten bytes
// of room there.
func Put(b []byte, n int, v uint32) int {
	end := n + digits(v)
	i := end
	_ = b[end-1]
	for v >= 100 {
		q := v / 100
		r := (v - q*100) * 2
		v = q
		i -= 2
		b[i], b[i+1] = pairs[r], pairs[r+1]
	}
	if v >= 10 {
		b[i-2], b[i-1] = pairs[2*v], pairs[2*v+1]
	} else {
		b[i-1] = byte('0' + v)
	}
	return end
}

func digits(v uint32) int {
	switch {
	case v < 10:
		return 1
	case v < 100:
		return 2
	case v < 1000:
		return 3
	case v < 10000:
		return 4
	case v < 100000:
		return 5
	case v < 1000000:
		return 6
	case v < 10000000:
		return 7
	case v < 100000000:
		return 8
	case v < 1000000000:
		return 9
	}
	return 10
}
