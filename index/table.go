package index

import (
	"hash/maphash"
	"runtime"
	"slices"
	"sync"
)

// Table is the rows of a mailbox in memory, ascending by UID.
// About 70 bytes per message, most of them the key.
type Table struct {
	UIDValidity, UIDNext uint32
	HighestModSeq        uint64

	uid      []uint32
	keys     []byte
	off      []uint32 // key of row i is keys[off[i]:off[i+1]]
	flags    []Flags
	dir      []uint8
	keywords []uint32 // nil: all are 0
	modseq   []uint64
	vanished []Vanished
	lineage

	slots []uint64 // hash table over keys: hash>>32<<32 | row+1; nil: not built
	mask  uint64
	dead  []int32 // expunged rows that settle has not taken out of the columns yet
	notices
}

// Vanished is an expunged message: CONDSTORE and QRESYNC clients ask for them.
type Vanished struct {
	UID    uint32
	ModSeq uint64
}

// Len is the number of rows; a nil table has none.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	t.settle()
	return len(t.uid)
}

// UIDs are the rows' UIDs, ascending; not to be written to.
func (t *Table) UIDs() []uint32 { t.settle(); return t.uid }

// Flags are the rows' flags; not to be written to.
func (t *Table) Flags() []Flags { t.settle(); return t.flags }

// ModSeqs are the rows' MODSEQs; not to be written to.
func (t *Table) ModSeqs() []uint64 { t.settle(); return t.modseq }

// Vanished are the expunged messages in the order of their MODSEQ.
func (t *Table) Vanished() []Vanished { return t.vanished }

// Key is the key of a row: a piece of the table.
func (t *Table) Key(row int) []byte { return t.keys[t.off[row]:t.off[row+1]:t.off[row+1]] }

// Dir is the folder of a row: DirCur, DirNew or DirNone.
func (t *Table) Dir(row int) uint8 { return t.dir[row] }

// Keywords are the keyword bits of a row.
func (t *Table) Keywords(row int) uint32 {
	if t.keywords == nil {
		return 0
	}
	return t.keywords[row]
}

// Row finds the row of a UID: O(log n).
func (t *Table) Row(uid uint32) (int, bool) { t.settle(); return slices.BinarySearch(t.uid, uid) }

// Message is a row; its Key is a copy.
func (t *Table) Message(row int) Message {
	m := t.unnamed(row)
	m.Key = string(t.Key(row))
	return m
}

// unnamed is Message without the key.
func (t *Table) unnamed(row int) Message {
	return Message{UID: t.uid[row], Folder: Folder(t.dir[row]), Flags: t.flags[row], Keywords: t.Keywords(row), ModSeq: t.modseq[row]}
}

// Select appends the rows that s selects, ascending, to dst. all is true when
// that is every row: dst is then as it was.
func (t *Table) Select(dst []int32, s Search) (rows []int32, all bool, err error) {
	t.settle()
	n := t.Len()
	switch s.Kind {
	case "", "all":
		return dst, true, nil
	case "undeleted":
		for i, f := range t.flags {
			if f&FlagDeleted == 0 {
				dst = append(dst, int32(i))
			}
		}
	case "recent":
		for i := max(0, n-1000); i < n; i++ {
			dst = append(dst, int32(i))
		}
	case "uids":
		i := 0
		for _, u := range s.UIDs {
			if i > 0 && i <= n && u <= t.uid[i-1] { // repeated or out of order
				continue
			}
			k, ok := slices.BinarySearch(t.uid[i:], u)
			i += k
			if ok {
				dst = append(dst, int32(i))
				i++
			}
		}
	default:
		return dst, false, &SearchError{Kind: s.Kind}
	}
	return dst, len(dst) == n, nil
}

// A SearchError names a Search.Kind that does not exist.
type SearchError struct{ Kind string }

func (e *SearchError) Error() string {
	return "index: unknown search " + e.Kind + " (all, undeleted, recent, uids)"
}

var keySeed = maphash.MakeSeed() // a seed of this process: file names can be chosen by others

func hashKey(k string) uint64 { return maphash.String(keySeed, k) }

// index builds the hash table, with room for extra more rows.
func (t *Table) index(extra int) {
	n := len(t.uid) + extra
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	if len(t.slots) == size {
		clear(t.slots)
	} else {
		t.slots = make([]uint64, size)
	}
	t.mask = uint64(size - 1)
	for i := range t.uid {
		t.insert(maphash.Bytes(keySeed, t.Key(i)), i)
	}
}

func (t *Table) insert(h uint64, row int) {
	for p := h & t.mask; ; p = (p + 1) & t.mask {
		if t.slots[p] == 0 {
			t.slots[p] = h>>32<<32 | uint64(row+1)
			return
		}
	}
}

// find returns the row of a key, -1 if there is none. The hash table is built.
func (t *Table) find(key string) int {
	h := hashKey(key)
	for p := h & t.mask; ; p = (p + 1) & t.mask {
		s := t.slots[p]
		if s == 0 {
			return -1
		}
		if s>>32 == h>>32 {
			row := int(uint32(s)) - 1
			if string(t.keys[t.off[row]:t.off[row+1]]) == key && t.flags[row] != flagDead {
				return row
			}
		}
	}
}

// Find returns the row of a key.
func (t *Table) Find(key string) (int, bool) {
	t.settle()
	if t.slots == nil {
		t.index(0)
	}
	row := t.find(key)
	return row, row >= 0
}

// grow makes room for n more rows with keys of bytes bytes.
func (t *Table) grow(n, bytes int) {
	if len(t.off) == 0 {
		t.off = append(make([]uint32, 0, n+1), 0)
	}
	t.uid, t.off = slices.Grow(t.uid, n), slices.Grow(t.off, n)
	t.flags, t.dir, t.modseq = slices.Grow(t.flags, n), slices.Grow(t.dir, n), slices.Grow(t.modseq, n)
	t.keys = slices.Grow(t.keys, bytes)
}

// row is one message as a log record carries it.
type row struct {
	uid      uint32
	key      string
	flags    Flags
	dir      uint8
	keywords uint32
	modseq   uint64
}

// sow fills an empty table, which has no history, from UIDNext on. O(n): what a
// seed says of neighbours lies far apart in memory, so it is read by several.
func (t *Table) sow(seed Seed) {
	n := seed.Len()
	t.uid, t.off = make([]uint32, n), make([]uint32, n+1)
	t.flags, t.dir, t.modseq = make([]Flags, n), make([]uint8, n), make([]uint64, n)
	end := uint32(0)
	for i := range n {
		t.uid[i], t.modseq[i] = t.UIDNext+uint32(i), 1
		end += uint32(seed.KeyLen(i))
		t.off[i+1] = end
	}
	t.UIDNext += uint32(n)
	t.keys = make([]byte, end)
	workers := runtime.GOMAXPROCS(0)
	if n < 4096 {
		workers = 1
	}
	keywords := make([][]row, workers) // rare: few messages have any
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := n * w / workers; i < n*(w+1)/workers; i++ {
				key, flags, dir, kw := seed.Row(i)
				copy(t.keys[t.off[i]:t.off[i+1]], key)
				t.flags[i], t.dir[i] = flags&allFlags, dir
				if kw != 0 {
					keywords[w] = append(keywords[w], row{uid: uint32(i), keywords: kw})
				}
			}
		})
	}
	wg.Wait()
	for _, rows := range keywords {
		for _, r := range rows {
			t.setKeywords(int(r.uid), r.keywords)
		}
	}
}

// add appends a row; its UID is above all others.
func (t *Table) add(r *row) {
	if len(t.off) == 0 {
		t.off = append(t.off, 0)
	}
	t.uid = append(t.uid, r.uid)
	t.keys = append(t.keys, r.key...)
	t.off = append(t.off, uint32(len(t.keys)))
	if t.kept {
		t.lineageAdd(r.uid, r.key)
	}
	t.flags = append(t.flags, r.flags)
	t.dir = append(t.dir, r.dir)
	t.modseq = append(t.modseq, r.modseq)
	if t.keywords != nil {
		t.keywords = append(t.keywords, r.keywords)
	} else if r.keywords != 0 {
		t.setKeywords(len(t.uid)-1, r.keywords)
	}
}

func (t *Table) setKeywords(row int, k uint32) {
	if t.keywords == nil {
		if k == 0 {
			return
		}
		t.keywords = make([]uint32, len(t.uid), cap(t.uid))
	}
	t.keywords[row] = k
}

// remove takes rows (ascending) out and notes them as vanished. O(n).
func (t *Table) remove(rows []int32, modseq uint64) {
	t.vanish(rows, modseq)
	t.squeeze(rows)
}

// vanish notes rows as expunged and leaves them where they are.
func (t *Table) vanish(rows []int32, modseq uint64) {
	for _, r := range rows {
		t.vanished = append(t.vanished, Vanished{t.uid[r], modseq})
		if t.kept {
			t.lineageRemove(int(r))
		}
	}
	t.trimLost()
}

// flagDead is the flags of an expunged row that is still in the columns.
const flagDead Flags = 1 << 15

// bury is remove without taking the rows out: O(them). Numbers of rows stay as
// they are until settle.
func (t *Table) bury(rows []int32, modseq uint64) {
	t.vanish(rows, modseq)
	for _, r := range rows {
		t.flags[r] = flagDead
	}
	t.dead = append(t.dead, rows...)
}

// settle takes out the rows that bury has left. O(n) if there are any.
func (t *Table) settle() {
	if t != nil && len(t.dead) > 0 {
		t.settleDead()
	}
}

func (t *Table) settleDead() {
	dead := t.dead
	t.dead = nil
	slices.Sort(dead)
	t.squeeze(dead)
}

// squeeze takes rows (ascending) out of the columns. O(n).
func (t *Table) squeeze(rows []int32) {
	if len(rows) == 0 {
		return
	}
	at := int(rows[0]) // next row to write
	end := t.off[at]
	for i, next := at, 0; i < len(t.uid); i++ {
		if next < len(rows) && int(rows[next]) == i {
			next++
			continue
		}
		k := t.keys[t.off[i]:t.off[i+1]]
		copy(t.keys[end:], k)
		end += uint32(len(k))
		t.off[at+1] = end
		t.uid[at], t.flags[at], t.dir[at], t.modseq[at] = t.uid[i], t.flags[i], t.dir[i], t.modseq[i]
		if t.keywords != nil {
			t.keywords[at] = t.keywords[i]
		}
		at++
	}
	t.keys = t.keys[:end]
	t.uid, t.off, t.flags, t.dir, t.modseq = t.uid[:at], t.off[:at+1], t.flags[:at], t.dir[:at], t.modseq[:at]
	if t.keywords != nil {
		t.keywords = t.keywords[:at]
	}
	t.slots = nil // row numbers have moved
}

// counts are Status's.
func (t *Table) counts() (unseen, deleted int) {
	for _, f := range t.flags {
		if f&FlagSeen == 0 {
			unseen++
		}
		if f&FlagDeleted != 0 {
			deleted++
		}
	}
	return unseen, deleted
}

// ChangedSince calls changed for each row with a MODSEQ above modseq and gone
// for each UID expunged after it. O(n).
func (t *Table) ChangedSince(modseq uint64, changed func(row int), gone func(uid uint32)) {
	t.settle()
	for i, m := range t.modseq {
		if m > modseq {
			changed(i)
		}
	}
	i, _ := slices.BinarySearchFunc(t.vanished, modseq+1, func(v Vanished, m uint64) int {
		if v.ModSeq < m {
			return -1
		}
		return 1
	})
	for _, v := range t.vanished[i:] {
		gone(v.UID)
	}
}

// check yields what is wrong with the table.
func (t *Table) check(yield func(what string) bool) {
	t.settle()
	var prev uint32
	if t.index(0); t.UIDValidity == 0 && !yield("uidvalidity is 0") {
		return
	}
	for i, u := range t.uid {
		switch {
		case u <= prev:
			if !yield("uid not above the one before") {
				return
			}
		case u >= t.UIDNext:
			if !yield("uid not below uidnext") {
				return
			}
		case t.modseq[i] == 0 || t.modseq[i] > t.HighestModSeq:
			if !yield("modseq above the highest") {
				return
			}
		case t.dir[i] > DirNone:
			if !yield("unknown folder") {
				return
			}
		case t.find(string(t.Key(i))) != i:
			if !yield("a key twice") {
				return
			}
		}
		prev = u
	}
	var last uint64
	for _, v := range t.vanished {
		if v.ModSeq < last || v.ModSeq > t.HighestModSeq || v.UID == 0 || v.UID >= t.UIDNext {
			if !yield("vanished message out of order") {
				return
			}
		}
		last = v.ModSeq
		if _, there := t.Row(v.UID); there && !yield("vanished message is still there") {
			return
		}
	}
	if t.kept {
		t.checkLineage(yield)
	}
}
