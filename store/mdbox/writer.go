package mdbox

import (
	"errors"
	"io/fs"
	"os"

	"mailbench/internal/fsys"
	"mailbench/store/catalog"
)

// A writer appends to the file with the highest number. Whoever uses it holds
// mdbox.mu.
type writer struct {
	part        // the file that is appended to; f nil: the next append begins one
	size int64  // of it, as far as it was written
	buf  []byte // what comes next
	full []part // files that this group has filled: not synced yet
	bad  []part // what is behind good in them is to be taken back (M1)
}

// A part is a file and what of it is of use.
type part struct {
	n    int64 // number
	f    fsys.File
	good int64 // up to here it lasts, and holds whole messages
	new  bool  // its name may not last yet
}

const (
	gathered  = 1 << 20 // bytes after which a write is made
	firstLine = 64      // bounds the line about the file

	firstSector = 512 // what a crash leaves of a file's begin whole, or zero
	maxFull     = 64  // files that one group fills and that are not synced yet
)

func (w *writer) end() int64 { return w.size + int64(len(w.buf)) }

// room makes sure that there is a file for a message of so many bytes, and that
// the buffer does not grow over all bounds.
func (s *mdbox) room(body int64) error {
	w := &s.w
	if w.f != nil && w.end() > firstLine && w.end()+body > s.rotate {
		if err := w.flush(); err != nil {
			return err
		}
		w.full = append(w.full, w.part)
		w.f = nil
		if err := s.shut(); err != nil {
			return err
		}
	}
	if w.f == nil {
		return s.begin()
	}
	if len(w.buf) > gathered {
		return w.flush()
	}
	return nil
}

// begin begins the next file.
func (s *mdbox) begin() error {
	w := &s.w
	w.n++ // one that could not be made is not tried again: who knows what is there
	f, err := s.fs.OpenFile(s.path(w.n), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	for try := 0; errors.Is(err, fs.ErrExist) && try < 1000; try++ { // nothing is written over
		w.n++
		f, err = s.fs.OpenFile(s.path(w.n), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	w.part, w.size = part{n: w.n, f: f, new: true}, 0
	w.buf = append(w.buf[:0], catalog.DboxFile(s.now())...)
	return nil
}

// shut syncs and closes files that the group has filled, when they are many. One
// that was there before stays open, to be cut if all is taken back.
func (s *mdbox) shut() error {
	w := &s.w
	if len(w.full)%maxFull != 0 {
		return nil
	}
	last := w.full[len(w.full)-maxFull:]
	for i := range last {
		p := &last[i]
		if p.f == nil || !p.new {
			continue
		}
		if err := p.f.Datasync(); err != nil {
			return err
		}
		f := p.f
		p.f = nil
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) flush() error {
	n, err := w.f.WriteAt(w.buf, w.size)
	w.size += int64(n)
	w.buf = w.buf[:0]
	return err
}

// sync makes everything that was put last. Without a file that is full or new it
// is one write and one fdatasync.
func (s *mdbox) sync() error {
	w := &s.w
	if w.f == nil {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	fresh := w.new
	for i := range w.full {
		fresh = fresh || w.full[i].new
		if w.full[i].f == nil {
			continue // shut has done it
		}
		if err := w.full[i].f.Datasync(); err != nil {
			return err
		}
	}
	if err := w.f.Datasync(); err != nil {
		return err
	}
	if fresh {
		if err := s.fs.SyncDir(s.store); err != nil {
			return err
		}
	}
	for i := range w.full {
		if w.full[i].f != nil {
			w.full[i].f.Close()
		}
	}
	w.full, w.new, w.good = nil, false, w.size
	return nil
}

// undo takes back what was written since the last sync.
func (s *mdbox) undo() {
	w := &s.w
	w.buf = w.buf[:0]
	if w.f != nil {
		w.full = append(w.full, w.part)
		w.f = nil
	}
	w.bad = append(w.bad, w.full...)
	w.full = nil
	if s.tidy() != nil {
		s.list.Litter()
	}
}

// tidy takes back what undo could not, before anything else is written.
func (s *mdbox) tidy() error {
	w := &s.w
	for len(w.bad) > 0 {
		p := &w.bad[0]
		if err := s.takeBack(p); err != nil {
			return err
		}
		w.bad = w.bad[1:]
	}
	return nil
}

func (s *mdbox) takeBack(p *part) error {
	if p.new {
		if p.f != nil {
			p.f.Close()
			p.f = nil
		}
		s.removed.Store(true)
		if err := s.fs.Remove(s.path(p.n)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := p.f.Truncate(p.good); err != nil {
		return err
	}
	if err := p.f.Datasync(); err != nil {
		return err
	}
	if s.w.f == nil && p.n == s.w.n { // no other has begun: it can be gone on with
		s.w.part, s.w.size = *p, p.good
		return nil
	}
	return p.f.Close()
}

// rotateNow makes the next message begin a file.
func (s *mdbox) rotateNow() {
	if s.w.f != nil {
		s.w.f.Close()
		s.w.f = nil
	}
}

func (s *mdbox) closeFiles() error {
	err := s.tidy()
	w := &s.w
	for _, p := range append(w.bad, w.part) {
		if p.f != nil {
			err = errors.Join(err, p.f.Close())
		}
	}
	w.bad, w.f, w.buf = nil, nil, nil
	return err
}
