package index

import (
	"errors"
	"strconv"

	"github.com/klauspost/compress/huff0"
)

var errKeys = errors.New("index: block of names does not decode")

// A keyDecoder is the inverse of a keyEncoder.
type keyDecoder struct {
	tmpls   []template
	ids     []byte
	plane   []byte
	next    []int // per template: rows used
	off     []uint32
	scratch *huff0.Scratch
}

// place decodes block b into the keys of t from row first on, which have the
// bytes from from to to.
func (d *keyDecoder) place(t *Table, b []byte, first int, from, to uint32) error {
	n := min(keyBlock, len(t.off)-1-first)
	arena, off, err := d.decode(b, t.keys[from:from:to], d.off[:0])
	d.off = off
	if err != nil || len(off) != n || len(arena) != int(to-from) {
		return errKeys
	}
	if len(arena) > 0 && &arena[0] != &t.keys[from] { // longer than it said, for a while
		return errKeys
	}
	for i, end := range off {
		t.off[first+i+1] = from + end
	}
	return nil
}

// decode appends the keys of block b to arena, and to off the end of each.
func (d *keyDecoder) decode(b, arena []byte, off []uint32) ([]byte, []uint32, error) {
	c := cursor{b: b}
	n := c.uvarint()
	mode := c.byte()
	if c.bad || n > keyBlock {
		return nil, nil, errKeys
	}
	if mode == keysPlain {
		start := len(arena)
		for range n {
			p := int(c.uvarint())
			rest := c.bytes()
			if c.bad || p < 0 || p > len(arena)-start {
				return nil, nil, errKeys
			}
			at := len(arena)
			arena = append(arena, arena[start:start+p]...)
			arena = append(arena, rest...)
			off = append(off, uint32(len(arena)))
			start = at
		}
		return arena, off, nil
	}
	if err := d.columns(&c, int(n)); err != nil {
		return nil, nil, err
	}
	for _, id := range d.ids {
		t := &d.tmpls[id]
		row := d.next[id]
		d.next[id]++
		col := 0
		for i := 0; i < len(t.text); i++ {
			ch := t.text[i]
			if ch != markNumber {
				arena = append(arena, ch)
				continue
			}
			i++
			v := t.cols[col][row]
			col++
			if width := int(t.text[i]); width == 0 {
				arena = strconv.AppendUint(arena, v, 10)
			} else {
				for s := 4 * (width - 1); s >= 0; s -= 4 {
					arena = append(arena, "0123456789ABCDEF"[v>>s&15])
				}
			}
		}
		off = append(off, uint32(len(arena)))
	}
	return arena, off, nil
}

// columns reads templates, the template of each row, and the values.
func (d *keyDecoder) columns(c *cursor, n int) error {
	nt := int(c.uvarint())
	if c.bad || nt < 0 || nt > maxTemplates || nt == 0 {
		return errKeys
	}
	for len(d.tmpls) < nt {
		d.tmpls = append(d.tmpls, template{})
	}
	d.tmpls = d.tmpls[:nt]
	for i := range d.tmpls {
		t := &d.tmpls[i]
		t.text = c.bytes()
		t.n = 0
		for j := 0; j < len(t.text); j++ {
			if t.text[j] == markNumber {
				j++
				if j == len(t.text) || t.text[j] > 16 {
					return errKeys
				}
				t.n++
			}
		}
	}
	var err error
	if d.ids, err = d.getPlane(c, d.ids, n); err != nil {
		return err
	}
	d.next = append(d.next[:0], make([]int, nt)...)
	for _, id := range d.ids {
		if int(id) >= nt {
			return errKeys
		}
		d.next[id]++
	}
	for i := range d.tmpls {
		t := &d.tmpls[i]
		for len(t.cols) < t.n {
			t.cols = append(t.cols, nil)
		}
		for col := range t.n {
			if err := d.column(c, t, col, d.next[i]); err != nil {
				return err
			}
		}
		d.next[i] = 0
	}
	return nil
}

func (d *keyDecoder) column(c *cursor, t *template, col, rows int) error {
	how, planes := c.byte(), int(c.byte())
	first := c.uvarint()
	if c.bad || how > colLeft || planes > 8 || how == colLeft && col == 0 || rows == 0 {
		return errKeys
	}
	if cap(t.cols[col]) < rows {
		t.cols[col] = make([]uint64, rows)
	}
	v := t.cols[col][:rows]
	t.cols[col] = v
	clear(v)
	for p := range planes {
		var err error
		if d.plane, err = d.getPlane(c, d.plane, rows); err != nil {
			return err
		}
		for i, x := range d.plane {
			v[i] |= uint64(x) << (8 * p)
		}
	}
	switch how {
	case colPlain:
		for i := range v {
			v[i] += first
		}
	case colDelta:
		for i, x := range v {
			first += uint64(unzigzag(x))
			v[i] = first
		}
	case colLeft:
		for i, x := range v {
			v[i] = t.cols[col-1][i] + uint64(unzigzag(x))
		}
	}
	return nil
}

// getPlane reads n bytes into dst[:0].
func (d *keyDecoder) getPlane(c *cursor, dst []byte, n int) ([]byte, error) {
	if cap(dst) < n {
		dst = make([]byte, n)
	}
	dst = dst[:n]
	switch c.byte() {
	case planeRLE:
		x := c.byte()
		for i := range dst {
			dst[i] = x
		}
	case planeRaw:
		copy(dst, c.take(n))
	case planeHuf:
		b := c.bytes()
		if c.bad {
			return nil, errKeys
		}
		s, rest, err := huff0.ReadTable(b, d.scratch)
		if err != nil {
			return nil, errKeys
		}
		d.scratch = s
		out, err := s.Decoder().Decompress1X(dst[:0], rest)
		if err != nil || len(out) != n {
			return nil, errKeys
		}
		dst = out
	default:
		return nil, errKeys
	}
	if c.bad {
		return nil, errKeys
	}
	return dst, nil
}
