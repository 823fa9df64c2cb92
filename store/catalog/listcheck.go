package catalog

import (
	"fmt"
	"iter"

	"mailbench/index"
)

// Check reads the file again and yields what is wrong with it, and where it
// tells something else than the catalog. O(file).
func (l *List) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		for _, err := range l.check() {
			if !yield(err) {
				return
			}
		}
	}
}

func (l *List) check() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := l.fs.Open(l.name)
	if err != nil {
		return []error{err}
	}
	defer f.Close()
	read := &List{fs: l.fs, name: l.name, cat: New(l.cat.kind, l.cat.path, nil), f: &unchanged{f}}
	if err := read.load(); err != nil {
		return []error{err}
	}
	var errs []error
	if read.size != l.size {
		errs = append(errs, &index.CorruptError{File: l.name, Off: read.size, What: fmt.Sprintf("%d bytes, and %d were written", read.size, l.size)})
	}
	if got, want := read.cat.Digest(), l.cat.Digest(); got != want {
		errs = append(errs, &index.CorruptError{File: l.name, Off: listHead, What: fmt.Sprintf("%d messages, other than the %d that are shown", got.N, want.N)})
		return errs
	}
	l.cat.Each(func(r Row) bool {
		if got, _ := read.cat.Get(r.Key); got != r {
			errs = append(errs, fmt.Errorf("catalog: %s: message %s is %+v in the file, and %+v is shown", l.name, r.Key, got, r))
		}
		return len(errs) < 100
	})
	return errs
}

// unchanged is a file that load must not repair.
type unchanged struct{ index.File }

func (*unchanged) Truncate(int64) error { return nil }
func (*unchanged) Datasync() error      { return nil }

// Broken reports whether the file may hold what the catalog does not show:
// nothing may be removed then that it may refer to.
func (l *List) Broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}
