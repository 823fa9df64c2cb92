package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"mailbench/index"
)

// A List is a catalog on disk: see listdoc.go. All changes of its Catalog go
// through it. Its methods may be called from several goroutines, except that
// Close must be the last.
type List struct {
	// BeforeAdd, if set, runs before the record of added messages is written,
	// once for all that are written together: it makes their files' names last.
	BeforeAdd func() error

	fs   index.FS
	name string
	cat  *Catalog
	next atomic.Uint64

	queueMu sync.Mutex
	queue   []*change1

	mu      sync.Mutex // all below, and every change of cat
	f       index.File
	h       header
	seq     uint64
	size    int64    // of the file, whole records
	synced  int64    // what of it is known to last
	lasts   int64    // what of that the header tells, or more than a torn write left of it
	removed []uint64 // ids that the log took out, as it was read: until Removed
	told    uint64   // ids below are handed out as far as the file knows, see L6
	broken  bool     // the file may hold what was not acknowledged: it is written anew first
	unnamed bool     // the file's name may not last yet
	clean   bool     // it was closed in order and nothing has been written since
	litter  bool     // files are left over: Close must not say that all is in order
	retry   int64    // size at which a compaction that failed is tried again
	buf     []byte
}

// change1 is what one caller wants changed.
type change1 struct {
	add, set, move []Row
	remove         []string
	sync           bool

	removed []Row
	done    bool
	err     error
}

// CreateList puts the rows of a catalog into a new list, in the place of one
// that may be there, and makes it last. next is the lowest id to be handed out,
// if no row has a higher one.
func CreateList(fsy index.FS, name string, cat *Catalog, next uint64) (*List, error) {
	l := &List{fs: fsy, name: name, cat: cat}
	copy(l.h.name[:], cat.kind)
	cat.Each(func(r Row) bool {
		next = max(next, KeyID(r.Key)+1)
		return true
	})
	l.next.Store(max(next, 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.rewrite()
	if err == nil {
		err = l.named()
	}
	if err != nil {
		if l.f != nil {
			l.f.Close()
		}
		return nil, err
	}
	return l, nil
}

// Clean reports whether the list was closed in order, so that nothing is half
// done. It is no longer after the first change.
func (l *List) Clean() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clean
}

// Begin makes it last that something is under way, before files are made that the
// list does not know: one sync after an opening that found all in order, else
// nothing.
func (l *List) Begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.clean {
		return nil
	}
	if err := l.ready(); err != nil {
		return err
	}
	return l.mark('D')
}

// Litter makes the next opening find that not all is in order: files that are
// left over could not be removed.
func (l *List) Litter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.litter = true
}

// Reserve hands out n ids and returns the first.
func (l *List) Reserve(n int) uint64 { return l.next.Add(uint64(n)) - uint64(n) }

// Next is the id that Reserve would hand out.
func (l *List) Next() uint64 { return l.next.Load() }

// Raise makes Reserve hand out no id below next.
func (l *List) Raise(next uint64) {
	for {
		n := l.next.Load()
		if n >= next || l.next.CompareAndSwap(n, next) {
			return
		}
	}
}

// Removed are the ids of the messages that were in the log, when the list was
// opened, and were taken out there. Once.
func (l *List) Removed() []uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := l.removed
	l.removed = nil
	return ids
}

// end is where the next record goes: the offset for errors about what is missing.
func (l *List) end() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// Add adds messages, whose keys are reserved ids. sync false: they need not
// last when it returns, because the format finds them again by itself.
func (l *List) Add(rows []Row, sync bool) error {
	return l.do(&change1{add: rows, sync: sync})
}

// SetFlags gives messages other flags, keywords and dir; the rest of the rows
// is not looked at. Lasts.
func (l *List) SetFlags(rows []Row) error { return l.do(&change1{set: rows, sync: true}) }

// Move gives messages another place. Lasts.
func (l *List) Move(rows []Row) error { return l.do(&change1{move: rows, sync: true}) }

// Remove removes messages and returns the rows of those that were there. Lasts.
func (l *List) Remove(keys []string) ([]Row, error) {
	c := &change1{remove: keys, sync: true}
	err := l.do(c)
	return c.removed, err
}

// do queues a change. Who gets the lock first makes those of all who wait.
func (l *List) do(c *change1) error {
	l.queueMu.Lock()
	l.queue = append(l.queue, c)
	l.queueMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.done {
		return c.err
	}
	l.queueMu.Lock()
	all := l.queue
	l.queue = nil
	l.queueMu.Unlock()
	err := l.commit(all)
	for _, c := range all {
		c.done, c.err = true, err
	}
	if err == nil {
		l.compactIfLong()
	}
	return err
}

func (l *List) commit(all []*change1) error {
	if err := l.ready(); err != nil {
		return err
	}
	b, seq := l.buf[:0], l.seq
	adds, last, told := false, false, l.told
	for _, c := range all {
		n := len(b)
		if b = l.encode(b, c, &seq); len(b) > n {
			adds = adds || len(c.add) > 0
			last = last || c.sync
		}
		if len(c.add) > 0 {
			last = last || KeyID(c.add[0].Key) < told // L6
			told = max(told, KeyID(c.add[len(c.add)-1].Key)+1)
		}
	}
	l.buf = b
	if cap(l.buf) > maxPayload {
		l.buf = nil
	}
	if len(b) > 0 {
		if err := l.write(b, adds, last); err != nil {
			return err
		}
		l.seq, l.told = seq, told
	}
	for _, c := range all {
		l.show(c)
	}
	return nil
}

// ready repairs what a failed change has left.
func (l *List) ready() error {
	if l.f == nil {
		return fmt.Errorf("catalog: %s: %w", l.name, os.ErrClosed)
	}
	if l.broken {
		if err := l.rewrite(); err != nil {
			return err
		}
	}
	return l.named()
}

// named makes the file's name last.
func (l *List) named() error {
	if !l.unnamed {
		return nil
	}
	if err := l.fs.SyncDir(filepath.Dir(l.name)); err != nil {
		return err
	}
	l.unnamed = false
	return nil
}

// Close notes that all was in order and closes the file.
func (l *List) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	var err error
	if !l.clean || l.litter {
		op := byte('C')
		if l.litter {
			op = 'D' // and the next id: what is left over is not to be found again
		}
		// Everything that is in the list lasts after a Close. Without the note the
		// next opening looks at more: an error is told, but harmless.
		if err = l.ready(); err == nil {
			l.compactAtEnd()
			err = l.named()
		}
		if err == nil {
			err = l.mark(op)
		}
	}
	if e := l.f.Close(); err == nil {
		err = e
	}
	l.f = nil
	return err
}
