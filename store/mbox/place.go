package mbox

import (
	"errors"

	"mailbench/index"
	"mailbench/store/catalog"
)

const dirNone = index.DirNone

// Row.File holds what a reader must know besides the offset:
//
//	bits 62-40 writing anew (of this process)   39-30 length of the prefix   29-0 bytes that the quoting added
const (
	quotedBits = 30
	prefixBits = 10
	genBits    = 23
)

// errQuoted reports a message with more "From " lines than a place can tell.
var errQuoted = errors.New("store/mbox: more than 2^30 lines to quote in one message")

func placeOf(gen int64, r *record) int64 {
	return gen&(1<<genBits-1)<<(quotedBits+prefixBits) | r.prefix<<quotedBits | r.quoted
}

// at is the inverse: ok is false for a row of an earlier writing.
func (m *mailbox) at(r *catalog.Row) (from, stored int64, ok bool) {
	prefix, quoted := r.File>>quotedBits&(1<<prefixBits-1), r.File&(1<<quotedBits-1)
	return r.Off + prefix, r.Size + quoted, r.File>>(quotedBits+prefixBits) == m.gen&(1<<genBits-1)
}
