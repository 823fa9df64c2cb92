package index

import (
	"errors"
	"math"
	"runtime"
	"strconv"
	"sync"

	"mailbench/index/blockfile"
)

const (
	baseKind    = "index"
	baseVersion = 2
	numberBlock = 64 << 10 // rows of a number column that are coded together
)

// writeBase writes t as base file name.
func writeBase(fsy FS, name string, id, generation uint64, sum *summary, t *Table) error {
	meta := le.AppendUint64(nil, id)
	meta = sum.append(meta)
	h := blockfile.Header{Kind: baseKind, Version: baseVersion, UIDValidity: t.UIDValidity, Generation: generation, Meta: meta}
	return blockfile.Create(fsy, name, h, func(w *blockfile.Writer) error {
		n := t.Len()
		numbers := func(name string, block func(dst []byte, from, to int) []byte) error {
			return w.Zstd(name, n, (n+numberBlock-1)/numberBlock, func(i int, dst []byte) []byte {
				return block(dst, i*numberBlock, min((i+1)*numberBlock, n))
			})
		}
		pool := sync.Pool{New: func() any { return new(keyEncoder) }}
		err := w.Zstd("key", n, (n+keyBlock-1)/keyBlock, func(i int, dst []byte) []byte {
			e := pool.Get().(*keyEncoder)
			defer pool.Put(e)
			return e.encode(dst, min(keyBlock, n-i*keyBlock), func(k int) []byte { return t.Key(i*keyBlock + k) })
		})
		if err != nil {
			return err
		}
		var lens []byte
		for i := 0; i < n; i += keyBlock {
			lens = appendUvarint(lens, uint64(t.off[min(i+keyBlock, n)]-t.off[i]))
		}
		if err = w.Raw("keylen", n, lens); err != nil {
			return err
		}
		err = numbers("uid", func(dst []byte, from, to int) []byte {
			prev := uint32(0)
			for _, u := range t.uid[from:to] {
				dst = appendUvarint(dst, uint64(u-prev))
				prev = u
			}
			return dst
		})
		if err != nil {
			return err
		}
		err = numbers("flags", func(dst []byte, from, to int) []byte {
			for i := from; i < to; i++ {
				dst = append(dst, byte(t.flags[i])|t.dir[i]<<6)
			}
			return dst
		})
		if err != nil {
			return err
		}
		if t.keywords != nil {
			err = numbers("keywords", func(dst []byte, from, to int) []byte {
				for _, k := range t.keywords[from:to] {
					dst = appendUvarint(dst, uint64(k))
				}
				return dst
			})
			if err != nil {
				return err
			}
		}
		err = numbers("modseq", func(dst []byte, from, to int) []byte {
			prev := uint64(0)
			for _, m := range t.modseq[from:to] {
				dst = appendUvarint(dst, zigzag(int64(m-prev)))
				prev = m
			}
			return dst
		})
		if err == nil && (len(t.lost) > 0 || t.lostFrom > 0) {
			err = w.ZstdBytes("lost", len(t.lost), t.appendLost(nil), numberBlock)
		}
		if err != nil || len(t.vanished) == 0 {
			return err
		}
		var v []byte
		var prev Vanished
		for _, x := range t.vanished {
			v = appendUvarint(v, zigzag(int64(x.UID)-int64(prev.UID)))
			v = appendUvarint(v, x.ModSeq-prev.ModSeq)
			prev = x
		}
		return w.ZstdBytes("vanished", len(t.vanished), v, numberBlock)
	})
}

// decodeBaseMeta reads the header page's meta.
func decodeBaseMeta(name string, h *blockfile.Header) (id uint64, sum summary, err error) {
	if h.Kind != baseKind || h.Version != baseVersion || len(h.Meta) != 8+summaryLen {
		return 0, sum, &CorruptError{File: name, What: "not an index of this version"}
	}
	c := cursor{b: h.Meta}
	id = c.uint64()
	sum.decode(&c)
	return id, sum, nil
}

// openSnapshot opens the base file with that identity and generation.
func openSnapshot(fsy FS, name string, id, generation uint64) (*blockfile.Reader, summary, error) {
	r, err := blockfile.Open(fsy, name)
	if err != nil {
		return nil, summary{}, err
	}
	h := r.Header()
	hid, sum, err := decodeBaseMeta(name, &h)
	if err == nil && (hid != id || h.Generation != generation) {
		err = ErrStale
	}
	if err != nil {
		r.Close()
		return nil, sum, err
	}
	return r, sum, nil
}

// loadBase reads all of a base file but the keys. O(n).
func loadBase(fsy FS, name string, id, generation uint64) (*Table, error) {
	r, sum, err := openSnapshot(fsy, name, id, generation)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	n := int(sum.messages)
	bad := func(what string) error { return &CorruptError{File: name, What: what} }
	t := &Table{UIDValidity: sum.uidValidity, UIDNext: sum.uidNext, HighestModSeq: sum.highestModSeq,
		flags: make([]Flags, 0, n), dir: make([]uint8, 0, n), modseq: make([]uint64, 0, n)}
	each := func(name string, need bool, block func(c *cursor)) error { return eachBlock(r, name, need, block) }
	err = t.loadUIDs(r, &sum, id)
	if err == nil {
		err = each("flags", true, func(c *cursor) {
			x := c.byte()
			t.flags = append(t.flags, Flags(x&63))
			t.dir = append(t.dir, x>>6)
		})
	}
	if err == nil {
		err = each("keywords", false, func(c *cursor) { t.keywords = append(t.keywords, uint32(c.uvarint())) })
	}
	var m uint64
	if err == nil {
		err = each("modseq", true, func(c *cursor) {
			if c.off == 0 {
				m = 0
			}
			m += uint64(unzigzag(c.uvarint()))
			t.modseq = append(t.modseq, m)
		})
	}
	var v Vanished
	if err == nil {
		var b []byte
		if s := r.Section("vanished"); s != nil {
			b, err = s.ReadAll(nil)
		}
		for c := (cursor{b: b}); c.off < len(c.b) && err == nil; {
			v.UID += uint32(unzigzag(c.uvarint()))
			v.ModSeq += c.uvarint()
			t.vanished = append(t.vanished, v)
			if c.bad {
				err = bad("section vanished ends too early")
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(t.flags) != n || len(t.modseq) != n || t.keywords != nil && len(t.keywords) != n {
		return nil, bad("columns of different lengths")
	}
	return t, nil
}

// eachBlock decodes one number column of a snapshot, block by block.
func eachBlock(r *blockfile.Reader, name string, need bool, block func(c *cursor)) error {
	s := r.Section(name)
	if s == nil {
		if need {
			return &CorruptError{File: r.Name(), What: "section " + name + " is missing"}
		}
		return nil
	}
	b, err := s.Reader()
	if err != nil {
		return err
	}
	var buf []byte
	for i := range b.Blocks() {
		if buf, err = b.Block(i, buf[:0]); err != nil {
			return err
		}
		c := cursor{b: buf}
		for c.off < len(c.b) && !c.bad {
			block(&c)
		}
		if c.bad {
			return &CorruptError{File: r.Name(), What: "section " + name + " ends too early"}
		}
	}
	return nil
}

// loadUIDs reads the UIDs and the lineage.
func (t *Table) loadUIDs(r *blockfile.Reader, sum *summary, id uint64) error {
	n := int(sum.messages)
	t.uid = make([]uint32, 0, n)
	var prev uint32
	err := eachBlock(r, "uid", true, func(c *cursor) {
		if c.off == 0 {
			prev = 0
		}
		prev += uint32(c.uvarint())
		t.uid = append(t.uid, prev)
	})
	if err == nil && len(t.uid) != n {
		err = &CorruptError{File: r.Name(), What: "other number of UIDs than of messages"}
	}
	t.lineage = lineage{seed: seedOf(id), kept: true, set: sum.set, added: sum.added}
	if s := r.Section("lost"); s != nil && err == nil {
		var b []byte
		if b, err = s.ReadAll(nil); err == nil && !t.decodeLost(b) {
			err = &CorruptError{File: r.Name(), What: "section lost ends too early"}
		}
	}
	return err
}

// loadKeys adds the names to what loadBase has read. O(n), on all processors.
func loadKeys(fsy FS, name string, id, generation uint64, t *Table) error {
	r, _, err := openSnapshot(fsy, name, id, generation)
	if err != nil {
		return err
	}
	defer r.Close()
	n := t.Len()
	s := r.Section("key")
	if s == nil {
		return &CorruptError{File: r.Name(), What: "section key is missing"}
	}
	b, err := s.Reader()
	if err != nil {
		return err
	}
	bytes, err := keyBytes(r, b.Blocks())
	if err != nil {
		return err
	}
	t.keys, t.off = make([]byte, bytes[len(bytes)-1]), make([]uint32, n+1)
	bad := make([]error, b.Blocks())
	workers := min(runtime.GOMAXPROCS(0), len(bad))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var d keyDecoder
			var buf []byte
			for i := w; i < len(bad); i += workers {
				var err error
				if buf, err = b.Block(i, buf[:0]); err == nil {
					err = d.place(t, buf, i*keyBlock, bytes[i], bytes[i+1])
				}
				bad[i] = err
			}
		})
	}
	wg.Wait()
	for i, err := range bad {
		if errors.Is(err, errKeys) {
			return &CorruptError{File: r.Name(), What: "block " + strconv.Itoa(i) + " of the names"}
		}
		if err != nil {
			return err
		}
	}
	if n > 0 && t.off[n] != bytes[len(bytes)-1] {
		return &CorruptError{File: r.Name(), What: "other number of names than of messages"}
	}
	return nil
}

// keyBytes reads section "keylen": where the names of each block begin, and
// where all of them end.
func keyBytes(r *blockfile.Reader, blocks int) ([]uint32, error) {
	bad := &CorruptError{File: r.Name(), What: "lengths of the names"}
	s := r.Section("keylen")
	if s == nil {
		return nil, bad
	}
	raw, err := s.Bytes()
	if err != nil {
		return nil, err
	}
	c := cursor{b: raw}
	at := make([]uint32, 1, blocks+1)
	for range blocks {
		v := uint64(at[len(at)-1]) + c.uvarint()
		if c.bad || v > math.MaxUint32 {
			return nil, bad
		}
		at = append(at, uint32(v))
	}
	if c.off != len(raw) {
		return nil, bad
	}
	return at, nil
}
