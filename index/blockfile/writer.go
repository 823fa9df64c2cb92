package blockfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"mailbench/internal/fsys"
)

// Writer writes one segment: sections one after the other.
type Writer struct {
	file    fsys.File // nil: everything stays in buf (an appended segment)
	buf     []byte
	base    int64 // offset in the file of buf[0]
	start   int64 // offset of the segment
	seq     uint32
	gen     uint64
	entries []entry
	table   []byte
	err     error
}

const (
	flushAt = 1 << 20

	// tempAge is what no writer takes between two writes.
	tempAge = 10 * time.Minute
)

// Create writes file name anew, atomically: sections are what fn writes. The
// old file stays until the new one is on disk, and on an error for good.
// Of several processes that do so at a time the last one wins, whole. What
// killed ones left beside the file goes after tempAge.
// One open, one write per MiB, two fsyncs, one rename, one listing.
func Create(fs fsys.FS, name string, h Header, fn func(w *Writer) error) (err error) {
	if len(h.Kind) > 8 || len(h.Meta) > MaxMeta {
		return fmt.Errorf("blockfile: %s: kind or meta too long", name)
	}
	tmp := fsys.TempName(name)
	f, err := fs.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if f != nil {
				f.Close()
			}
			fs.Remove(tmp)
		}
	}()
	w := &Writer{file: f, start: PageSize, gen: h.Generation, buf: make([]byte, PageSize, flushAt+flushAt/4)}
	if err = fn(w); err != nil {
		return err
	}
	h.end0, h.foot = w.finish()
	if w.err == nil && w.base == 0 {
		h.encode(w.buf[:PageSize]) // small file: one write
		w.flush()
	} else {
		w.flush()
		if w.err == nil {
			page := make([]byte, PageSize)
			h.encode(page)
			_, w.err = f.WriteAt(page, 0)
		}
	}
	if err = w.err; err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	err = f.Close()
	f = nil
	if err != nil {
		return err
	}
	if err = fs.Rename(tmp, name); err != nil {
		return err
	}
	dir := filepath.Dir(name)
	fsys.RemoveTemps(fs, dir, tempAge) // best effort: they are in nobody's way
	return fs.SyncDir(dir)
}

// Append adds a segment to the file that r has open; fn writes its sections,
// which must fit in memory. It is on disk when Append returns; r does not see
// it (open again). If the file is not the one that r read, or has grown since,
// ErrChanged. A torn tail that r dropped is cut off first.
func Append(fs fsys.FS, r *Reader, fn func(w *Writer) error) error {
	w := &Writer{start: r.end, base: r.end, seq: uint32(len(r.segs)), gen: r.header.Generation, buf: make([]byte, headSize, 4096)}
	if err := fn(w); err != nil {
		return err
	}
	w.finish()
	if w.err != nil {
		return w.err
	}
	head := w.buf[:headSize]
	copy(head, magicHead)
	le.PutUint32(head[8:], w.seq)
	le.PutUint64(head[16:], w.gen)
	le.PutUint64(head[24:], uint64(len(w.buf)))
	le.PutUint64(head[56:], xxhash.Sum64(head[:56]))

	f, err := fs.OpenFile(r.name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	var page [PageSize]byte
	if _, err := f.ReadAt(page[:], 0); err != nil {
		return err
	}
	if size != r.size || le.Uint64(page[PageSize-8:]) != r.pageSum {
		return ErrChanged
	}
	if size > r.end {
		if err := f.Truncate(r.end); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(w.buf, r.end); err != nil {
		f.Truncate(r.end) // best effort: a reader drops a torn tail anyway
		return err
	}
	return f.Datasync()
}

// ErrChanged reports that a file is no longer what was read from it.
var ErrChanged = errors.New("blockfile: changed by another process")

// Raw writes a section as is: rows records that share data's bytes.
func (w *Writer) Raw(name string, rows int, data []byte) error {
	if !w.begin(name, Raw, rows) {
		return w.err
	}
	w.table = w.table[:0]
	for off := 0; off < len(data); off += RawBlock {
		w.table = le.AppendUint64(w.table, xxhash.Sum64(data[off:min(off+RawBlock, len(data))]))
	}
	w.write(data)
	w.end(int64(len(data)), len(w.table)/8)
	return w.err
}

// ZstdBytes writes data as zstd blocks of blockSize raw bytes.
func (w *Writer) ZstdBytes(name string, rows int, data []byte, blockSize int) error {
	n := (len(data) + blockSize - 1) / blockSize
	return w.Zstd(name, rows, n, func(i int, _ []byte) []byte {
		return data[i*blockSize : min((i+1)*blockSize, len(data))]
	})
}

// Zstd writes n zstd blocks. block returns the raw bytes of block i, in dst[:0]
// or elsewhere; it is called from several goroutines, in any order, and the
// result must stay unchanged until block is called again with the same dst.
func (w *Writer) Zstd(name string, rows, n int, block func(i int, dst []byte) []byte) error {
	if !w.begin(name, Zstd, rows) {
		return w.err
	}
	w.table = w.table[:0]
	workers := min(runtime.GOMAXPROCS(0), n)
	type packed struct {
		b   []byte
		raw int
	}
	var total int64
	put := func(p packed) {
		w.table = le.AppendUint64(w.table, xxhash.Sum64(p.b))
		w.table = le.AppendUint32(w.table, uint32(len(p.b)))
		w.table = le.AppendUint32(w.table, uint32(p.raw))
		total += int64(p.raw)
		if p.raw > maxBlock && w.err == nil {
			w.err = fmt.Errorf("blockfile: section %s: block of %d bytes", name, p.raw)
		}
		w.write(p.b)
	}
	enc := encoder()
	if workers <= 1 {
		var raw, out []byte
		for i := range n {
			src := block(i, raw[:0])
			raw = keep(raw, src)
			out = enc.EncodeAll(src, out[:0])
			put(packed{out, len(src)})
		}
	} else {
		// A round of workers blocks at a time keeps memory bounded and order simple.
		raws, outs, lens := make([][]byte, workers), make([][]byte, workers), make([]int, workers)
		for i := 0; i < n; i += workers {
			k := min(workers, n-i)
			var wg sync.WaitGroup
			for j := range k {
				wg.Go(func() {
					src := block(i+j, raws[j][:0])
					raws[j] = keep(raws[j], src)
					lens[j] = len(src)
					outs[j] = enc.EncodeAll(src, outs[j][:0])
				})
			}
			wg.Wait()
			for j := range k {
				put(packed{outs[j], lens[j]})
			}
		}
	}
	w.end(total, n)
	return w.err
}

// Packed is a zstd section that was compressed before its turn to be written.
type Packed struct {
	data, table []byte
	raw         int64
	blocks      int
}

// Pack compresses data as ZstdBytes does, on the caller's processor.
func Pack(data []byte, blockSize int) *Packed {
	p := &Packed{raw: int64(len(data)), data: make([]byte, 0, len(data)/2)}
	enc := encoder()
	for off := 0; off < len(data); off += blockSize {
		b := data[off:min(off+blockSize, len(data))]
		from := len(p.data)
		p.data = enc.EncodeAll(b, p.data)
		p.table = le.AppendUint64(p.table, xxhash.Sum64(p.data[from:]))
		p.table = le.AppendUint32(p.table, uint32(len(p.data)-from))
		p.table = le.AppendUint32(p.table, uint32(len(b)))
		p.blocks++
	}
	return p
}

// Packed writes a section that Pack made.
func (w *Writer) Packed(name string, rows int, p *Packed) error {
	if !w.begin(name, Zstd, rows) {
		return w.err
	}
	w.write(p.data)
	w.table = append(w.table[:0], p.table...)
	w.end(p.raw, p.blocks)
	return w.err
}

// keep returns the buffer to offer next time. It never hands out src itself:
// that may be the caller's memory and not buf grown.
func keep(buf, src []byte) []byte {
	if len(src) > cap(buf) {
		return make([]byte, 0, len(src)+len(src)/4)
	}
	return buf
}

func (w *Writer) begin(name string, enc Encoding, rows int) bool {
	if w.err == nil && (len(name) > nameSize || name == "" || len(w.entries) >= maxSections) {
		w.err = fmt.Errorf("blockfile: section name %q", name)
	}
	w.pad(dataAlign)
	w.entries = append(w.entries, entry{name: name, enc: enc, rows: int64(rows), off: w.pos()})
	return w.err == nil
}

func (w *Writer) end(raw int64, blocks int) {
	e := &w.entries[len(w.entries)-1]
	e.raw, e.blocks, e.stored = raw, blocks, w.pos()-e.off
	e.tableSum = xxhash.Sum64(w.table)
	w.pad(8)
	w.write(w.table)
}

// finish writes directory and foot.
func (w *Writer) finish() (end int64, footSum uint64) {
	w.pad(8)
	dirOff := w.pos()
	dir := make([]byte, len(w.entries)*entrySize)
	for i := range w.entries {
		w.entries[i].encode(dir[i*entrySize:])
	}
	w.write(dir)
	var foot [footSize]byte
	copy(foot[:], magicFoot)
	le.PutUint32(foot[8:], w.seq)
	le.PutUint32(foot[12:], uint32(len(w.entries)))
	le.PutUint64(foot[16:], w.gen)
	le.PutUint64(foot[24:], uint64(w.start))
	le.PutUint64(foot[32:], uint64(dirOff))
	le.PutUint64(foot[40:], xxhash.Sum64(dir))
	footSum = xxhash.Sum64(foot[:56])
	le.PutUint64(foot[56:], footSum)
	w.write(foot[:])
	return w.pos(), footSum
}

func (w *Writer) pos() int64 { return w.base + int64(len(w.buf)) }

func (w *Writer) pad(a int64) {
	var zero [dataAlign]byte
	w.write(zero[:alignUp(w.pos(), a)-w.pos()])
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	if w.file != nil && len(w.buf)+len(b) > flushAt {
		w.flush()
		if len(b) >= flushAt/4 && w.err == nil { // no need to copy it first
			_, w.err = w.file.WriteAt(b, w.base)
			w.base += int64(len(b))
			return
		}
	}
	w.buf = append(w.buf, b...)
}

func (w *Writer) flush() {
	if w.err != nil || w.file == nil {
		return
	}
	_, w.err = w.file.WriteAt(w.buf, w.base)
	w.base += int64(len(w.buf))
	w.buf = w.buf[:0]
}

var encoder = sync.OnceValue(func() *zstd.Encoder {
	// Blocks are small and independent, and carry a checksum of our own.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	if err != nil {
		panic("blockfile: zstd encoder options: " + err.Error()) // constants: cannot happen
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic("blockfile: zstd decoder options: " + err.Error())
	}
	return d
})
