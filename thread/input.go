package thread

import (
	"errors"
	"fmt"
)

// An Input is a mailbox as columns, one value per row, rows in sequence order.
// Build reads it only. Each algorithm needs its own columns: References all,
// Refs no Subject and Reply, OrderedSubject Subject and Date only. Build trusts
// the numbers; Check does not.
type Input struct {
	N       int      // rows
	ID      []int32  // Message-ID, -1 none or invalid
	RefOff  []uint32 // N+1 offsets into Ref
	Ref     []int32  // row i's references Ref[RefOff[i]:RefOff[i+1]]: the valid ids of References, or the first of In-Reply-To, in order
	NumIDs  int      // ids are 0..NumIDs-1
	Subject []int32  // casemapped base subject, 0 = empty
	Reply   []uint8  // 1: the base subject extraction removed a reply or forward mark
	Date    []int64  // sent date (RFC 5256 section 2.2), unix seconds
}

// ErrInput reports columns that do not fit together.
var ErrInput = errors.New("thread: bad input")

// Check says whether the columns that alg needs have N values each and the ids
// are in range. Errors wrap ErrInput. For columns that were read from a file.
func (in *Input) Check(alg Alg) error {
	n := in.N
	if n < 0 || len(in.Date) < n || (alg != Refs && len(in.Subject) < n) || (alg == References && len(in.Reply) < n) ||
		(alg != OrderedSubject && (len(in.ID) < n || len(in.RefOff) < n+1)) {
		return fmt.Errorf("%w: a column is shorter than %d rows", ErrInput, n)
	}
	if alg != Refs {
		for row, s := range in.Subject[:n] {
			if s < 0 {
				return fmt.Errorf("%w: subject %d of row %d", ErrInput, s, row)
			}
		}
	}
	if alg == OrderedSubject {
		return nil
	}
	for row, id := range in.ID[:n] {
		if id < -1 || int(id) >= in.NumIDs {
			return fmt.Errorf("%w: id %d of row %d, %d ids", ErrInput, id, row, in.NumIDs)
		}
		if in.RefOff[row] > in.RefOff[row+1] {
			return fmt.Errorf("%w: references of row %d from %d to %d", ErrInput, row, in.RefOff[row], in.RefOff[row+1])
		}
	}
	if int64(in.RefOff[n]) > int64(len(in.Ref)) {
		return fmt.Errorf("%w: %d references, %d expected", ErrInput, len(in.Ref), in.RefOff[n])
	}
	for i, id := range in.Ref[in.RefOff[0]:in.RefOff[n]] {
		if id < 0 || int(id) >= in.NumIDs {
			return fmt.Errorf("%w: reference %d is id %d of %d", ErrInput, i, id, in.NumIDs)
		}
	}
	return nil
}

// A Scratch is working memory that Build keeps between calls: about 55 bytes
// per row of a list, where nearly every id is some row's, 40 more per row for
// OrderedSubject. The zero value is ready. Not for concurrent use.
type Scratch struct {
	local Input   // the subset's own columns
	rows  []int32 // the subset, or nil
	stamp []stamped
	epoch uint32

	// step (1), by link node
	parent []int32
	owner  []int32 // row, -1 dummy
	kids   []uint8 // 1: has had a child
	nodeOf []int32 // by row
	lct    linkCut
	steps  int64 // walked upwards in this Build
	budget int64 // of steps
	// testBudget, when positive, takes the place of walkBudget in tests.
	testBudget int64

	// from step (3) on, by tree node: rows, then dummies
	up    []int32 // parent, -1 root
	first []int32 // first child, -1 none
	last  []int32 // last child; valid if first is
	next  []int32 // next sibling, -1 last
	deg   []int32 // number of children
	dummy []int32 // by link node: its tree node
	roots []int32
	lone  []uint8 // by row: 1 took the place of a dummy whose only child it was
	table []stamped
	pack  []keyed
	pack2 []keyed
	hist  []uint32
	upd   updater
}

// A stamped is a table cell that counts only if its epoch is the current one:
// tables by id or subject need no clearing between calls.
type stamped struct {
	epoch uint32
	v     int32
}

// nextEpoch invalidates every stamped cell.
func (sc *Scratch) nextEpoch() {
	sc.epoch++
	if sc.epoch == 0 {
		clear(sc.stamp[:cap(sc.stamp)])
		clear(sc.table[:cap(sc.table)])
		sc.epoch = 1
	}
}

// Steps returns how many links the last Build walked while it looked for loops:
// what tests hold against the number of references.
func (sc *Scratch) Steps() int64 { return sc.steps + sc.lct.steps }

// sized returns s with length n, reusing its memory; the contents are arbitrary.
func sized[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}

// filled is sized with every element v.
func filled(s []int32, n int, v int32) []int32 {
	s = sized(s, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// stampedTo returns s with at least n cells; new ones are never current.
func stampedTo(s []stamped, n int) []stamped {
	if len(s) >= n {
		return s
	}
	if cap(s) >= n {
		return s[:n]
	}
	bigger := make([]stamped, n, n+n/8)
	copy(bigger, s)
	return bigger
}
