package blockfile

import (
	"github.com/cespare/xxhash/v2"
)

// Name is the section's name.
func (s *Section) Name() string { return s.name }

// Encoding is how the section is stored.
func (s *Section) Encoding() Encoding { return s.enc }

// Rows is what the writer said.
func (s *Section) Rows() int { return int(s.rows) }

// Len is the number of raw bytes.
func (s *Section) Len() int64 { return s.raw }

// Stored is the number of bytes on disk, the block table included.
func (s *Section) Stored() int64 { return s.stored + s.tableLen() }

// Blocks is the number of blocks.
func (s *Section) Blocks() int { return s.blocks }

func (s *Section) table() ([]byte, error) {
	t, err := s.r.bytes(s.tableOff(), s.tableOff()+s.tableLen())
	if err != nil {
		return nil, err
	}
	if xxhash.Sum64(t) != s.tableSum {
		return nil, s.r.corrupt(s.tableOff(), "block table of section "+s.name)
	}
	return t, nil
}

// Bytes returns all of a raw section, mapped or read once: valid until Reader.Close, not to
// be written to, 64-aligned. The first call reads and checks every byte.
func (s *Section) Bytes() ([]byte, error) {
	if s.enc != Raw {
		return nil, s.r.corrupt(s.off, "section "+s.name+" is not raw")
	}
	if b := s.ok.Load(); b != nil {
		return *b, nil
	}
	b, err := s.checkRaw(0, s.blocks)
	if err != nil {
		return nil, err
	}
	s.ok.Store(&b)
	return b, nil
}

// Range returns n bytes at off of a raw section, mapped, after checking the
// blocks that they lie in.
func (s *Section) Range(off int64, n int) ([]byte, error) {
	if s.enc != Raw || off < 0 || n < 0 || off > s.raw-int64(n) {
		return nil, s.r.corrupt(s.off, "range outside section "+s.name)
	}
	if n == 0 {
		return nil, nil
	}
	from := int(off / RawBlock)
	var b []byte
	if all := s.ok.Load(); all != nil {
		b, from = *all, 0
	} else {
		var err error
		if b, err = s.checkRaw(from, int((off+int64(n)-1)/RawBlock)+1); err != nil {
			return nil, err
		}
	}
	off -= int64(from) * RawBlock
	return b[off : off+int64(n) : off+int64(n)], nil
}

// checkRaw returns blocks from..to of a raw section, checked.
func (s *Section) checkRaw(from, to int) ([]byte, error) {
	t, err := s.table()
	if err != nil {
		return nil, err
	}
	start, end := s.off+int64(from)*RawBlock, min(s.off+int64(to)*RawBlock, s.off+s.stored)
	if end <= start {
		return nil, nil
	}
	all, err := s.r.bytes(start, end)
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		a := int64(i-from) * RawBlock
		if xxhash.Sum64(all[a:min(a+RawBlock, int64(len(all)))]) != le.Uint64(t[i*8:]) {
			return nil, s.r.corrupt(start+a, "block of section "+s.name)
		}
	}
	return all, nil
}

// A BlockReader reads the blocks of a zstd section. Its block table was
// checked once; it may be used from several goroutines.
type BlockReader struct {
	s   *Section
	t   []byte
	off []int64 // stored offset of block i, relative to the section
	raw []int64 // raw offset of block i
}

// Reader checks the block table of a zstd section.
func (s *Section) Reader() (*BlockReader, error) {
	if s.enc != Zstd {
		return nil, s.r.corrupt(s.off, "section "+s.name+" is not zstd")
	}
	t, err := s.table()
	if err != nil {
		return nil, err
	}
	b := &BlockReader{s: s, t: t, off: make([]int64, s.blocks+1), raw: make([]int64, s.blocks+1)}
	for i := range s.blocks {
		b.off[i+1] = b.off[i] + int64(le.Uint32(t[i*16+8:]))
		b.raw[i+1] = b.raw[i] + int64(le.Uint32(t[i*16+12:]))
		if le.Uint32(t[i*16+12:]) > maxBlock {
			return nil, s.r.corrupt(s.tableOff(), "block length of section "+s.name)
		}
	}
	if b.off[s.blocks] != s.stored || b.raw[s.blocks] != s.raw {
		return nil, s.r.corrupt(s.tableOff(), "block lengths of section "+s.name)
	}
	return b, nil
}

// Blocks is the number of blocks.
func (b *BlockReader) Blocks() int { return b.s.blocks }

// Offset is the raw offset of block i; Offset(Blocks()) is the raw length.
func (b *BlockReader) Offset(i int) int64 { return b.raw[i] }

// Block appends the raw bytes of block i to dst.
func (b *BlockReader) Block(i int, dst []byte) ([]byte, error) {
	s := b.s
	a := s.off + b.off[i]
	stored, err := s.r.bytes(a, s.off+b.off[i+1])
	if err != nil {
		return nil, err
	}
	if xxhash.Sum64(stored) != le.Uint64(b.t[i*16:]) {
		return nil, s.r.corrupt(a, "block of section "+s.name)
	}
	n := len(dst)
	out, err := decoder().DecodeAll(stored, dst)
	if err != nil || int64(len(out)-n) != b.raw[i+1]-b.raw[i] {
		return nil, s.r.corrupt(a, "compressed block of section "+s.name)
	}
	return out, nil
}

// ReadAll appends the raw bytes of the section to dst, whatever its encoding.
func (s *Section) ReadAll(dst []byte) ([]byte, error) {
	if s.enc == Raw {
		b, err := s.Bytes()
		return append(dst, b...), err
	}
	b, err := s.Reader()
	if err != nil {
		return nil, err
	}
	for i := range s.blocks {
		if dst, err = b.Block(i, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// Verify checks every block, decompressing what is compressed.
func (s *Section) Verify() error { return s.verify() }

func (s *Section) verify() error {
	if s.enc == Raw {
		_, err := s.checkRaw(0, s.blocks)
		return err
	}
	b, err := s.Reader()
	if err != nil {
		return err
	}
	var buf []byte
	for i := range s.blocks {
		if buf, err = b.Block(i, buf[:0]); err != nil {
			return err
		}
	}
	return nil
}
