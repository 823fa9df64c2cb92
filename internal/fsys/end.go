package fsys

import (
	"errors"
	"sync/atomic"
)

var errAppend = errors.New("fsys: O_APPEND is not offered, Write appends")

// endOf returns where the next Write of f goes, asking for the size only once.
func endOf(end *atomic.Int64, f File) (int64, error) {
	if e := end.Load(); e >= 0 {
		return e, nil
	}
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	end.CompareAndSwap(-1, size)
	return end.Load(), nil
}

// raise moves a known end up to at least to.
func raise(end *atomic.Int64, to int64) {
	for {
		e := end.Load()
		if e < 0 || e >= to || end.CompareAndSwap(e, to) {
			return
		}
	}
}
