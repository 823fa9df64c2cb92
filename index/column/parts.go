package column

import (
	"fmt"

	"mailbench/index/blockfile"
)

// Parts are the named streams of a segment. A large segment has one section
// for each. A small one, as mail that trickles in makes them, would be mostly
// directory: its parts are packed into one raw section "pack",
//
//	for each part: code u8 (place in partNames), rows varint, length varint, bytes
const packName = "pack"

// packBelow is the size of a segment, in bytes of its parts, that gets packed.
const packBelow = 32 << 10

// partNames is part of the format: append only.
var partNames = [...]string{
	"uid", "ctl", "id", "ref", "date", "subject", "subject.str", "subject.place", "hash",
	"from", "from.str", "from.place", "to", "to.str", "to.place", "cc", "cc.str", "cc.place",
	"dispfrom", "dispfrom.str", "dispfrom.place", "dispto", "dispto.str", "dispto.place",
	"arrival", "size", "env", "env.idx", "env.irt", "state", "body",
}

// blockSize of zstd parts: the window, too.
const blockSize = 512 << 10

// halveFrom is the size from which a part that is less than two blocks is cut
// in two.
const halveFrom = 128 << 10

// plain parts gain nothing from zstd (hashes are random, dates nearly) or are
// compressed already; they are stored as they are and mapped.
func plain(name string) bool {
	switch name {
	case "uid", "id", "hash", "env", "date", "body":
		return true
	}
	return false
}

// A part is one stream of a segment that was written or is to be written.
type part struct {
	name string
	rows int
	b    []byte             // to be written, or read from a pack
	sec  *blockfile.Section // or where it can be read

	packed *blockfile.Packed // b, compressed ahead
}

// bytes returns the stream, checked. It is mapped or fresh memory.
func (p part) bytes() ([]byte, error) {
	if p.sec == nil {
		return p.b, nil
	}
	if p.sec.Encoding() == blockfile.Raw {
		return p.sec.Bytes()
	}
	return p.sec.ReadAll(make([]byte, 0, p.sec.Len()))
}

// raw is the length of what bytes returns.
func (p part) raw() int {
	if p.sec == nil {
		return len(p.b)
	}
	return int(p.sec.Len())
}

// writeParts writes the parts of one segment.
func writeParts(w *blockfile.Writer, parts []part) error {
	total := 0
	for _, p := range parts {
		total += len(p.b)
	}
	if total < packBelow {
		return w.Raw(packName, 0, pack(parts))
	}
	for _, p := range parts {
		var err error
		switch n := zstdBlock(&p); {
		case n == 0:
			err = w.Raw(p.name, p.rows, p.b)
		case p.packed != nil:
			err = w.Packed(p.name, p.rows, p.packed)
		default:
			err = w.ZstdBytes(p.name, p.rows, p.b, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// zstdBlock is the size of the blocks in which p is compressed, 0: it is not.
func zstdBlock(p *part) int {
	switch {
	case plain(p.name) || len(p.b) < 128:
		return 0
	case len(p.b) >= halveFrom && len(p.b) < 2*blockSize:
		return (len(p.b) + 1) / 2 // for two processors
	}
	return blockSize
}

func pack(parts []part) []byte {
	var b []byte
	for _, p := range parts {
		code := -1
		for i, n := range partNames {
			if n == p.name {
				code = i
			}
		}
		if code < 0 {
			panic("column: part " + p.name + " has no code") // a programming error
		}
		b = append(b, byte(code))
		b = appendUint(b, uint64(p.rows))
		b = appendUint(b, uint64(len(p.b)))
		b = append(b, p.b...)
	}
	return b
}

// segParts lists the parts of a segment.
func segParts(seg *blockfile.Segment, dst []part) ([]part, error) {
	for _, sec := range seg.Sections() {
		if sec.Name() != packName {
			dst = append(dst, part{name: sec.Name(), rows: sec.Rows(), sec: sec})
			continue
		}
		b, err := sec.Bytes()
		if err != nil {
			return nil, err
		}
		c := cursor{b: b}
		for c.left() > 0 {
			code := c.uint()
			rows := c.uint()
			body := c.bytes(c.uint())
			if c.bad || code >= uint64(len(partNames)) || rows > 1<<31 {
				return nil, fmt.Errorf("%w: column: pack of a segment", blockfile.ErrCorrupt)
			}
			dst = append(dst, part{name: partNames[code], rows: int(rows), b: body})
		}
	}
	return dst, nil
}
