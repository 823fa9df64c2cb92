package maildir

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// A Digest stands for the set of directories and file names of a listing. It
// does not depend on the order in which they were read. Two sums of hashes that
// share no step make an accident that hides a change a matter of 2^-128; the
// hashes are not keyed, so it does not protect from an owner who wants to
// deceive himself. Digests are kept on disk: the functions never change.
type Digest struct {
	Sum [2]uint64
	N   int // names
}

func (d *Digest) add(dir Dir, name []byte) {
	h0, h1 := xxhash.Sum64(name), foldHash(name)
	if dir == New {
		// The same name must count differently in the other directory.
		h0 = (h0 ^ 0x2545f4914f6cdd1d) * 0x9e3779b97f4a7c15
		h1 = (h1 ^ 0x9e3779b97f4a7c15) * 0x2545f4914f6cdd1d
	}
	d.Sum[0] += h0
	d.Sum[1] += h1
	d.N++
}

// foldHash multiplies eight bytes at a time to 128 bits and folds, in the way
// of wyhash: about 8 ns for a name of 60 bytes.
func foldHash(b []byte) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	acc := uint64(len(b)) ^ k0
	for len(b) >= 8 {
		hi, lo := bits.Mul64(acc^k1, binary.LittleEndian.Uint64(b)^k0)
		acc = hi ^ lo
		b = b[8:]
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	hi, lo := bits.Mul64(acc^k1, tail^k0)
	acc = hi ^ lo
	hi, lo = bits.Mul64(acc^k0, k1)
	return hi ^ lo
}
