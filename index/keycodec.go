package index

import (
	"bytes"
	"errors"
	"math/bits"

	"github.com/klauspost/compress/huff0"
)

// keyBlock is how many keys are coded together.
const keyBlock = 16 << 10

const (
	keysPlain     = 0 // each key: length shared with the one before, rest
	keysTemplated = 1

	maxTemplates = 200
	maxNumbers   = 24

	markNumber = 0x01 // in a template, followed by the width: 0 decimal, else upper-case hex padded to that many digits
)

// How the values of a column became small numbers.
const (
	colPlain = 0 // less the smallest
	colDelta = 1 // less the value of the row before, zigzag
	colLeft  = 2 // less the value of the column before in the same row, zigzag
)

const (
	planeRaw = 0
	planeRLE = 1
	planeHuf = 2
)

// A keyEncoder codes blocks of names. Names of mail files are a pattern with
// numbers in it (seconds, microseconds, process, S=, W=): each number becomes
// a column of its own, coded against its neighbour above or on the left, cut
// into byte planes, each with its own Huffman code. 45 bytes become about 8.
type keyEncoder struct {
	tmpl    []byte
	last    []byte // template of the key before
	lastID  int
	nums    []uint64
	ids     []byte
	byTmpl  map[string]int
	tmpls   []template
	vals    []uint64
	plane   []byte
	scratch huff0.Scratch
}

type template struct {
	text []byte
	n    int        // numbers in it
	cols [][]uint64 // their values
}

// encode appends the n keys that key(i) returns to dst.
func (e *keyEncoder) encode(dst []byte, n int, key func(i int) []byte) []byte {
	dst = appendUvarint(dst, uint64(n))
	if n == 0 || !e.split(n, key) {
		dst = append(dst, keysPlain)
		var prev []byte
		for i := range n {
			k := key(i)
			p := 0
			for p < len(k) && p < len(prev) && k[p] == prev[p] {
				p++
			}
			dst = appendUvarint(dst, uint64(p))
			dst = appendUvarint(dst, uint64(len(k)-p))
			dst = append(dst, k[p:]...)
			prev = k
		}
		return dst
	}
	dst = append(dst, keysTemplated)
	dst = appendUvarint(dst, uint64(len(e.tmpls)))
	for i := range e.tmpls {
		dst = appendUvarint(dst, uint64(len(e.tmpls[i].text)))
		dst = append(dst, e.tmpls[i].text...)
	}
	dst = e.putPlane(dst, e.ids)
	for i := range e.tmpls {
		t := &e.tmpls[i]
		for c := range t.n {
			dst = e.column(dst, t, c)
		}
	}
	return dst
}

// split fills ids and tmpls; false: these keys have no pattern.
func (e *keyEncoder) split(n int, key func(i int) []byte) bool {
	if e.byTmpl == nil {
		e.byTmpl = make(map[string]int)
	}
	clear(e.byTmpl)
	e.tmpls, e.ids, e.last, e.lastID = e.tmpls[:0], e.ids[:0], e.last[:0], -1
	for i := range n {
		if !e.tokenize(key(i)) {
			return false
		}
		id := e.lastID
		if id < 0 || !bytes.Equal(e.tmpl, e.last) {
			var ok bool
			if id, ok = e.byTmpl[string(e.tmpl)]; !ok {
				if len(e.tmpls) == maxTemplates {
					return false
				}
				id = len(e.tmpls)
				e.byTmpl[string(e.tmpl)] = id
				e.addTemplate()
			}
			e.last = append(e.last[:0], e.tmpl...)
			e.lastID = id
		}
		e.ids = append(e.ids, byte(id))
		t := &e.tmpls[id]
		for c, v := range e.nums {
			t.cols[c] = append(t.cols[c], v)
		}
	}
	return true
}

func (e *keyEncoder) addTemplate() {
	if len(e.tmpls) < cap(e.tmpls) {
		e.tmpls = e.tmpls[:len(e.tmpls)+1] // with the buffers of an earlier block
	} else {
		e.tmpls = append(e.tmpls, template{})
	}
	t := &e.tmpls[len(e.tmpls)-1]
	t.text = append(t.text[:0], e.tmpl...)
	t.n = len(e.nums)
	for len(t.cols) < t.n {
		t.cols = append(t.cols, nil)
	}
	for c := range t.n {
		t.cols[c] = t.cols[c][:0]
	}
}

// tokenize splits a key into e.tmpl and e.nums.
func (e *keyEncoder) tokenize(k []byte) bool {
	e.tmpl, e.nums = e.tmpl[:0], e.nums[:0]
	for i := 0; i < len(k); {
		c := k[i]
		if c-'0' > 9 {
			if c == markNumber {
				return false
			}
			e.tmpl = append(e.tmpl, c)
			i++
			continue
		}
		if len(e.nums) == maxNumbers {
			return false
		}
		j := i + 1
		var v uint64
		width := 0
		if c == '0' && j < len(k) && hexDigit(k[j]) < 16 {
			// Padded with zeros: upper-case hex of fixed width (device and
			// inode in Courier's names).
			for j < len(k) && j-i < 16 && hexDigit(k[j]) < 16 {
				v = v<<4 | uint64(hexDigit(k[j]))
				j++
			}
			width = j - i
		} else {
			v = uint64(c - '0')
			for j < len(k) && j-i < 18 && k[j]-'0' <= 9 {
				v = v*10 + uint64(k[j]-'0')
				j++
			}
		}
		e.tmpl = append(e.tmpl, markNumber, byte(width))
		e.nums = append(e.nums, v)
		i = j
	}
	return true
}

func hexDigit(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c-'A' <= 5:
		return c - 'A' + 10
	}
	return 255
}

// column codes column c of t in the way that takes the fewest bits.
func (e *keyEncoder) column(dst []byte, t *template, c int) []byte {
	v := t.cols[c]
	low := v[0]
	for _, x := range v {
		low = min(low, x)
	}
	var cost [3]int
	prev := v[0]
	for i, x := range v {
		cost[colPlain] += bits.Len64(x - low)
		cost[colDelta] += bits.Len64(zigzag(int64(x - prev)))
		prev = x
		if c > 0 {
			cost[colLeft] += bits.Len64(zigzag(int64(x - t.cols[c-1][i])))
		}
	}
	how := colPlain
	if cost[colDelta] < cost[how] {
		how = colDelta
	}
	if c > 0 && cost[colLeft] < cost[how] {
		how = colLeft
	}
	e.vals = append(e.vals[:0], v...)
	var first, all uint64
	switch how {
	case colPlain:
		first = low
		for i := range e.vals {
			e.vals[i] -= low
		}
	case colDelta:
		first = v[0]
		for i := len(v) - 1; i > 0; i-- {
			e.vals[i] = zigzag(int64(v[i] - v[i-1]))
		}
		e.vals[0] = 0
	case colLeft:
		for i, l := range t.cols[c-1] {
			e.vals[i] = zigzag(int64(v[i] - l))
		}
	}
	for _, x := range e.vals {
		all |= x
	}
	planes := (bits.Len64(all) + 7) / 8
	dst = append(dst, byte(how), byte(planes))
	dst = appendUvarint(dst, first)
	for p := range planes {
		e.plane = e.plane[:0]
		for _, x := range e.vals {
			e.plane = append(e.plane, byte(x>>(8*p)))
		}
		dst = e.putPlane(dst, e.plane)
	}
	return dst
}

func (e *keyEncoder) putPlane(dst, plane []byte) []byte {
	e.scratch.Reuse = huff0.ReusePolicyNone // each plane carries its own table
	out, _, err := huff0.Compress1X(plane, &e.scratch)
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(dst, planeRLE, plane[0])
	case err != nil || len(out) >= len(plane):
		dst = append(dst, planeRaw)
		return append(dst, plane...)
	}
	dst = append(dst, planeHuf)
	dst = appendUvarint(dst, uint64(len(out)))
	return append(dst, out...)
}
