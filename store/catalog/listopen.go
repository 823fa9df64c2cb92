package catalog

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"mailbench/index"
)

// OpenList reads a list into an empty catalog. None there: an error that wraps
// fs.ErrNotExist (CreateList). A list that is damaged: an *index.CorruptError.
// O(file).
func OpenList(fsy index.FS, name string, cat *Catalog) (*List, error) {
	f, err := fsy.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	l := &List{fs: fsy, name: name, cat: cat, f: f}
	if err := l.load(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *List) load() error {
	size, err := l.f.Size()
	if err != nil {
		return err
	}
	rd := &listReader{f: l.f, name: l.name, size: size}
	var keys []byte
	var rows []Row
	flush := func() {
		if len(rows) > 0 {
			l.cat.Load(rows...)
			rows, keys = rows[:0], keys[:0]
		}
	}
	next := uint64(1)
	fn := func(op byte, id uint64, r *Row) {
		l.clean = op == 'C'
		switch op {
		case 'N':
			next = max(next, id)
			return
		case 'C', 'D':
			return
		}
		// The key lives until the catalog has copied it.
		if cap(keys)-len(keys) < 20 {
			flush()
			keys = make([]byte, 0, chunk)
		}
		n := len(keys)
		keys = appendID(keys, id)
		r.Key = unsafe.String(unsafe.SliceData(keys[n:]), len(keys)-n)
		if op == 'A' {
			next = max(next, id+1)
			rows = append(rows, *r)
			return
		}
		flush()
		if op == 'R' {
			l.removed = append(l.removed, id)
			l.cat.Remove(r.Key)
			return
		}
		if was, ok := l.cat.Get(r.Key); ok {
			apply(op, &was, r)
			l.cat.Set(was)
		}
	}
	h, err := rd.header()
	if err != nil {
		return err
	}
	copy(l.h.name[:], l.cat.kind)
	if h.name != l.h.name {
		return &index.CorruptError{File: l.name, Off: 40, What: "list of another format"}
	}
	if h.rows <= uint64(size)/8 { // a row has more bytes
		l.cat.Reserve(int(h.rows))
	}
	if err := rd.records(int64(h.snapshot), fn); err != nil {
		return err
	}
	flush()
	l.cat.Load() // what was read is no news
	l.told = max(next, h.next)
	l.next.Store(l.told)
	l.h, l.seq, l.size, l.synced, l.lasts = h, rd.seq, rd.off, rd.synced, h.lasts
	if rd.off == size {
		return nil
	}
	// Records to come must not have torn ones behind them, or before.
	if err := l.f.Truncate(rd.off); err != nil {
		return err
	}
	l.clean = false
	return l.f.Datasync()
}

// apply makes an operation's change to a row.
func apply(op byte, to, r *Row) {
	if op == 'S' {
		to.Flags, to.Keywords, to.Dir = r.Flags, r.Keywords, r.Dir
	} else {
		to.File, to.Off = r.File, r.Off
	}
}

// listReader reads a list file in pieces.
type listReader struct {
	f      index.File
	name   string
	size   int64
	off    int64 // up to the end of the last whole record
	seq    uint64
	synced int64  // what of it is known to last
	buf    []byte // bytes of the file from at
	at     int64
}

func (r *listReader) corrupt(what string) error {
	return &index.CorruptError{File: r.name, Off: r.off, What: what}
}

// bytes returns n bytes from off, less at the end of the file, valid until the
// next call.
func (r *listReader) bytes(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), r.size-off))
	if n <= 0 {
		return nil, nil
	}
	if off < r.at || off+int64(n) > r.at+int64(len(r.buf)) {
		want := int(min(int64(max(n, 256<<10)), r.size-off))
		if cap(r.buf) < want {
			r.buf = make([]byte, want)
		}
		r.buf, r.at = r.buf[:want], off
		if err := ReadFullAt(r.f, r.buf, off); err != nil {
			r.buf = r.buf[:0]
			return nil, err
		}
	}
	return r.buf[off-r.at:][:n], nil
}

func (r *listReader) header() (h header, err error) {
	b, err := r.bytes(0, listHead)
	if err != nil {
		return h, err
	}
	if what := h.decode(b); what != "" {
		return h, r.corrupt(what)
	}
	r.off = listHead
	r.synced = max(int64(h.snapshot), h.lasts)
	if h.snapshot < listHead || int64(h.snapshot) > r.size {
		return h, r.corrupt("list ends in its snapshot")
	}
	if h.lasts > r.size {
		r.off = r.size
		return h, r.corrupt(fmt.Sprintf("list is cut: it lasted up to %d", h.lasts))
	}
	return h, nil
}

// records calls fn for each operation up to a torn end.
func (r *listReader) records(snapshot int64, fn func(byte, uint64, *Row)) error {
	for r.off < r.size {
		b, err := r.record(r.off)
		if err != nil {
			return err
		}
		if b == nil {
			torn, err := r.torn(snapshot)
			if err == nil && !torn {
				err = r.corrupt("record is damaged")
			}
			return err
		}
		if seq := le.Uint64(b[8:]); seq != r.seq+1 {
			return r.corrupt("sequence number of a record")
		}
		r.seq++
		r.synced = max(r.synced, int64(le.Uint64(b[16:])))
		if what := eachOp(b[recHead:len(b)-recTail], fn); what != "" {
			return r.corrupt(what)
		}
		r.off += int64(len(b))
	}
	return nil
}

// record returns the whole record at off, nil if none is there.
func (r *listReader) record(off int64) ([]byte, error) {
	b, err := r.bytes(off, recHead)
	if err != nil || len(b) < recHead {
		return nil, err
	}
	n, ok := headOK(b)
	if !ok || off+int64(recHead+n+recTail) > r.size {
		return nil, nil
	}
	b, err = r.bytes(off, recHead+n+recTail)
	if err != nil || !recordOK(b) {
		return nil, err
	}
	return b, nil
}

// torn reports whether the record at r.off, which is not whole, is one that a
// crash left so (L2).
func (r *listReader) torn(snapshot int64) (bool, error) {
	if r.off < snapshot || r.off < r.synced {
		return false, nil
	}
	b, err := r.bytes(r.off, recHead)
	if err != nil {
		return false, err
	}
	n, ok := headOK(append(bytes.Clone(b), make([]byte, recHead-len(b))...))
	want := recHead
	if ok {
		want += n + recTail
	}
	if b, err = r.bytes(r.off, want); err != nil {
		return false, err
	}
	if len(b) == want && !hasZeroSector(b, r.off) {
		return false, nil
	}
	return r.nothingAfter()
}

// hasZeroSector reports whether b, which lies at off, has a sector, or its part
// of one, that is all zero.
func hasZeroSector(b []byte, off int64) bool {
	for len(b) > 0 {
		n := min(len(b), int(sector-off%sector))
		if len(bytes.Trim(b[:n], "\x00")) == 0 {
			return true
		}
		b, off = b[n:], off+int64(n)
	}
	return false
}

// nothingAfter reports whether no record behind r.off was written after that
// lasted.
func (r *listReader) nothingAfter() (bool, error) {
	var magic [4]byte
	le.PutUint32(magic[:], recMagic)
	for off := r.off + 1; off < r.size; {
		b, err := r.bytes(off, chunk)
		if err != nil {
			return false, err
		}
		i := bytes.Index(b, magic[:])
		if i < 0 {
			off += int64(max(1, len(b)-3))
			continue
		}
		off += int64(i)
		rec, err := r.record(off)
		if err != nil {
			return false, err
		}
		if rec != nil && int64(le.Uint64(rec[16:])) > r.off {
			return false, nil
		}
		off++
	}
	return true, nil
}
