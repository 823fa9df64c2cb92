package column

import "encoding/binary"

// Integers in a column are varints of encoding/binary; signed ones are
// zigzagged first, so that small distances of either sign take one byte.

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func appendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func appendInt(b []byte, v int64) []byte   { return binary.AppendUvarint(b, zigzag(v)) }

// A cursor reads varints. It never panics: past the end or at an overlong
// number it becomes bad and yields zeros, and the caller asks once at the end.
type cursor struct {
	b   []byte
	off int
	bad bool
}

func (c *cursor) uint() uint64 {
	if c.off < len(c.b) {
		if v := c.b[c.off]; v < 0x80 { // three of four numbers are short
			c.off++
			return uint64(v)
		}
	}
	return c.long()
}

func (c *cursor) long() uint64 {
	v, n := binary.Uvarint(c.b[min(c.off, len(c.b)):])
	if n <= 0 {
		c.bad = true
		c.off = len(c.b)
		return 0
	}
	c.off += n
	return v
}

func (c *cursor) int() int64 { return unzigzag(c.uint()) }

// bytes takes the next n bytes.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.b)-c.off) {
		c.bad = true
		c.off = len(c.b)
		return nil
	}
	p := c.b[c.off : c.off+int(n)]
	c.off += int(n)
	return p
}

// done reports whether everything was read and nothing was bad.
func (c *cursor) done() bool { return !c.bad && c.off == len(c.b) }

// left is the number of bytes not read yet: at least one for each number that
// is still to come, which bounds what a damaged count can make us allocate.
func (c *cursor) left() int { return len(c.b) - c.off }
