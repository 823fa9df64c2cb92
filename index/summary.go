package index

// summary is the state of a mailbox in a fixed number of bytes. It stands in
// the header page of the base and in each record of the log, so that the last
// one is found without replaying anything.
type summary struct {
	uidValidity, uidNext      uint32
	messages, unseen, deleted uint32
	highestModSeq             uint64
	state                     State
	digest                    Digest
	set                       SetHash // of the messages, and lineage.added
	added                     uint64
}

// summaryLen is the encoded length:
//
//	 0 uidvalidity u32   4 uidnext u32       8 messages u32   12 unseen u32
//	16 deleted u32      20 bits u32 (1 racy, 2 busy)          24 highest modseq u64
//	32 state u64 * 4    64 digest u64 * 2   80 names in the digest u64
//	88 set hash u64 * 2 104 added u64
const summaryLen = 112

func (s *summary) append(b []byte) []byte {
	for _, v := range [...]uint32{s.uidValidity, s.uidNext, s.messages, s.unseen, s.deleted} {
		b = le.AppendUint32(b, v)
	}
	var bits uint32
	if s.state.Racy {
		bits |= 1
	}
	if s.state.Busy {
		bits |= 2
	}
	b = le.AppendUint32(b, bits)
	for _, v := range [...]uint64{s.highestModSeq, s.state.A, s.state.B, s.state.C, s.state.D,
		s.digest.Sum[0], s.digest.Sum[1], uint64(s.digest.N), s.set[0], s.set[1], s.added} {
		b = le.AppendUint64(b, v)
	}
	return b
}

func (s *summary) decode(c *cursor) {
	s.uidValidity, s.uidNext = c.uint32(), c.uint32()
	s.messages, s.unseen, s.deleted = c.uint32(), c.uint32(), c.uint32()
	bits := c.uint32()
	s.highestModSeq = c.uint64()
	s.state = State{A: c.uint64(), B: c.uint64(), C: c.uint64(), D: c.uint64(), Racy: bits&1 != 0, Busy: bits&2 != 0}
	s.digest.Sum[0], s.digest.Sum[1] = c.uint64(), c.uint64()
	s.digest.N = int(c.uint64())
	s.set[0], s.set[1], s.added = c.uint64(), c.uint64(), c.uint64()
}

// take copies the table's numbers.
func (s *summary) take(t *Table) {
	unseen, deleted := t.counts()
	s.uidValidity, s.uidNext, s.highestModSeq = t.UIDValidity, t.UIDNext, t.HighestModSeq
	s.messages, s.unseen, s.deleted = uint32(t.Len()), uint32(unseen), uint32(deleted)
	s.set, s.added = t.set, t.added
}
