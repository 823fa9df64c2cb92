package maildir

import "unsafe"

// Ordered is the messages of a listing in the order of Compare, one for each
// base name, without an Entry for any of them: 16 bytes a message, and the
// names where List has put them. It is valid as long as they are.
type Ordered struct {
	s     *Scan
	items []sortItem // at: chunk of the arena and offset in it, n: length of the base name
	sep   byte
	cur   uint32 // first place that belongs to cur/
}

const arenaShift = 20 // places are arena chunk << arenaShift | offset

// Ordered sorts the names that List has gathered. ok is false when they are
// too many for it: Parse and SortBase do it then. O(n), 32 bytes a
// message of scratch.
func (s *Scan) Ordered() (o Ordered, ok bool) {
	if len(s.arena) > 1<<(32-arenaShift) {
		return o, false
	}
	o = Ordered{s: s, sep: s.opt.separator(), cur: ^uint32(0)}
	items := make([]sortItem, 0, s.Digest.N)
	for _, c := range s.names {
		if c.dir == Cur {
			o.cur = min(o.cur, uint32(c.arena)<<arenaShift|uint32(c.from))
		}
		a := s.arena[c.arena]
		for at := c.from; at < c.to; {
			n := int(a[at]) | int(a[at+1])<<8
			name := unsafe.String(&a[at+2], n)
			base, _ := cut(name, o.sep)
			items = append(items, sortItem{keyOf(base).pack(), uint32(c.arena)<<arenaShift | uint32(at), uint32(len(base))})
			at += 2 + n
		}
	}
	o.items = sortPacked(items, func(at uint32) string {
		base, _ := cut(o.file(at), o.sep)
		return base
	})
	o.unique()
	return o, true
}

// Each calls fn for the names of one of parts equal shares of what List has
// gathered, in the order of the listing: what an Entry has but for the sizes,
// and the place that EntryAt takes. Nothing is allocated. ok is false when there
// are too many names for places.
func (s *Scan) Each(part, parts int, fn func(at uint32, base string, dir Dir, flags Flags, keywords uint32)) (ok bool) {
	if len(s.arena) > 1<<(32-arenaShift) {
		return false
	}
	sep := s.opt.separator()
	for i, c := range s.names {
		if i%parts != part {
			continue
		}
		a := s.arena[c.arena]
		for at := c.from; at < c.to; {
			n := int(a[at]) | int(a[at+1])<<8
			base, info := cut(unsafe.String(&a[at+2], n), sep)
			var flags Flags
			var keywords uint32
			if letters, ok := infoFlags(info, sep); ok {
				flags, keywords, _ = parseFlags(letters)
			}
			fn(uint32(c.arena)<<arenaShift|uint32(at), base, c.dir, flags, keywords)
			at += 2 + n
		}
	}
	return true
}

// EntryAt is the entry of a place that Each gave.
func (s *Scan) EntryAt(at uint32, dir Dir) Entry {
	o := Ordered{s: s}
	return parseEntry(o.file(at), dir, s.opt.separator())
}

// unique drops all but one of equal names, which are neighbours: the one in
// cur/ counts, where a message that was seen twice has gone.
func (o *Ordered) unique() {
	n := 0
	for i, it := range o.items {
		if i > 0 && it.key == o.items[n-1].key && it.n == o.items[n-1].n && o.base(it) == o.base(o.items[n-1]) {
			if o.dir(it) < o.dir(o.items[n-1]) {
				o.items[n-1] = it
			}
			continue
		}
		o.items[n] = it
		n++
	}
	o.items = o.items[:n]
}

// Len is the number of messages.
func (o *Ordered) Len() int { return len(o.items) }

// BaseLen is the length of a base name.
func (o *Ordered) BaseLen(i int) int { return int(o.items[i].n) }

// At is message i: what an Entry has but for the sizes. The string is a piece
// of the listing. It may be called from several goroutines.
func (o *Ordered) At(i int) (base string, dir Dir, flags Flags, keywords uint32) {
	it := o.items[i]
	file := o.file(it.at)
	if letters, ok := infoFlags(file[it.n:], o.sep); ok {
		flags, keywords, _ = parseFlags(letters)
	}
	return file[:it.n], o.dir(it), flags, keywords
}

func (o *Ordered) file(at uint32) string {
	a := o.s.arena[at>>arenaShift]
	at &= 1<<arenaShift - 1
	n := int(a[at]) | int(a[at+1])<<8
	return unsafe.String(&a[at+2], n)
}

func (o *Ordered) base(it sortItem) string { return o.file(it.at)[:it.n] }

func (o *Ordered) dir(it sortItem) Dir {
	if it.at >= o.cur {
		return Cur
	}
	return New
}
