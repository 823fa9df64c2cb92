package column

import (
	"encoding/binary"
	"errors"
	"slices"
	"unsafe"

	mailsort "mailbench/sort"
)

// manyRows is how many new rows make it worth while to build the tables of
// everything that is there already, rather than to look for a few in it.
const manyRows = 8192

// A builder adds rows (or columns for all rows) to a store.
type builder struct {
	s      *store
	want   wants
	from   int // rows that were there
	idFrom int // ids that were there

	ids     interner
	hash    []idHash // of new ids, after finish
	subject textBuilder
	address [len(addressKeys)]textBuilder
	all     chunk // few rows: everything that was read
	few     bool
	lazy    bool                      // with few: columns of the rows before that nobody has loaded stay so
	val     [len(addressKeys)][]int32 // with few: of the new rows
	env     envWriter
	bodies  bodyWriter
	owned   []uint64 // bitmap by id: an earlier row's own (envelopes)
}

// An interner numbers ids.
type interner interface {
	intern(idHash) int32
	added() []idHash // those that were new, in order of their numbers
}

type tableIDs struct {
	idTable
	from int
}

func (t *tableIDs) added() []idHash { return t.hash[t.from:] }

// fewIDs is an interner whose table holds only what the new rows use.
type fewIDs struct {
	needleTable
	num   []int32 // by needle; -1: not known to the cache
	next  int32
	fresh []idHash
}

func (f *fewIDs) added() []idHash { return f.fresh }

func (f *fewIDs) intern(h idHash) int32 {
	k := f.match(h)
	if f.num[k] < 0 {
		f.num[k] = f.next
		f.next++
		f.fresh = append(f.fresh, h)
	}
	return f.num[k]
}

// newBuilder prepares to add n rows to s; w.thread is off to add columns to
// the rows that are there. With lazy the store may lack columns until the new
// rows are written: few new rows need no more of the others than their links and
// the strings.
func newBuilder(s *store, w wants, n int, lazy bool) (*builder, error) {
	b := &builder{s: s, want: w, from: s.rows, few: s.rows > 0 && n < manyRows}
	b.lazy = lazy && b.few
	if w.thread {
		was := w // what there is of the rows before
		was.envelope = false
		if s.rows == 0 {
			was = wants{thread: true}
		}
		s.room = n
		err := s.load(was, b.lazy)
		if s.room = 0; err != nil {
			return nil, err
		}
		b.idFrom = s.cols.numIDs
		if !b.few {
			t := &tableIDs{from: s.cols.numIDs}
			t.grow(s.cols.numIDs + n + n/8)
			t.hash = make([]idHash, 0, s.cols.numIDs+n+n/8)
			err := s.hashes(func(_ int, h []byte) {
				for ; len(h) >= 16; h = h[16:] {
					t.intern(idHash{binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])})
				}
			})
			if err == nil && len(t.hash) != s.cols.numIDs {
				err = corrupt("hash")
			}
			if err != nil {
				return nil, err
			}
			b.ids = t
		}
		c := &s.cols
		c.uid, c.ctl, c.id = slices.Grow(c.uid, n), slices.Grow(c.ctl, n), slices.Grow(c.id, n)
		c.ref = slices.Grow(c.ref, 2*n) // lists have 2.2 per message
		c.date, c.subject, c.refOff = slices.Grow(c.date, n), slices.Grow(c.subject, n), slices.Grow(c.refOff, n)
		b.subject.start(&s.subject.dict, n, b.few)
		if w.envelope {
			for _, id := range c.id {
				b.own(id)
			}
		}
	} else {
		b.few, b.from = false, 0
	}
	if w.address {
		for i := range s.address {
			t := &s.address[i]
			if !w.thread || s.rows == 0 {
				t.val, t.hasVal, t.hasRanks, t.hasText = nil, true, true, true
				t.dict = dict{}
			}
			b.address[i].start(&t.dict, n, b.few)
		}
	}
	return b, nil
}

// merge takes in the next chunk in row order.
func (b *builder) merge(c *chunk) error {
	if b.few {
		b.all.append(c)
		return nil
	}
	return b.take(c)
}

func (b *builder) take(c *chunk) error {
	s := b.s
	if b.want.thread {
		h := c.hash
		for i, ctl := range c.ctl {
			own := int32(-1)
			if ctl&ctlIDNew != 0 {
				own = b.ids.intern(h[0])
				h = h[1:]
			}
			s.cols.id = append(s.cols.id, own)
			for _, r := range h[:c.refs[i]] {
				s.cols.ref = append(s.cols.ref, b.ids.intern(r))
			}
			h = h[c.refs[i]:]
			if uint64(len(s.cols.ref)) > 1<<31 {
				return errors.New("column: more than 2^31 references")
			}
			s.cols.refOff = append(s.cols.refOff, uint32(len(s.cols.ref)))
			s.cols.ctl = append(s.cols.ctl, ctl&ctlKeep)
		}
		if s.hasDates {
			s.cols.date = append(s.cols.date, c.date...)
		}
		s.cols.subject = b.subject.take(s.cols.subject, &c.subject)
	}
	if b.want.address {
		for i := range b.address {
			val := &s.address[i].val
			if b.few {
				val = &b.val[i]
			}
			*val = b.address[i].take(*val, &c.address[i])
		}
	}
	if b.want.arrival && (s.arrival != nil || !b.lazy) {
		s.arrival = append(s.arrival, c.arrival...)
	}
	if b.want.size && (s.size != nil || !b.lazy) {
		s.size = append(s.size, c.size...)
	}
	if b.want.envelope {
		b.takeEnvelopes(c)
	}
	if c.body.Len() == c.n {
		for i := range c.n {
			b.bodies.add(c.body.At(i))
		}
	}
	return nil
}

// takeEnvelopes takes the chunk's block and those In-Reply-To that no earlier
// row can give.
func (b *builder) takeEnvelopes(c *chunk) {
	cols := &b.s.cols
	for _, p := range append(c.packs, c.packed) {
		if p.rows > 0 {
			b.env.block(p)
		}
	}
	first := len(cols.id) - c.n
	for i := range c.n {
		row := first + i
		if v := c.env.irt.At(i); len(v) > 0 && !b.owns(cols.ref[cols.refOff[row+1]-1]) {
			b.env.orphan(row-b.from, v)
		}
		b.own(cols.id[row])
	}
}

func (b *builder) owns(id int32) bool {
	return int(id>>6) < len(b.owned) && b.owned[id>>6]&(1<<(id&63)) != 0
}

func (b *builder) own(id int32) {
	if id < 0 {
		return
	}
	for int(id>>6) >= len(b.owned) {
		b.owned = append(b.owned, 0)
	}
	b.owned[id>>6] |= 1 << (id & 63)
}

// finish takes in what is left and numbers what is new: the columns are
// complete then. uids are those of the new rows.
func (b *builder) finish(uids []uint32) error {
	s := b.s
	if b.few {
		if err := b.takeFew(); err != nil {
			return err
		}
	}
	if b.want.thread {
		b.hash = b.ids.added()
		b.ids = nil
		s.cols.numIDs = b.idFrom + len(b.hash)
		s.cols.uid = append(s.cols.uid, uids...)
		s.rows += len(uids)
		b.subject.finish(&s.subject, s.cols.subject[b.from:])
		s.count.compared(b.subject.compares)
	}
	if b.want.address {
		for i := range s.address {
			t := &s.address[i]
			b.address[i].finish(t, b.values(i))
			if b.few && t.hasVal {
				t.val = append(t.val, b.val[i]...)
			}
			s.count.compared(b.address[i].compares)
		}
	}
	return nil
}

// values are the new rows' numbers of an address column.
func (b *builder) values(i int) []int32 {
	if b.few {
		return b.val[i]
	}
	return b.s.address[i].val[b.from:]
}

// parts encodes what was added. It reads columns only: a query may read them
// at the same time.
func (b *builder) parts() []part {
	s := b.s
	n := s.rows - b.from
	var parts []part
	add := func(name string, rows int, b []byte) { parts = append(parts, part{name: name, rows: rows, b: b}) }
	dict := func(t *textBuilder, name string) {
		add(name+".str", t.added, appendStrings(make([]byte, 0, len(t.fresh.Data)+2*t.added+8), &t.fresh))
		if t.places != nil {
			add(name+".place", t.added, t.places)
		}
	}
	dates, arrival, size := b.all.date, b.all.arrival, b.all.size
	if !b.few {
		if b.want.thread {
			dates = s.cols.date[b.from:]
		}
		if b.want.arrival {
			arrival = s.arrival[b.from:]
		}
		if b.want.size {
			size = s.size[b.from:]
		}
	}
	if b.want.thread {
		var st streams
		s.cols.encode(&st, b.from, b.idFrom)
		add("uid", n, st.uid)
		add("ctl", n, st.ctl)
		add("id", n, st.id)
		add("ref", n, st.ref)
		dict(&b.subject, s.subject.name)
		add("subject", n, st.subject)
		add("date", n, appendDeltas(make([]byte, 0, 3*n), dates))
		add("hash", len(b.hash), hashBytes(b.hash))
		b.hash = nil
	}
	if b.want.address {
		for i := range s.address {
			dict(&b.address[i], s.address[i].name)
			add(s.address[i].name, n, appendUints(nil, b.values(i)))
		}
	}
	if b.want.arrival {
		add("arrival", n, appendDeltas(nil, arrival))
	}
	if b.want.size {
		add("size", n, appendDeltas(nil, size))
	}
	if b.want.envelope {
		parts = append(parts, b.env.parts(n)...)
	}
	if p, ok := b.bodies.part(); ok && b.want.thread {
		parts = append(parts, p)
	}
	return parts
}

// hashBytes turns hashes into bytes where they are: they are little endian
// there, too, or are made so, and not used again.
func hashBytes(h []idHash) []byte {
	if len(h) == 0 {
		return nil
	}
	for i := range h {
		for k, v := range h[i] {
			binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Pointer(&h[i][k]))[:], v)
		}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&h[0])), 16*len(h))
}

// takeFew takes the collected rows, after looking up their ids among those of
// the cache.
func (b *builder) takeFew() error {
	if b.want.thread {
		f := &fewIDs{next: int32(b.idFrom)}
		f.grow(len(b.all.hash) + 1)
		for _, h := range b.all.hash {
			f.add(h)
		}
		f.num = make([]int32, len(f.hash))
		for i := range f.num {
			f.num[i] = -1
		}
		n := 0
		err := b.s.hashes(func(first int, h []byte) {
			for id := first; len(h) >= 16; id++ {
				k := f.match(idHash{binary.LittleEndian.Uint64(h), binary.LittleEndian.Uint64(h[8:])})
				if k >= 0 {
					f.num[k] = int32(id)
				}
				h = h[16:]
				n++
			}
		})
		if err == nil && n != b.idFrom {
			err = corrupt("hash")
		}
		if err != nil {
			return err
		}
		b.ids = f
	}
	return b.take(&b.all)
}

// append adds the rows of o, envelopes as they are packed.
func (c *chunk) append(o *chunk) {
	c.n += o.n
	c.ctl = append(c.ctl, o.ctl...)
	c.date = append(c.date, o.date...)
	c.refs = append(c.refs, o.refs...)
	c.hash = append(c.hash, o.hash...)
	appendArena(&c.subject, &o.subject)
	for i := range c.address {
		appendArena(&c.address[i], &o.address[i])
	}
	appendArena(&c.body, &o.body)
	c.arrival = append(c.arrival, o.arrival...)
	c.size = append(c.size, o.size...)
	if o.packed.rows > 0 {
		appendArena(&c.env.irt, &o.env.irt)
		o.packed.data = slices.Clone(o.packed.data)
		c.packs = append(c.packs, o.packed)
	}
}

func appendArena(dst, src *mailsort.Arena) {
	for i := range src.Len() {
		dst.Append(src.At(i))
	}
}
