package catalog

import (
	"fmt"
	"os"
	"strconv"

	"mailbench/index"
	"mailbench/internal/fsys"
)

// encode appends the records of a change: none if nothing of it is to be done.
func (l *List) encode(b []byte, c *change1, seq *uint64) []byte {
	e := recordWriter{b: b, seq: seq, synced: uint64(l.synced)}
	for i := range c.add {
		e.begin()
		e.b = e.d.appendAdd(e.b, KeyID(c.add[i].Key), &c.add[i])
	}
	for i := range c.set {
		if _, ok := l.cat.Get(c.set[i].Key); ok {
			e.begin()
			e.b = appendMarks(e.d.appendID(e.b, 'S', KeyID(c.set[i].Key)), &c.set[i])
		}
	}
	for i := range c.move {
		if _, ok := l.cat.Get(c.move[i].Key); ok {
			e.begin()
			e.b = appendPlace(e.d.appendID(e.b, 'P', KeyID(c.move[i].Key)), &c.move[i])
		}
	}
	for _, key := range c.remove {
		if _, ok := l.cat.Get(key); ok {
			e.begin()
			e.b = e.d.appendID(e.b, 'R', KeyID(key))
		}
	}
	e.end()
	return e.b
}

// A recordWriter cuts operations into records.
type recordWriter struct {
	b      []byte
	seq    *uint64
	synced uint64
	start  int
	open   bool
	d      delta
}

func (e *recordWriter) begin() {
	if e.open && len(e.b)-e.start > chunk {
		e.end()
	}
	if !e.open {
		e.b, e.start = beginRecord(e.b)
		e.d, e.open = delta{}, true
	}
}

func (e *recordWriter) end() {
	if e.open {
		*e.seq++
		e.b = endRecord(e.b, e.start, *e.seq, e.synced)
		e.open = false
	}
}

// write appends records to the file; after an error they are not there (L4).
func (l *List) write(b []byte, adds, last bool) error {
	if adds && l.BeforeAdd != nil {
		if err := l.BeforeAdd(); err != nil {
			return err
		}
	}
	_, err := l.f.WriteAt(b, l.size)
	if err == nil && last {
		err = l.tell(false)
	}
	if err == nil && last {
		err = l.f.Datasync()
	}
	if err != nil {
		if l.f.Truncate(l.size) != nil || l.f.Datasync() != nil {
			l.broken = true
		}
		return err
	}
	l.clean = false
	l.size += int64(len(b))
	if last {
		l.synced = l.size
	}
	return nil
}

// tellEvery bounds by how much the header's word on what lasts is behind (L7).
const tellEvery = 4 << 10

// tell writes into the header how much of the file is known to last. Within the
// first page it costs no more than the write; behind it, it is done seldom.
func (l *List) tell(always bool) error {
	if n := l.synced; n > l.lasts && (always || n < tellEvery || n-l.lasts >= tellEvery) {
		var b [8]byte
		le.PutUint64(b[:], lasts24(n))
		if _, err := l.f.WriteAt(b[:], lastsAt); err != nil {
			return err
		}
		l.lasts = n
	}
	return nil
}

// show makes a change that is on disk in the catalog.
func (l *List) show(c *change1) {
	if len(c.add) > 0 {
		l.cat.Add(c.add...)
	}
	for op, rows := range map[byte][]Row{'S': c.set, 'P': c.move} {
		for i := range rows {
			if was, ok := l.cat.Get(rows[i].Key); ok {
				apply(op, &was, &rows[i])
				l.cat.Set(was)
			}
		}
	}
	if len(c.remove) > 0 {
		c.removed = l.cat.Remove(c.remove...)
	}
}

// compactIfLong compacts when the log is longer than the snapshot, so that a
// byte is written about twice. Should it fail, the log goes on.
func (l *List) compactIfLong() {
	if log := l.size - int64(l.h.snapshot); log > max(256<<10, int64(l.h.snapshot)) && l.size >= l.retry {
		if l.rewrite() != nil {
			l.retry = l.size + 256<<10
		}
	}
}

// compactAtEnd compacts a log half as long, when nobody waits for a message: the
// next opening reads less, and its first clients do not meet the rewrite. Should
// it fail, the log stays as it is.
func (l *List) compactAtEnd() {
	if log := l.size - int64(l.h.snapshot); log > max(256<<10, int64(l.h.snapshot)/2) {
		_ = l.rewrite()
	}
}

// Compact writes the list anew, without what has been.
func (l *List) Compact() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return fmt.Errorf("catalog: %s: %w", l.name, os.ErrClosed)
	}
	if err := l.rewrite(); err != nil {
		return err
	}
	return l.named()
}

// rewrite puts the rows of the catalog into a new file. After an error the old
// one counts. Its name is to be made last before anything else is told to (named).
func (l *List) rewrite() (err error) {
	temp := fsys.TempName(l.name)
	f, err := l.fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			l.fs.Remove(temp)
		}
	}()
	h, seq, err := l.snapshot(f)
	if err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = l.fs.Rename(temp, l.name); err != nil {
		return err
	}
	if l.f != nil {
		l.f.Close()
	}
	l.f, l.h, l.seq, l.size, l.synced, l.told = f, h, seq, int64(h.snapshot), int64(h.snapshot), h.next
	l.broken, l.unnamed, l.clean, l.lasts = false, true, false, l.size
	return nil
}

// snapshot writes header and rows. The header, which tells the length of the
// rest, is written last.
func (l *List) snapshot(f index.File) (h header, seq uint64, err error) {
	h = l.h
	h.generation++
	h.next, h.rows = l.next.Load(), 0
	e := recordWriter{seq: &seq, synced: listHead}
	off := int64(listHead)
	put := func() {
		if _, err = f.WriteAt(e.b, off); err == nil {
			off += int64(len(e.b))
			e.b = e.b[:0]
		}
	}
	l.cat.Each(func(r Row) bool {
		if e.begin(); e.start > 4*chunk { // whole records lie before
			e.end()
			if put(); err != nil {
				return false
			}
			e.begin()
		}
		e.b = e.d.appendAdd(e.b, KeyID(r.Key), &r)
		h.rows++
		return true
	})
	e.end()
	if err == nil && len(e.b) > 0 {
		put()
	}
	if err != nil {
		return h, seq, err
	}
	h.snapshot = uint64(off)
	_, err = f.WriteAt(h.append(nil), 0)
	return h, seq, err
}

// mark writes that all is in order (C), or that it no longer is (D).
func (l *List) mark(op byte) error {
	seq := l.seq
	e := recordWriter{seq: &seq, synced: uint64(l.synced)}
	e.begin()
	e.b = e.d.appendID(e.b, 'N', l.next.Load()) // ids of appends that failed are not used again
	e.b = append(e.b, op)
	e.end()
	if err := l.tell(true); err != nil {
		return err
	}
	if err := l.write(e.b, false, true); err != nil {
		return err
	}
	l.seq, l.clean = seq, op == 'C'
	return nil
}

func appendID(b []byte, id uint64) []byte { return strconv.AppendUint(b, id, 10) }
