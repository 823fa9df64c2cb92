package index

import "encoding/binary"

var le = binary.LittleEndian

func appendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// A cursor reads what the append functions wrote. After an overrun bad is set
// and every result is zero.
type cursor struct {
	b   []byte
	off int
	bad bool
}

func (c *cursor) byte() byte {
	if c.off >= len(c.b) {
		c.bad = true
		return 0
	}
	c.off++
	return c.b[c.off-1]
}

func (c *cursor) uvarint() uint64 {
	if c.off < len(c.b) && c.b[c.off] < 0x80 {
		c.off++
		return uint64(c.b[c.off-1])
	}
	v, n := binary.Uvarint(c.b[min(c.off, len(c.b)):])
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.off += n
	return v
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

func (c *cursor) bytes() []byte {
	n := c.uvarint()
	if n > uint64(len(c.b)-c.off) {
		c.bad = true
		return nil
	}
	return c.take(int(n))
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.off {
		c.bad = true
		return nil
	}
	c.off += n
	return c.b[c.off-n : c.off : c.off]
}

func zigzag(v int64) uint64   { return uint64(v<<1) ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
