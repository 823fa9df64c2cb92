package mdbox

import (
	"bytes"
	"cmp"
	"os"
	"slices"

	"mailbench/internal/fsys"
	"mailbench/store/catalog"
)

func sortNumbers(ns []int64) { slices.Sort(ns) }

// resume goes on after a mailbox was closed in order: with its last file.
func (s *mdbox) resume() error {
	ns, err := s.files()
	if err != nil {
		return err
	}
	if len(ns) == 0 {
		return nil
	}
	s.w.n = ns[len(ns)-1]
	if ours, err := s.ours(s.w.n); err != nil || !ours {
		return err
	}
	return s.goOn()
}

// find gives rows whose file is not there the place of a copy. A map that lost
// its end speaks of places from before a Purge. Those without a copy stay: reading
// tells.
func (s *mdbox) find(ns []int64) error {
	lost := map[string]bool{}
	s.cat.Each(func(r catalog.Row) bool {
		if _, ok := slices.BinarySearch(ns, r.File); !ok {
			lost[r.Key] = true
		}
		return true
	})
	if len(lost) == 0 {
		return nil
	}
	var moved []catalog.Row
	for _, n := range ns {
		w := walker{search: true}
		if err := w.walk(s, n, func(r catalog.Row) {
			if lost[r.Key] {
				delete(lost, r.Key)
				moved = append(moved, r)
			}
		}); err != nil {
			return err
		}
	}
	if len(moved) == 0 {
		return nil
	}
	return s.list.Move(moved)
}

// goOn opens file w.n for appending, unless it is full.
func (s *mdbox) goOn() error {
	f, err := s.fs.OpenFile(s.path(s.w.n), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil || size == 0 || size >= s.rotate {
		f.Close()
		return err
	}
	s.w.part, s.w.size = part{n: s.w.n, f: f, good: size}, size
	return nil
}

// maxBehind bounds the ids of messages that are searched for behind damage.
const maxBehind = 1 << 20

// recover puts a mailbox in order that was not closed: messages that the map
// does not know yet are taken in (M2), torn bytes behind them are cut off, and
// files in which all is dead are removed (M4).
func (s *mdbox) recover() error {
	s.removed.Store(true) // who was killed may have removed files
	ns, err := s.files()
	if err != nil {
		return err
	}
	if err := s.find(ns); err != nil {
		return err
	}
	live := map[int64]catalog.Row{} // the last row of each file
	last := int64(0)
	s.cat.Each(func(r catalog.Row) bool {
		if was, ok := live[r.File]; !ok || r.Off > was.Off {
			live[r.File] = r
		}
		last = max(last, r.File)
		return true
	})
	s.w.n = last
	next := s.list.Next()
	var found []catalog.Row
	sound := false // the last file can be gone on with
	for _, n := range ns {
		if n < last {
			continue
		}
		var w walker
		if r, ok := live[n]; ok {
			w.from = r.Off - catalog.DboxHead
		}
		adopt := func(r catalog.Row) {
			if catalog.KeyID(r.Key) >= next {
				found = append(found, r)
				live[n] = r
			}
		}
		if err := w.walk(s, n, adopt); err != nil {
			return err
		}
		// If not even the last message that is known is whole, it is damage, and
		// nothing is cut.
		if sound = w.end > w.from; sound && w.lost {
			torn, err := s.torn(n, w.end)
			switch {
			case err != nil:
				return err
			case torn:
				err = s.cut(n, w.end)
			default: // damage, and what is behind it may be mail
				sound = false
				behind := walker{from: w.end, search: true}
				err = behind.walk(s, n, func(r catalog.Row) {
					// It may be a part of another's text, which is not to use up the ids.
					if catalog.KeyID(r.Key) < next+maxBehind {
						adopt(r)
					}
				})
			}
			if err != nil {
				return err
			}
		}
		s.w.n = max(s.w.n, n)
	}
	if len(found) > 0 {
		slices.SortStableFunc(found, byID)
		found = slices.CompactFunc(found, func(a, b catalog.Row) bool { return a.Key == b.Key })
		s.list.Raise(catalog.KeyID(found[len(found)-1].Key) + 1)
		if err := s.list.Add(found, true); err != nil {
			return err
		}
	}
	for i, n := range ns {
		if _, ok := live[n]; ok || sound && i == len(ns)-1 {
			continue
		}
		if ours, err := s.ours(n); err != nil {
			return err
		} else if !ours {
			continue
		}
		if err := s.fs.Remove(s.path(n)); err != nil {
			return err
		}
	}
	if sound && s.w.n == ns[len(ns)-1] {
		return s.goOn()
	}
	return nil
}

// torn reports whether the message that should be at off is what a crash leaves of
// one that was being written. What is behind it was then never acknowledged.
func (s *mdbox) torn(n, off int64) (bool, error) {
	f, err := s.fs.Open(s.path(n))
	if err != nil {
		return false, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return false, err
	}
	read := func(want int64) ([]byte, error) {
		b := make([]byte, min(size-off, want))
		return b, catalog.ReadFullAt(f, b, off)
	}
	b, err := read(2 * firstSector)
	if err != nil {
		return false, err
	}
	if _, length, err := catalog.ParseDboxHead(b); err == nil {
		if length > size-off { // or the length is damaged, and others follow
			behind, others := walker{from: off + 1, search: true}, 0
			err := behind.walk(s, n, func(catalog.Row) { others++ })
			return others == 0, err
		}
		if b, err = read(catalog.DboxHead + length + catalog.DboxTail); err != nil {
			return false, err
		}
	}
	return catalog.DboxTornAt(b, off), nil
}

// cut cuts a file behind its last whole message.
func (s *mdbox) cut(n, end int64) error {
	f, err := s.fs.OpenFile(s.path(n), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(end); err != nil {
		return err
	}
	return f.Datasync()
}

func byID(a, b catalog.Row) int { return cmp.Compare(catalog.KeyID(a.Key), catalog.KeyID(b.Key)) }

// remake makes the map from the files (M5).
func (s *mdbox) remake(name string) error {
	ns, err := s.files()
	if err != nil {
		return err
	}
	s.cat = catalog.New("mdbox", s.dir, s)
	var whole, rest []catalog.Row // found by walking, and by searching behind damage
	for _, n := range ns {
		s.w.n = n
		w := walker{search: true}
		if err := w.walk(s, n, func(r catalog.Row) {
			if w.lost {
				rest = append(rest, r)
			} else {
				whole = append(whole, r)
			}
		}); err != nil {
			return err
		}
	}
	// A message may be there twice, when Purge was stopped: which of them does
	// not matter, except that what was searched for could be a part of another's
	// text, made to look like a message.
	rows := append(whole, rest...)
	slices.SortStableFunc(rows, byID)
	rows = slices.CompactFunc(rows, func(a, b catalog.Row) bool { return a.Key == b.Key })
	s.cat.Load(rows...)
	s.list, err = catalog.CreateList(s.fs, name, s.cat, 1)
	return err
}

// A walker goes through the messages of a file.
type walker struct {
	from   int64 // where to begin; 0: behind the line about the file
	search bool  // go on behind bytes that are no message
	lost   bool  // there were such bytes
	end    int64 // behind the last whole message
	bad    int64 // where the first such bytes begin, if lost
	why    error // what is wrong with them
}

// walk calls fn for each whole message of file n.
func (w *walker) walk(s *mdbox, n int64, fn func(catalog.Row)) error {
	f, err := s.fs.Open(s.path(n))
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	off := w.from
	if off == 0 {
		head := make([]byte, min(size, firstLine))
		if err := catalog.ReadFullAt(f, head, 0); err != nil {
			return err
		}
		off = int64(catalog.DboxFileLen(head))
		if off == 0 {
			if w.lost, w.why = true, errNoLine; !w.search {
				return nil
			}
		}
	}
	w.end = off
	var buf []byte
	for off < size {
		r, length, b, err := message(f, off, size, buf)
		buf = b
		if err != nil {
			return err
		}
		if w.why == nil && length == 0 {
			w.why = errNoMessage
		}
		if length > 0 {
			r.File, r.Off = n, off+catalog.DboxHead
			fn(r)
			off += length
			w.end = off
			continue
		}
		if !w.lost {
			w.lost, w.bad = true, off
		}
		if !w.search {
			return nil
		}
		if off, err = nextHead(f, off+1, size); err != nil {
			return err
		}
	}
	return nil
}

// message reads the message at off; length 0: there is none that is whole.
func message(f fsys.File, off, size int64, buf []byte) (r catalog.Row, length int64, b []byte, err error) {
	b = slices.Grow(buf[:0], catalog.DboxHead)[:min(size-off, catalog.DboxHead)]
	if err := catalog.ReadFullAt(f, b, off); err != nil {
		return r, 0, b, err
	}
	_, n, err := catalog.ParseDboxHead(b)
	if err != nil || n > size-off-int64(len(b)) {
		return r, 0, b, nil
	}
	want := min(size-off, catalog.DboxHead+n+catalog.DboxTail)
	b = slices.Grow(b[:0], int(want))[:want]
	if err := catalog.ReadFullAt(f, b, off); err != nil {
		return r, 0, b, err
	}
	if r, length, err = catalog.ParseDbox(b); err != nil {
		return r, 0, b, nil
	}
	return r, length, b, nil
}

// nextHead searches for the next bytes that begin like a message.
func nextHead(f fsys.File, off, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for off < size {
		b := buf[:min(size-off, int64(len(buf)))]
		if err := catalog.ReadFullAt(f, b, off); err != nil {
			return 0, err
		}
		if i := bytes.Index(b, []byte(catalog.DboxPre)); i >= 0 {
			return off + int64(i), nil
		}
		if off += int64(len(b)); off < size {
			off -= int64(len(catalog.DboxPre) - 1)
		}
	}
	return size, nil
}
