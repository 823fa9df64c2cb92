package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

func roundTripKeys(t *testing.T, e *keyEncoder, d *keyDecoder, keys [][]byte) int {
	t.Helper()
	b := e.encode(nil, len(keys), func(i int) []byte { return keys[i] })
	arena, off, err := d.decode(b, []byte("x"), []uint32{1})
	if err != nil {
		t.Fatal(err)
	}
	if len(off) != len(keys)+1 {
		t.Fatalf("%d keys, want %d", len(off)-1, len(keys))
	}
	for i, k := range keys {
		if got := arena[off[i]:off[i+1]]; !bytes.Equal(got, k) {
			t.Fatalf("key %d: %q, want %q", i, got, k)
		}
	}
	return len(b)
}

func TestKeyCodec(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var e keyEncoder
	var d keyDecoder
	sec := uint64(1_500_000_000)
	styles := map[string]func() string{
		"dovecot": func() string {
			s := 1000 + r.IntN(20000)
			return fmt.Sprintf("%d.M%dP%d.mail.example.net,S=%d,W=%d", sec, r.IntN(1e6), 1000+r.IntN(30), s, s+s/50+r.IntN(20))
		},
		"courier": func() string {
			return fmt.Sprintf("%d.M%06dP%dV%016XI%08X_0.mail1,S=%d", sec, r.IntN(1e6), r.IntN(32768), 0x805, 0x58000+r.IntN(70000), 1000+r.IntN(20000))
		},
		"qmail": func() string { return fmt.Sprintf("%d.%d.host", sec, r.IntN(32768)) },
		"hash":  func() string { return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()) },
	}
	for name, f := range styles {
		for _, n := range []int{0, 1, 2, 100, keyBlock} {
			keys := make([][]byte, n)
			for i := range keys {
				sec += uint64(r.IntN(1200))
				keys[i] = []byte(f())
			}
			size := roundTripKeys(t, &e, &d, keys)
			if n == keyBlock {
				t.Logf("%-8s %.2f bytes per key", name, float64(size)/float64(n))
			}
		}
	}
	odd := []string{"", "0", "00", "007", "0A", "0a", "18446744073709551615", "99999999999999999999999999", "\x01", "\x01\x02", "a", "é", "0000000000000000000000001", "1.2.3.4.5.6.7.8.9.1.2.3.4.5.6.7.8.9.1.2.3.4.5.6.7.8.9.1.2.3"}
	for range 200 {
		keys := make([][]byte, r.IntN(20))
		for i := range keys {
			keys[i] = []byte(odd[r.IntN(len(odd))])
		}
		roundTripKeys(t, &e, &d, keys)
	}
}

func FuzzKeyCodec(f *testing.F) {
	f.Add([]byte("1500000000.M1P2.h,S=1\n1500000001.M3P2.h,S=2\n"), []byte{})
	var e keyEncoder
	var d keyDecoder
	f.Fuzz(func(t *testing.T, text, damaged []byte) {
		keys := bytes.Split(text, []byte{'\n'})
		if len(keys) > keyBlock {
			return
		}
		roundTripKeys(t, &e, &d, keys)
		d.decode(damaged, nil, nil) // must not panic
	})
}
