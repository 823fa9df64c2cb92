package column

import (
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"mailbench/internal/rfc5322"
)

// envIndex finds blocks by row.
type envIndex struct {
	blocks []envSpan
	orphan map[int32][]byte // row -> In-Reply-To
	owner  []int32          // id -> first row that has it
}

type envSpan struct {
	first, rows, raw int
	data             []byte // stored, mapped
}

// envelopes reads where the blocks are. O(blocks + orphans).
func (s *store) envelopes() (*envIndex, error) {
	x := &envIndex{orphan: map[int32][]byte{}}
	var data []byte
	first, start := 0, 0
	for _, p := range s.parts {
		switch p.name {
		case "env", "env.idx", "env.irt":
		default:
			continue
		}
		b, err := s.bytes(p)
		if err != nil {
			return nil, err
		}
		c := cursor{b: b}
		switch p.name {
		case "env":
			data = b
		case "env.idx":
			start = first
			for c.left() > 0 && !c.bad {
				sp := envSpan{first: first, rows: int(c.uint()), data: nil}
				n := c.uint()
				sp.raw = int(c.uint())
				if c.bad || n > uint64(len(data)) || sp.rows < 1 || sp.rows > s.rows-first {
					return nil, corrupt(p.name)
				}
				sp.data, data = data[:n], data[n:]
				first += sp.rows
				x.blocks = append(x.blocks, sp)
			}
			if c.bad || first-start != p.rows {
				return nil, corrupt(p.name)
			}
		case "env.irt":
			row := uint64(start)
			for c.left() > 0 && !c.bad {
				row += c.uint()
				v := c.bytes(c.uint())
				if c.bad || row >= uint64(first) {
					return nil, corrupt(p.name)
				}
				x.orphan[int32(row)] = v
			}
		}
	}
	if first != s.rows {
		return nil, corrupt("env.idx")
	}
	return x, nil
}

// block finds the block of a row.
func (x *envIndex) block(row int) *envSpan {
	i, _ := slices.BinarySearchFunc(x.blocks, row, func(b envSpan, row int) int {
		if b.first+b.rows <= row {
			return -1
		}
		return 1
	})
	return &x.blocks[i]
}

// envRow is one row of a decoded block.
type envRow struct {
	bits uint64
	code uint64 // of Date
	v    [envFields][]byte
}

// decode calls fn with each row of the block; buf is scratch for its bytes.
func (b *envSpan) decode(buf []byte, fn func(row int, r *envRow) error) ([]byte, error) {
	raw, err := envDecoder().DecodeAll(b.data, buf[:0])
	if err != nil || len(raw) != b.raw {
		return buf, corrupt("env")
	}
	c := cursor{b: raw}
	if c.uint() != uint64(b.rows) {
		return raw, corrupt("env")
	}
	bits, dates := cursor{b: c.bytes(c.uint())}, cursor{b: c.bytes(c.uint())}
	var lens, text [envFields]cursor
	for i := range lens {
		lens[i].b = c.bytes(c.uint())
		text[i].b = c.bytes(c.uint())
	}
	ok := c.done()
	var r envRow // one for all rows: fn's argument would be an allocation each
	for k := 0; k < b.rows && ok; k++ {
		r = envRow{bits: bits.uint()}
		if r.bits&envDate != 0 {
			r.code = dates.uint()
		}
		for i := range lens {
			if r.bits&(1<<i) == 0 || i == envInReplyTo && r.bits&envParent != 0 {
				continue
			}
			r.v[i] = text[i].bytes(lens[i].uint())
			ok = ok && !text[i].bad && !lens[i].bad
		}
		if ok = ok && !bits.bad && !dates.bad; ok {
			if err := fn(b.first+k, &r); err != nil {
				return raw, err
			}
		}
	}
	if !ok {
		return raw, corrupt("env")
	}
	return raw, nil
}

// envReader gives envelopes, with the last two blocks decoded: a window of a
// mailbox and its parents are mostly in them.
type envReader struct {
	s     *store
	x     *envIndex
	cache [2]struct {
		first int // of the block; -1: empty
		buf   []byte
		rows  []envRow
	}
	turn      int
	ids       parentIDs
	date, irt []byte // what is made anew for a row
}

func (s *store) envReader() (*envReader, error) {
	x, err := s.envelopes()
	if err != nil {
		return nil, err
	}
	r := &envReader{s: s, x: x}
	r.cache[0].first, r.cache[1].first = -1, -1
	return r, nil
}

// owners loads what tells whose Message-ID an In-Reply-To is.
func (r *envReader) owners() error {
	if r.x.owner != nil {
		return nil
	}
	if err := r.s.loadLinks(); err != nil {
		return err
	}
	r.x.owner = r.s.cols.owners()
	return nil
}

func (r *envReader) row(row int) (*envRow, error) {
	b := r.x.block(row)
	for i := range r.cache {
		if c := &r.cache[i]; c.first == b.first {
			r.turn = 1 - i
			return &c.rows[row-b.first], nil
		}
	}
	c := &r.cache[r.turn]
	c.first, c.rows = -1, c.rows[:0]
	if r.s.count != nil {
		r.s.count.blocks.Add(1)
	}
	r.s.count.decoded(int64(b.raw))
	var err error
	c.buf, err = b.decode(c.buf, func(_ int, e *envRow) error {
		c.rows = append(c.rows, *e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.first = b.first
	r.ids.keep(b.first, c.rows)
	r.turn = 1 - r.turn
	return &c.rows[row-b.first], nil
}

// read sets v to the fields of a row's envelope that want has a bit for; nil:
// the message has no such field. The slices are valid until the next read.
// Date and In-Reply-To may need columns of the whole mailbox, once.
func (r *envReader) read(row int, want uint64, v *[envFields][]byte) error {
	e, err := r.row(row)
	if err != nil {
		return err
	}
	*v = [envFields][]byte{}
	want &= e.bits | (envParent|envDate)&e.bits
	if e.bits&envParent != 0 && want&(1<<envInReplyTo) != 0 {
		if r.irt, err = r.inReplyTo(r.irt[:0], row); err != nil {
			return err
		}
		v[envInReplyTo] = r.irt
		want &^= 1 << envInReplyTo
		if e, err = r.row(row); err != nil { // another block may stand in its place
			return err
		}
	}
	for i := range v {
		if want&(1<<i) == 0 {
			continue
		}
		if v[i] = e.v[i]; v[i] == nil {
			v[i] = empty
		}
	}
	if e.bits&envDate != 0 && want&1 != 0 {
		if err := r.s.loadDates(); err != nil {
			return err
		}
		r.date = append(appendDate(r.date[:0], e.code, r.s.cols.date[row]), e.v[0]...)
		v[0] = r.date
	}
	return nil
}

var empty = []byte{}

// inReplyTo appends the text of an In-Reply-To that is the row's last reference.
func (r *envReader) inReplyTo(dst []byte, row int) ([]byte, error) {
	if v, ok := r.x.orphan[int32(row)]; ok {
		return append(dst, v...), nil
	}
	if err := r.owners(); err != nil {
		return dst, err
	}
	c := &r.s.cols
	if c.refOff[row] == c.refOff[row+1] {
		return dst, corrupt("env")
	}
	p := r.x.owner[c.ref[c.refOff[row+1]-1]]
	if p < 0 {
		return dst, corrupt("env.irt")
	}
	first := r.x.block(int(p)).first
	raw, ok := r.ids.of(first, int(p))
	if !ok {
		v, err := r.row(int(p))
		if err != nil {
			return dst, err
		}
		raw = v.v[envFields-1]
	}
	id, _, ok := rfc5322.FirstID(raw, nil)
	if !ok {
		return dst, corrupt("env")
	}
	return append(append(append(dst, '<'), id...), '>'), nil
}

// pruneEnvelopes copies the envelopes of rows keep. Whole blocks of kept rows
// are taken as they are.
func (s *store) pruneEnvelopes(keep []int32) (*envWriter, error) {
	r, err := s.envReader()
	if err == nil {
		err = r.owners()
	}
	if err != nil {
		return nil, err
	}
	kept := make([]bool, s.rows)
	for _, k := range keep {
		kept[k] = true
	}
	w := &envWriter{}
	next := 0 // row in the new file
	var buf []byte
	var chunk envChunk
	flush := func() {
		if chunk.rows > 0 {
			w.block(chunk.pack())
			chunk.reset()
		}
	}
	for i := range r.x.blocks {
		b := &r.x.blocks[i]
		whole := b.rows >= envRows/2 && !slices.Contains(kept[b.first:b.first+b.rows], false)
		if whole {
			flush()
			w.block(envBlock{rows: b.rows, raw: b.raw, data: b.data})
		}
		buf, err = b.decode(buf, func(row int, e *envRow) error {
			if !kept[row] {
				return nil
			}
			if e.bits&envParent != 0 {
				p := int32(-1)
				if _, ok := r.x.orphan[int32(row)]; !ok {
					c := &s.cols
					p = r.x.owner[c.ref[c.refOff[row+1]-1]]
				}
				// The first owner may be gone and a later one be after this row.
				if p < 0 || !kept[p] {
					v, err := r.inReplyTo(nil, row)
					if err != nil {
						return err
					}
					w.orphan(next, v)
				}
			}
			next++
			if whole {
				return nil
			}
			chunk.copy(e)
			if chunk.rows == envRows {
				flush()
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	flush()
	if next != len(keep) {
		return nil, fmt.Errorf("column: %d envelopes for %d rows", next, len(keep))
	}
	return w, nil
}

// copy adds a decoded row.
func (e *envChunk) copy(r *envRow) {
	e.rows++
	e.bits = appendUint(e.bits, r.bits)
	if r.bits&envDate != 0 {
		e.dates = appendUint(e.dates, r.code)
	}
	for i := range r.v {
		if r.bits&(1<<i) == 0 || i == envInReplyTo && r.bits&envParent != 0 {
			continue
		}
		e.lens[i] = appendUint(e.lens[i], uint64(len(r.v[i])))
		e.text[i] = append(e.text[i], r.v[i]...)
	}
}

var envDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic("column: zstd decoder options: " + err.Error()) // constants: cannot happen
	}
	return d
})
