package session

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"mailbench/index"
)

// rows is what the index says of each message, in the order of their UIDs. It is
// loaded when something is asked that needs it: some 100 B a message.
type rows struct {
	loaded   bool
	st       index.Status // what they are in line with
	uid      []uint32     // never changed in place but at the end: views share it
	flags    []index.Flags
	keywords []uint32
	dir      []uint8
	stamp    []uint32 // tick of the last change
	at       []keySpan
	keys     []byte
	size     []int64 // RFC822.SIZE; -1: not known yet
	tick     uint32  // of the last change of all
	gone     uint32  // of the last one that took messages away
}

type keySpan struct{ off, n uint32 }

var errRows = errors.New("session: the index contradicts itself")

func (r *rows) len() int { return len(r.uid) }

// find returns the place of a UID.
func (r *rows) find(uid uint32) (int, bool) { return slices.BinarySearch(r.uid, uid) }

// key is that of row i, not to be changed.
func (r *rows) key(i int) []byte { s := r.at[i]; return r.keys[s.off : s.off+s.n : s.off+s.n] }

// follow brings the rows in line with m. O(what changed) where the index is an
// index.Changer and nothing is gone, else O(messages).
func (r *rows) follow(m index.Mailbox, st index.Status, changes bool) error {
	if c, ok := m.(index.Changer); ok && changes && r.loaded {
		if st.HighestModSeq == r.st.HighestModSeq && st.UIDNext == r.st.UIDNext && st.Messages == r.st.Messages {
			r.st = st
			return nil
		}
		if err := r.change(c, st); !errors.Is(err, errRows) {
			return err
		}
	}
	return r.load(m, st)
}

// change takes in what c says has happened.
func (r *rows) change(c index.Changer, st index.Status) error {
	r.tick++
	var gone []uint32
	bad := false
	err := c.ChangesSince(r.st.HighestModSeq, func(m index.Message) bool {
		if i, ok := r.find(m.UID); ok {
			r.set(i, &m)
		} else if n := r.len(); n > 0 && m.UID < r.uid[n-1] {
			bad = true
		} else {
			r.add(&m)
		}
		return !bad
	}, func(uid uint32) bool {
		gone = append(gone, uid)
		return true
	})
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		r.remove(func(uid uint32) bool { _, ok := slices.BinarySearch(gone, uid); return ok })
	}
	if bad || r.len() != st.Messages {
		return errRows
	}
	r.st = st
	return nil
}

// load reads all rows and finds out what has changed.
func (r *rows) load(m index.Mailbox, st index.Status) error {
	old := *r
	*r = rows{loaded: true, st: st, tick: old.tick + 1, gone: old.gone}
	r.uid = make([]uint32, 0, st.Messages)
	r.flags = make([]index.Flags, 0, st.Messages)
	r.keywords, r.stamp = make([]uint32, 0, st.Messages), make([]uint32, 0, st.Messages)
	r.dir, r.at = make([]uint8, 0, st.Messages), make([]keySpan, 0, st.Messages)
	was, changed := 0, false
	err := m.Messages(func(msg index.Message) bool {
		r.add(&msg)
		i := r.len() - 1
		for was < len(old.uid) && old.uid[was] < msg.UID {
			was++
			r.gone, changed = r.tick, true
		}
		switch {
		case was == len(old.uid) || old.uid[was] != msg.UID: // new
			changed = true
		case old.flags[was] == r.flags[i] && old.keywords[was] == r.keywords[i]:
			r.stamp[i] = old.stamp[was]
			was++
		default:
			changed = true
			was++
		}
		return true
	})
	if was < len(old.uid) {
		r.gone, changed = r.tick, true
	}
	if !changed {
		r.tick--
	}
	if err == nil && r.len() != st.Messages {
		err = fmt.Errorf("%w: %d messages are counted, %d are there", errRows, st.Messages, r.len())
	}
	if err != nil {
		*r = old
	}
	return err
}

func (r *rows) add(m *index.Message) {
	r.uid = append(r.uid, m.UID)
	r.at = append(r.at, keySpan{uint32(len(r.keys)), uint32(len(m.Key))})
	r.keys = append(r.keys, m.Key...)
	r.flags, r.keywords, r.dir = append(r.flags, m.Flags), append(r.keywords, m.Keywords), append(r.dir, dirOf(m.Folder))
	r.stamp = append(r.stamp, r.tick)
	if r.size != nil {
		r.size = append(r.size, -1)
	}
}

func dirOf(folder string) uint8 {
	switch folder {
	case "cur":
		return index.DirCur
	case "new":
		return index.DirNew
	}
	return index.DirNone
}

func (r *rows) set(i int, m *index.Message) {
	if r.flags[i] != m.Flags || r.keywords[i] != m.Keywords {
		r.stamp[i] = r.tick
	}
	r.flags[i], r.keywords[i], r.dir[i] = m.Flags, m.Keywords, dirOf(m.Folder)
}

// remove takes the rows away whose UID is gone. O(messages): views share the
// UIDs, so these move to a new place.
func (r *rows) remove(gone func(uid uint32) bool) {
	to, garbage := 0, 0
	uid := make([]uint32, 0, len(r.uid))
	for i, u := range r.uid {
		if gone(u) {
			garbage += int(r.at[i].n)
			continue
		}
		uid = append(uid, u)
		r.flags[to], r.keywords[to], r.dir[to], r.stamp[to], r.at[to] = r.flags[i], r.keywords[i], r.dir[i], r.stamp[i], r.at[i]
		if r.size != nil {
			r.size[to] = r.size[i]
		}
		to++
	}
	if to == len(r.uid) {
		return
	}
	r.gone = r.tick
	r.uid = uid
	r.flags, r.keywords, r.dir, r.stamp, r.at = r.flags[:to], r.keywords[:to], r.dir[:to], r.stamp[:to], r.at[:to]
	if r.size != nil {
		r.size = r.size[:to]
	}
	if len(r.keys) > 1<<16 {
		r.repack()
	}
}

// repack gives back the room of keys that are gone, when that is most of it.
func (r *rows) repack() {
	used := 0
	for _, s := range r.at {
		used += int(s.n)
	}
	if used > len(r.keys)/2 {
		return
	}
	keys := make([]byte, 0, used)
	for i := range r.at {
		k := r.key(i)
		r.at[i].off = uint32(len(keys))
		keys = append(keys, k...)
	}
	r.keys = keys
}

// learn keeps sizes that it took a reading of the mail to know. f.mu is not held.
func (f *folder) learn(sizes map[uint32]int64) {
	if len(sizes) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.rows
	if r.size == nil {
		r.size = make([]int64, len(r.uid))
		for i := range r.size {
			r.size[i] = -1
		}
	}
	for uid, size := range sizes {
		if i, ok := r.find(uid); ok {
			r.size[i] = size
		}
	}
}

// A listing finds the entries of a source that is no index.Namer by their keys.
type listing struct {
	l  index.Listing
	by map[string]int32
}

// A mail is a row that is to be read: with copies of what the entry needs.
type mail struct {
	uid   uint32
	seq   uint32
	flags index.Flags
	words uint32
	vsize int64 // RFC822.SIZE, -1: not known
	entry index.Entry
	name  []byte // what the entry's strings point to
}

// entryOf fills m.entry from row i. f.mu and f.life are held.
func (f *folder) entryOf(i int, m *mail) error {
	r := &f.rows
	m.uid, m.flags, m.words = r.uid[i], r.flags[i], r.keywords[i]
	if m.vsize = -1; r.size != nil {
		m.vsize = r.size[i]
	}
	src := f.source()
	if n, ok := src.(index.Namer); ok {
		m.name = n.NameEntry(&m.entry, r.key(i), r.flags[i], r.dir[i], r.keywords[i], m.name)
		return nil
	}
	if f.list == nil {
		l := &listing{}
		if err := src.List(&l.l); err != nil {
			return err
		}
		l.by = make(map[string]int32, len(l.l.Entries))
		for i := range l.l.Entries {
			l.by[l.l.Entries[i].Key] = int32(i)
		}
		f.list = l
	}
	key := r.key(i)
	at, ok := f.list.by[unsafe.String(unsafe.SliceData(key), len(key))]
	if !ok {
		m.entry = index.Entry{Key: string(key), Ref: -1, Off: -1}
		return nil
	}
	m.entry = f.list.l.Entries[at]
	return nil
}
