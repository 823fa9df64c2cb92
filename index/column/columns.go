package column

import (
	"slices"

	"mailbench/thread"
)

// columns is what the cache knows of its rows, decoded. Rows are in the order
// in which they were cached, which is UID order; rows of messages that are
// gone stay until Compact. Slices are shared with the answers that were built
// from them and only ever appended to.
type columns struct {
	uid     []uint32
	ctl     []uint8  // reply, date from header, absent: the bits of a row that last
	id      []int32  // message id, -1 none
	refOff  []uint32 // rows+1
	ref     []int32
	numIDs  int
	subject []int32 // number in the subject dictionary, 0 is ""
	date    []int64 // sent date, unix seconds
}

func (c *columns) rows() int { return len(c.uid) }

// Bits of a row's control byte. The low two and the top one describe the
// message; the others say how the row's other values are written.
const (
	ctlReply     = 0x01 // base-subject extraction removed a re, fwd or the like
	ctlDateOK    = 0x02 // the sent date comes from the Date field, not from INTERNALDATE
	ctlIDNew     = 0x04 // own id is the next new number
	ctlIDOld     = 0x08 // own id was seen before (as a reference, or a duplicate): number in stream id
	ctlRefChain  = 0x10 // references are those of an earlier row and that row's own id
	ctlRefList   = 0x20 // references are listed
	ctlSubjectUp = 0x40 // subject is that of the row that ctlRefChain points at
	ctlAbsent    = 0x80 // the message could not be found when its turn came; all values are empty
	ctlKeep      = ctlReply | ctlDateOK | ctlAbsent
)

// streams are the columns of a run of rows as written.
type streams struct {
	uid, ctl, id, ref, subject []byte
}

// encode appends rows from, from+1, ... to s. Numbers of ids must have been
// given in the order in which encode meets them: row by row, own id first.
// idFrom is the number of ids that rows before from use. O(rows + references).
func (c *columns) encode(s *streams, from, idFrom int) {
	s.uid = appendRuns(s.uid, c.uid[from:])
	owner := c.owners()
	next := int32(idFrom)
	n := c.rows() - from
	s.ctl, s.ref = slices.Grow(s.ctl, n), slices.Grow(s.ref, 2*n)
	s.subject = slices.Grow(s.subject, n+n/2)
	refs := c.refOff[len(c.refOff)-1] - c.refOff[from]
	s.ref = appendUint(s.ref, uint64(refs))
	for i := from; i < c.rows(); i++ {
		ctl := c.ctl[i] & ctlKeep
		switch id := c.id[i]; {
		case id < 0:
		case id == next:
			ctl |= ctlIDNew
			next++
		default:
			ctl |= ctlIDOld
			s.id = appendUint(s.id, uint64(next-1-id))
		}
		r := c.ref[c.refOff[i]:c.refOff[i+1]]
		up := -1
		if len(r) > 0 {
			if p := int(owner[r[len(r)-1]]); p >= 0 && p < i && slices.Equal(r[:len(r)-1], c.ref[c.refOff[p]:c.refOff[p+1]]) {
				up = p
			}
		}
		switch {
		case len(r) == 0:
		case up >= 0:
			ctl |= ctlRefChain
			s.ref = appendUint(s.ref, uint64(i-up-1))
		default:
			ctl |= ctlRefList
			s.ref = appendUint(s.ref, uint64(len(r)-1))
			for _, id := range r {
				s.ref = appendUint(s.ref, uint64(next-id)) // 0: new
				if id == next {
					next++
				}
			}
		}
		if up >= 0 && c.subject[i] == c.subject[up] {
			ctl |= ctlSubjectUp
		} else {
			s.subject = appendUint(s.subject, uint64(c.subject[i]))
		}
		s.ctl = append(s.ctl, ctl)
	}
}

// owners maps an id to the first row that has it as its own, -1 none.
func (c *columns) owners() []int32 {
	owner := make([]int32, c.numIDs)
	for i := range owner {
		owner[i] = -1
	}
	for i, id := range c.id {
		if id >= 0 && owner[id] < 0 {
			owner[id] = int32(i)
		}
	}
	return owner
}

// decodeLinks appends the rows of s: control bits, ids, references, subjects.
// subjects is the number of strings of the subject dictionary when the segment
// was written. It reports whether s makes sense.
func (c *columns) decodeLinks(s *streams, subjects int) bool {
	n := len(s.ctl)
	from := len(c.id)
	id, ref, sub := cursor{b: s.id}, cursor{b: s.ref}, cursor{b: s.subject}
	total := ref.uint()
	if c.refOff == nil {
		c.refOff = append(make([]uint32, 0, n+1), 0)
	}
	if total > 1<<31 {
		return false
	}
	c.ctl = slices.Grow(c.ctl, n)
	c.id = slices.Grow(c.id, n)
	c.refOff = slices.Grow(c.refOff, n)
	c.subject = slices.Grow(c.subject, n)
	c.ref = slices.Grow(c.ref, int(min(total, uint64(16*n+1024))))
	next := int32(c.numIDs)
	before := len(c.ref)
	for k, ctl := range s.ctl {
		i := from + k
		own := int32(-1)
		switch {
		case ctl&ctlIDNew != 0:
			own = next
			next++
		case ctl&ctlIDOld != 0:
			back := id.uint()
			if back >= uint64(next) {
				return false
			}
			own = next - 1 - int32(back)
		}
		subject := int32(-1)
		switch {
		case ctl&ctlRefChain != 0:
			back := ref.uint()
			if back >= uint64(i) {
				return false
			}
			p := i - 1 - int(back)
			if c.id[p] < 0 || uint64(len(c.ref)-before)+uint64(c.refOff[p+1]-c.refOff[p]) > total {
				return false
			}
			c.ref = append(c.ref, c.ref[c.refOff[p]:c.refOff[p+1]]...)
			c.ref = append(c.ref, c.id[p])
			if ctl&ctlSubjectUp != 0 {
				subject = c.subject[p]
			}
		case ctl&ctlRefList != 0:
			count := ref.uint() + 1
			if count > uint64(ref.left()) {
				return false
			}
			for range count {
				back := ref.uint()
				if back > uint64(next) {
					return false
				}
				c.ref = append(c.ref, next-int32(back))
				if back == 0 {
					next++
				}
			}
		}
		if uint64(len(c.ref)-before) > total { // chains of chains could make a lot of little
			return false
		}
		if subject < 0 {
			v := sub.uint()
			if v >= uint64(subjects) {
				return false
			}
			subject = int32(v)
		}
		c.ctl = append(c.ctl, ctl&ctlKeep)
		c.id = append(c.id, own)
		c.refOff = append(c.refOff, uint32(len(c.ref)))
		c.subject = append(c.subject, subject)
	}
	c.numIDs = int(next)
	return id.done() && ref.done() && sub.done() && uint64(len(c.ref)-before) == total
}

// appendDeltas writes signed values as differences to the one before.
func appendDeltas(b []byte, v []int64) []byte {
	var prev int64
	for _, x := range v {
		b = appendInt(b, x-prev)
		prev = x
	}
	return b
}

// decodeDeltas appends n values written by appendDeltas to dst.
func decodeDeltas(dst []int64, b []byte, n int) ([]int64, bool) {
	if n > len(b) {
		return dst, false
	}
	dst = slices.Grow(dst, n)
	c := cursor{b: b}
	var prev int64
	for range n {
		prev += c.int()
		dst = append(dst, prev)
	}
	return dst, c.done()
}

// appendUints writes small numbers as they are.
func appendUints(b []byte, v []int32) []byte {
	for _, x := range v {
		b = appendUint(b, uint64(x))
	}
	return b
}

// decodeUints appends n numbers below limit to dst.
func decodeUints(dst []int32, b []byte, n, limit int) ([]int32, bool) {
	if n > len(b) {
		return dst, false
	}
	dst = slices.Grow(dst, n)
	c := cursor{b: b}
	for range n {
		v := c.uint()
		if v >= uint64(limit) {
			return dst, false
		}
		dst = append(dst, int32(v))
	}
	return dst, c.done()
}

// appendRuns writes strictly ascending numbers as runs: gap to the run before,
// length-1.
func appendRuns(b []byte, v []uint32) []byte {
	var end uint64 // first number after the run before
	for i := 0; i < len(v); {
		j := i + 1
		for j < len(v) && v[j] == v[j-1]+1 {
			j++
		}
		b = appendUint(b, uint64(v[i])-end)
		b = appendUint(b, uint64(j-i-1))
		end = uint64(v[j-1]) + 1
		i = j
	}
	return b
}

// decodeRuns appends the n numbers written by appendRuns; each must be above
// the last of dst.
func decodeRuns(dst []uint32, b []byte, n int) ([]uint32, bool) {
	c := cursor{b: b}
	var end uint64
	least := uint64(0)
	if len(dst) > 0 {
		least = uint64(dst[len(dst)-1]) + 1
	}
	dst = slices.Grow(dst, min(n, 1<<26))
	for c.left() > 0 && !c.bad {
		lo := end + c.uint()
		count := c.uint() + 1
		if c.bad || lo < least || count > uint64(n) || lo+count > 1<<32 || lo < end {
			return dst, false
		}
		for v := lo; v < lo+count; v++ {
			dst = append(dst, uint32(v))
		}
		n -= int(count)
		end = lo + count
	}
	return dst, c.done() && n == 0
}

// input is the view that package thread builds trees from; it shares the
// columns. reply must have been made by replies.
func (c *columns) input(reply []uint8) thread.Input {
	return thread.Input{
		N: c.rows(), ID: c.id, RefOff: c.refOff, Ref: c.ref, NumIDs: c.numIDs,
		Subject: c.subject, Reply: reply, Date: c.date,
	}
}

// replies gives the Reply column of a thread.Input, written to dst[:0].
func (c *columns) replies(dst []uint8) []uint8 {
	dst = slices.Grow(dst[:0], len(c.ctl))
	for _, ctl := range c.ctl {
		dst = append(dst, ctl&ctlReply)
	}
	return dst
}
