package mdbox

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"mailbench/index"
	"mailbench/store/catalog"
)

var (
	errNoLine    = errors.New("no dbox file, or of another version")
	errNoMessage = errors.New("bytes that are no whole message")
)

// Purge rewrites files with dead space, see M4. O(files), and reads of each only
// the framing where nothing is dead. Appends wait meanwhile.
func (s *mdbox) Purge() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.list.Begin(); err != nil {
		return err
	}
	if err := s.tidy(); err != nil {
		return err
	}
	ns, err := s.files()
	if err != nil {
		return err
	}
	live := map[int64][]catalog.Row{}
	s.cat.Each(func(r catalog.Row) bool {
		live[r.File] = append(live[r.File], r)
		return true
	})
	last := s.w.n
	if i := slices.Index(ns, last); i > 0 { // first: else it would get copies, and be copied
		ns[0], ns[i] = ns[i], ns[0]
	}
	var errs []error
	for _, n := range ns {
		if err := s.purge(n, live); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		errs = append(errs, s.list.Compact())
	}
	return errors.Join(errs...)
}

// purge rewrites a file, if that is worth while. live are the rows of each file.
func (s *mdbox) purge(n int64, live map[int64][]catalog.Row) error {
	rows := live[n]
	dead, size, err := s.deadBytes(n, rows)
	if err != nil || dead == 0 || dead*100 < size*s.dead {
		return err
	}
	if n == s.w.n {
		s.rotateNow()
	}
	moved, err := s.copyOut(rows)
	if err != nil {
		s.undo()
		return err
	}
	for _, r := range moved {
		live[r.File] = append(live[r.File], r)
	}
	if len(moved) > 0 {
		if err := s.list.Move(moved); err != nil {
			return err // the copies are dead, or alive: it makes no difference
		}
	}
	s.open.drop(n)
	s.removed.Store(true)
	if err := s.fs.Remove(s.path(n)); err != nil {
		s.list.Litter()
		return err
	}
	return nil
}

// copyOut appends copies of messages and makes them last.
func (s *mdbox) copyOut(rows []catalog.Row) (moved []catalog.Row, err error) {
	var buf []byte
	for i := range rows {
		r := rows[i]
		b, n, err := s.framed(&r, buf)
		if err != nil {
			if _, still := s.cat.Get(r.Key); !still {
				continue // expunged meanwhile
			}
			return nil, err
		}
		if buf, err = b, s.room(n); err != nil {
			return nil, err
		}
		r.File, r.Off = s.w.n, s.w.end()+catalog.DboxHead
		s.w.buf = append(s.w.buf, b[:n]...)
		moved = append(moved, r)
	}
	if len(moved) == 0 {
		return nil, nil
	}
	return moved, s.sync()
}

// deadBytes tells how much of a file no row refers to.
func (s *mdbox) deadBytes(n int64, rows []catalog.Row) (dead, size int64, err error) {
	x, err := s.open.get(n)
	if err != nil {
		return 0, 0, err
	}
	defer s.open.put(x)
	if size, err = x.f.Size(); err != nil {
		return 0, 0, err
	}
	if len(rows) == 0 {
		if ours, err := s.ours(n); err != nil || !ours {
			return 0, size, err
		}
		return size, size, nil
	}
	head := make([]byte, min(size, firstLine))
	if err := catalog.ReadFullAt(x.f, head, 0); err != nil {
		return 0, 0, err
	}
	dead = size - int64(catalog.DboxFileLen(head))
	tail := make([]byte, catalog.DboxTail)
	for i := range rows {
		r := &rows[i]
		at := r.Off + r.Size
		b := tail[:max(0, min(size-at, catalog.DboxTail))]
		if err := catalog.ReadFullAt(x.f, b, at); err != nil {
			return 0, 0, err
		}
		n := catalog.DboxMetaLen(b)
		if n == 0 {
			return 0, 0, &index.CorruptError{File: x.f.Name(), Off: at, What: "metadata of a message"}
		}
		dead -= catalog.DboxHead + r.Size + int64(n)
	}
	return dead, size, nil
}

// Check reads the map again and every file, and yields what is wrong. O(mail).
func (s *mdbox) Check() iter.Seq[error] {
	return func(yield func(error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for err := range s.list.Check() {
			if !yield(err) {
				return
			}
		}
		ns, err := s.files()
		if err != nil {
			yield(err)
			return
		}
		for _, name := range s.odd {
			if !yield(fmt.Errorf("%s: %s is no mail file", s.store, name)) {
				return
			}
		}
		for _, n := range ns {
			w := walker{search: true}
			err := w.walk(s, n, func(catalog.Row) {})
			if err == nil && w.lost {
				err = &index.CorruptError{File: s.path(n), Off: w.bad, What: w.why.Error()}
			}
			if err != nil && !yield(err) {
				return
			}
		}
		var rows []catalog.Row // not under the catalog's lock: reading takes long
		s.cat.Each(func(r catalog.Row) bool { rows = append(rows, r); return true })
		var buf []byte
		for i := range rows {
			b, _, err := s.framed(&rows[i], buf)
			if err != nil {
				if _, still := s.cat.Get(rows[i].Key); still && !yield(err) {
					return
				}
				continue
			}
			buf = b
		}
	}
}
