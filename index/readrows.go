package index

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
)

// ReadRows reads the mail of rows of the table with several readers, for a
// design that caches what it finds there: Naming first. read and take are
// called as ReadEach calls its functions, with the entry of rows[i]; read may
// return buf as it is when nothing but the entry is wanted, and take returns how
// many bytes it has kept. When those pass limit, no more rows are begun: done is
// the number of rows from the first on that have been read, at least one.
// gone[i]: the mail was not there (an error that wraps fs.ErrNotExist).
// denied[i]: it is there and may not be read (fs.ErrPermission); take was called
// as for a message of no bytes, which has an INTERNALDATE all the same. Answers
// have both as they would a message with an empty header, of size 0, and the
// next one tries them again. Any other error ends it.
func (k *Tracker) ReadRows(src Source, rows []int, workers int, limit int64,
	read func(e *Entry, buf []byte) ([]byte, error), take func(worker, i int, e *Entry, b []byte) (kept int, err error)) (done int, gone, denied []bool, err error) {
	entries, found := make([]Entry, len(rows)), make([]*Entry, len(rows))
	for i, row := range rows {
		found[i], _ = k.EntryInto(row, &entries[i], nil)
	}
	gone, denied = make([]bool, len(rows)), make([]bool, len(rows))
	errs := make([]error, len(rows))
	var held atomic.Int64
	ReadEach(len(rows), workers, func(i int, buf []byte) ([]byte, error) {
		switch {
		case found[i] == nil:
			return buf, fs.ErrNotExist
		case i > 0 && held.Load() > limit:
			return buf, errLater
		}
		return read(found[i], buf)
	}, func(worker, i int, b []byte, err error) {
		if denied[i] = errors.Is(err, fs.ErrPermission); denied[i] {
			found[i].VSize, b, err = 0, b[:0], nil
		}
		if err == nil {
			var kept int
			kept, err = take(worker, i, found[i], b)
			held.Add(int64(kept))
		}
		if gone[i] = errors.Is(err, fs.ErrNotExist); !gone[i] {
			errs[i] = err
		}
	})
	for ; done < len(rows) && errs[done] != errLater; done++ {
		if errs[done] != nil {
			return 0, nil, nil, fmt.Errorf("%s: uid %d: %w", src.Path(), k.table.uid[rows[done]], errs[done])
		}
	}
	return done, gone, denied, nil
}

var errLater = errors.New("index: later")
