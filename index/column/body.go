package column

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// BODYSTRUCTUREs are part "body" of a segment, missing where none of its rows
// has one: blocks of at most envRows rows, each
//
//	rows, stored length, raw length  varints
//	one zstd frame of: per row 0, or 1 + length (varint) and the bytes
//
// A block ends early at bodyBlock bytes; what is longer than bodyMost is not kept.
const (
	bodyBlock = 1 << 20
	bodyMost  = 4 << 20
)

// bodyWriter makes the part.
type bodyWriter struct {
	raw, data []byte
	rows, all int
	some      bool
}

// add takes the next row's, nil: it has none.
func (w *bodyWriter) add(body []byte) {
	if len(body) == 0 || len(body) > bodyMost {
		w.raw = appendUint(w.raw, 0)
	} else {
		w.raw = append(appendUint(w.raw, uint64(len(body))+1), body...)
		w.some = true
	}
	w.all++
	if w.rows++; w.rows == envRows || len(w.raw) >= bodyBlock {
		w.flush()
	}
}

func (w *bodyWriter) flush() {
	if w.rows == 0 {
		return
	}
	packed := envEncoder().EncodeAll(w.raw, nil)
	w.data = appendUint(w.data, uint64(w.rows))
	w.data = appendUint(w.data, uint64(len(packed)))
	w.data = appendUint(w.data, uint64(len(w.raw)))
	w.data = append(w.data, packed...)
	w.rows, w.raw = 0, w.raw[:0]
}

// part is what was added; ok false: nothing worth a part.
func (w *bodyWriter) part() (p part, ok bool) {
	if !w.some {
		return p, false
	}
	w.flush()
	return part{name: "body", rows: w.all, b: w.data}, true
}

// bodies gives the BODYSTRUCTUREs of a store.
type bodies struct {
	blocks []envSpan
	first  int // of the block that is decoded; -1: none
	buf    []byte
	rows   [][]byte
}

// loadBodies finds the blocks.
func (s *store) loadBodies() (*bodies, error) {
	x := &bodies{first: -1}
	start, end := 0, 0 // rows of the segment
	for _, p := range s.parts {
		switch p.name {
		case "uid":
			start, end = end, end+p.rows
		case "body":
			b, err := s.bytes(p)
			if err != nil {
				return nil, err
			}
			row := start
			for c := (cursor{b: b}); c.left() > 0; {
				sp := envSpan{first: row, rows: int(min(c.uint(), envRows+1))}
				n := c.uint()
				sp.raw = int(min(c.uint(), bodyBlock+bodyMost+envRows))
				sp.data = c.bytes(n)
				if row += sp.rows; c.bad || sp.rows < 1 || sp.rows > envRows || row > end {
					return nil, corrupt("body")
				}
				x.blocks = append(x.blocks, sp)
			}
			if row-start != p.rows {
				return nil, corrupt("body")
			}
		}
	}
	return x, nil
}

// of is the BODYSTRUCTURE of a row, nil if it is not known. Valid until the next call.
func (x *bodies) of(row int) ([]byte, error) {
	i, _ := slices.BinarySearchFunc(x.blocks, row, func(b envSpan, row int) int {
		if b.first+b.rows <= row {
			return -1
		}
		return 1
	})
	if i == len(x.blocks) || x.blocks[i].first > row {
		return nil, nil
	}
	b := &x.blocks[i]
	if x.first != b.first {
		x.first, x.rows = -1, x.rows[:0]
		raw, err := exactDecoder().DecodeAll(b.data, slices.Grow(x.buf[:0], b.raw)[:0:b.raw])
		if err != nil || len(raw) != b.raw {
			return nil, corrupt("body")
		}
		x.buf = raw
		c := cursor{b: raw}
		for range b.rows {
			var v []byte
			if n := c.uint(); n > 0 {
				v = c.bytes(n - 1)
			}
			x.rows = append(x.rows, v)
		}
		if !c.done() {
			return nil, corrupt("body")
		}
		x.first = b.first
	}
	return x.rows[row-b.first], nil
}

// pruneBodies is the part of the rows keep.
func (s *store) pruneBodies(keep []int32) (p part, ok bool, err error) {
	x, err := s.loadBodies()
	if err != nil || len(x.blocks) == 0 {
		return p, false, err
	}
	var w bodyWriter
	for _, row := range keep {
		b, err := x.of(int(row))
		if err != nil {
			return p, false, err
		}
		w.add(b)
	}
	p, ok = w.part()
	return p, ok, nil
}

// exactDecoder decodes into the room that it is given, and no further.
var exactDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic("column: zstd decoder options: " + err.Error()) // constants: cannot happen
	}
	return d
})
