package mbox

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"

	"mailbench/internal/fsys"
	"mailbench/store/catalog"
)

// Expunge writes the file anew without the messages. O(mailbox).
func (m *mailbox) Expunge(keys []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(); err != nil {
		return err
	}
	gone := make(map[string]bool, len(keys))
	for _, key := range keys {
		if _, ok := m.cat.Get(key); ok {
			gone[key] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return m.rewrite(gone, nil)
}

// A rewriting is a new file being made of the old one.
type rewriting struct {
	m    *mailbox
	w    window // the old file
	f    fsys.File
	out  *bufio.Writer
	pos  int64 // in the old file: up to where it has been dealt with
	end  int64 // of the new file
	gen  int64
	rows []catalog.Row // that stay, at their new places
}

// rewrite makes a new file without some messages, with other flags on some, and
// puts it in the place of the old one. After an error nothing has changed,
// except when only the last fsync of the directory failed. m.mu is held.
func (m *mailbox) rewrite(gone map[string]bool, want map[string]state) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("store/mbox: writing %s anew: %w", m.path, err)
		}
	}()
	temp := fsys.TempName(m.path)
	f, err := m.fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	rw := &rewriting{m: m, w: window{f: m.f, size: m.end}, f: f, out: bufio.NewWriterSize(f, 256<<10), gen: m.gen + 1}
	h := m.head
	h.gen, h.last, h.ok = h.gen+1, m.last, true
	if err = rw.all(h, gone, want); err == nil {
		h.length = rw.end
		_, err = f.WriteAt(h.append(nil), 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = m.fs.Rename(temp, m.path)
	}
	if err != nil {
		f.Close()
		m.fs.Remove(temp)
		return err
	}
	rw.swap(h, gone)
	// Nothing is acknowledged before this has worked once, see ready.
	m.renamed = true
	if err = m.fs.SyncDir(filepath.Dir(m.path)); err != nil {
		return err
	}
	m.renamed = false
	m.side.note(h.gen, m.end, m.last)
	return nil
}

// all writes the head and the records.
func (rw *rewriting) all(h head, gone map[string]bool, want map[string]state) (err error) {
	rw.write(h.append(nil))
	rw.pos = headLen
	var rows []catalog.Row
	rw.m.cat.Each(func(r catalog.Row) bool {
		rows = append(rows, r)
		return true
	})
	for i := range rows {
		row := &rows[i]
		if err := rw.gap(row.Off); err != nil {
			return err
		}
		r := record{off: row.Off}
		b, err := rw.w.at(row.Off, maxPrefix)
		if err != nil {
			return err
		}
		if !r.parse(b) || r.row(0).Key != row.Key || r.end() > rw.m.end {
			return rw.m.corrupt(row, ErrCorrupt)
		}
		if !gone[row.Key] {
			now, changed := want[row.Key]
			if !changed {
				now = state{row.Flags, row.Keywords}
			}
			if err := rw.record(r, now); err != nil {
				return err
			}
		}
		rw.pos = r.end()
	}
	if err := rw.gap(rw.m.end); err != nil {
		return err
	}
	return rw.out.Flush()
}

// gap keeps what is no record, whatever it is.
func (rw *rewriting) gap(to int64) error {
	return rw.w.each(rw.pos, to, func(b []byte) error { return rw.write(b) })
}

// record writes one that stays.
func (rw *rewriting) record(r record, now state) error {
	from := r.off + r.prefix
	to := r.end()
	if now != r.now && len(now.names()) > r.width {
		r.width = now.width()
	}
	r.off, r.now = rw.end, now
	rw.write(appendFrom(nil, r.date))
	rw.write(r.lines(nil))
	rw.rows = append(rw.rows, r.row(rw.gen))
	return rw.w.each(from, to, func(b []byte) error { return rw.write(b) })
}

// write is counted; the error of a bufio.Writer stays until Flush.
func (rw *rewriting) write(b []byte) error {
	n, err := rw.out.Write(b)
	rw.end += int64(n)
	return err
}

// swap makes the new file the mailbox's, for readers and in the catalog.
func (rw *rewriting) swap(h head, gone map[string]bool) {
	m := rw.m
	m.swap.Lock()
	defer m.swap.Unlock()
	m.f.Close()
	m.f, m.gen, m.head, m.end, m.ragged = rw.f, rw.gen, h, rw.end, false
	keys := make([]string, 0, len(gone))
	for key := range gone {
		keys = append(keys, key)
	}
	m.cat.Remove(keys...)
	for i := range rw.rows {
		m.cat.Set(rw.rows[i])
	}
}
