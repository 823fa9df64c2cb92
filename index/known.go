package index

// KnownLen is the length of an encoded Known.
const KnownLen = 64

// Append appends k in KnownLen bytes, for designs that keep it in files of
// their own: state u64 * 4, digest u64 * 2, names in it u64, bits u64 (1 racy,
// 2 busy), little-endian.
func (k Known) Append(dst []byte) []byte {
	var bits uint64
	if k.State.Racy {
		bits |= 1
	}
	if k.State.Busy {
		bits |= 2
	}
	for _, v := range [...]uint64{k.State.A, k.State.B, k.State.C, k.State.D,
		k.Digest.Sum[0], k.Digest.Sum[1], uint64(k.Digest.N), bits} {
		dst = le.AppendUint64(dst, v)
	}
	return dst
}

// DecodeKnown reads what Append wrote; ok false: b is something else.
func DecodeKnown(b []byte) (k Known, ok bool) {
	if len(b) != KnownLen {
		return k, false
	}
	var v [KnownLen / 8]uint64
	for i := range v {
		v[i] = le.Uint64(b[8*i:])
	}
	k.State = State{A: v[0], B: v[1], C: v[2], D: v[3], Racy: v[7]&1 != 0, Busy: v[7]&2 != 0}
	k.Digest = Digest{Sum: [2]uint64{v[4], v[5]}, N: int(v[6])}
	return k, v[7] < 4 && v[6] < 1<<31
}
