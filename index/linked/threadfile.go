package linked

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"mailbench/internal/fsys"
	"mailbench/thread"
)

// threads is the thread index: the message ids of each message as numbers. The
// ids themselves are in the cache; of each the file has a CRC, by which new mail
// finds the ids it may have in common with old mail, to be compared there.
type threads struct {
	uid    []uint32 // messages, ascending
	id     []int32  // own id, -1: none
	idCRC  []uint32
	off    []uint32 // references of message i are ref[off[i]:off[i+1]]
	ref    []int32
	refCRC []uint32
	n      int // ids are below n, in the order of first sight, own id before references

	fileOf []uint32 // number in the file of each id; nil: the same
	next   uint32   // next number in the file
	size   int64    // of the file; 0: to be written as a whole
	fileID uint32
	dead   int    // records of expunged messages in the file
	inFile int    // records of messages that are there
	gen    uint64 // mailbox.gen of the rows
}

const (
	threadVersion = 1
	threadHeader  = 16 // version u32, uidvalidity u32, index id u32, file id u32
)

// A block of the file is its size u32, the number of messages u32 and for each
// the difference of its UID (uvarint), 2 * references + (1: it has an id)
// (uvarint), the CRC of each id u32 and the number of each u32, its own first.

func (t *threads) fileNumber(id int32) uint32 {
	if t.fileOf == nil {
		return uint32(id)
	}
	return t.fileOf[id]
}

// encode makes a block of messages from..len.
func (t *threads) encode(from int) []byte {
	b := make([]byte, 8, 8+40*(len(t.uid)-from))
	prev := uint32(0)
	for i := from; i < len(t.uid); i++ {
		b = binary.AppendUvarint(b, uint64(t.uid[i]-prev))
		prev = t.uid[i]
		refs := t.ref[t.off[i]:t.off[i+1]]
		k := 2 * uint64(len(refs))
		if t.id[i] >= 0 {
			k++
		}
		b = binary.AppendUvarint(b, k)
		if t.id[i] >= 0 {
			b = le.AppendUint32(b, t.idCRC[i])
		}
		for _, c := range t.refCRC[t.off[i]:t.off[i+1]] {
			b = le.AppendUint32(b, c)
		}
		if t.id[i] >= 0 {
			b = le.AppendUint32(b, t.fileNumber(t.id[i]))
		}
		for _, r := range refs {
			b = le.AppendUint32(b, t.fileNumber(r))
		}
	}
	le.PutUint32(b, uint32(len(b)))
	le.PutUint32(b[4:], uint32(len(t.uid)-from))
	return b
}

// threadFile is what the index knows of the thread file, in the header of an
// extension: UIDs that a crash took back may be given to other messages, whose
// ids are not those that the file has.
func (v *view) threadFile() (id uint32, size uint64) {
	if e := v.ext(extThread); e != nil && len(e.hdr) == 16 {
		return le.Uint32(e.hdr), le.Uint64(e.hdr[8:])
	}
	return 0, 0
}

// decodeThreads reads a thread file; only messages of v count. A tail that makes
// no sense is left out. ok false: none of it can be used.
func decodeThreads(b []byte, v *view) (t *threads, ok bool) {
	id, size := v.threadFile()
	if len(b) < threadHeader || le.Uint32(b) != threadVersion || le.Uint32(b[4:]) != v.hdr.uidValidity || le.Uint32(b[8:]) != v.hdr.indexID ||
		id == 0 || le.Uint32(b[12:]) != id {
		return nil, false
	}
	t = &threads{off: []uint32{0}, size: threadHeader, fileID: id}
	torn := uint64(len(b)) < size
	b = b[:min(uint64(len(b)), size)]
	row := 0
	last := uint32(0)
	for at := threadHeader; ; {
		if len(b)-at < 8 {
			break
		}
		size := le.Uint32(b[at:])
		if size < 8 || uint64(size) > uint64(len(b)-at) || hole(b[at:at+int(size)], uint64(at)) {
			break
		}
		r, prev := b[at+8:at+int(size)], uint64(0)
		at += int(size)
		for len(r) > 0 {
			d, n := binary.Uvarint(r)
			k, n2 := uint64(0), 0
			if n > 0 {
				k, n2 = binary.Uvarint(r[n:])
			}
			if n <= 0 || n2 <= 0 {
				return nil, false
			}
			r = r[n+n2:]
			ids := k/2 + k%2
			if prev += d; prev > uint64(^uint32(0)) || uint32(prev) <= last || ids > uint64(len(r))/8 {
				return nil, false
			}
			last = uint32(prev)
			crcs, nums := r[:4*ids], r[4*ids:8*ids]
			r = r[8*ids:]
			for i := 0; i < len(nums); i += 4 {
				x := le.Uint32(nums[i:])
				if x > t.next {
					return nil, false // numbers are given out one by one
				}
				t.next = max(t.next, x+1)
			}
			for row < len(v.uid) && v.uid[row] < last {
				return nil, false // a message of the mailbox is not in the file
			}
			if row == len(v.uid) || v.uid[row] != last {
				t.dead++
				continue
			}
			row++
			t.inFile++
			t.uid = append(t.uid, last)
			own := int32(-1)
			var ownCRC uint32
			if k%2 == 1 {
				own, ownCRC = int32(le.Uint32(nums)), le.Uint32(crcs)
				nums, crcs = nums[4:], crcs[4:]
			}
			t.id, t.idCRC = append(t.id, own), append(t.idCRC, ownCRC)
			for i := 0; i < len(nums); i += 4 {
				t.ref = append(t.ref, int32(le.Uint32(nums[i:])))
				t.refCRC = append(t.refCRC, le.Uint32(crcs[i:]))
			}
			t.off = append(t.off, uint32(len(t.ref)))
		}
		t.size = int64(at)
	}
	if t.size < int64(len(b)) || torn {
		t.size = 0 // torn: write it anew
	}
	t.n = int(t.next)
	if t.dead > 0 {
		t.renumber()
	}
	return t, true
}

// renumber numbers the ids by first sight among the messages that are there.
func (t *threads) renumber() {
	now := make([]int32, t.n)
	fileOf := make([]uint32, 0, t.n)
	give := func(p *int32) {
		if now[*p] == 0 {
			fileOf = append(fileOf, t.fileNumber(*p))
			now[*p] = int32(len(fileOf))
		}
		*p = now[*p] - 1
	}
	for i := range t.uid {
		if t.id[i] >= 0 {
			give(&t.id[i])
		}
		for k := t.off[i]; k < t.off[i+1]; k++ {
			give(&t.ref[k])
		}
	}
	t.fileOf, t.n = fileOf, len(fileOf)
}

// drop takes out messages that v no longer has. ok false: v has messages
// between those of t that t does not know.
func (t *threads) drop(v *view) (ok bool) {
	row, at, refs := 0, 0, uint32(0)
	for i, uid := range t.uid {
		if row < len(v.uid) && v.uid[row] < uid {
			return false
		}
		if row == len(v.uid) || v.uid[row] != uid {
			continue
		}
		row++
		from, to := t.off[i], t.off[i+1]
		copy(t.ref[refs:], t.ref[from:to])
		copy(t.refCRC[refs:], t.refCRC[from:to])
		t.uid[at], t.id[at], t.idCRC[at] = uid, t.id[i], t.idCRC[i]
		refs += to - from
		at++
		t.off[at] = refs
	}
	if gone := len(t.uid) - at; gone > 0 {
		t.dead += gone
		t.inFile -= gone
		t.uid, t.id, t.idCRC, t.off, t.ref, t.refCRC = t.uid[:at], t.id[:at], t.idCRC[:at], t.off[:at+1], t.ref[:refs], t.refCRC[:refs]
		t.renumber()
	}
	return true
}

// threadIndex makes m.threads that of the view's rows: from memory or file, new
// messages added.
func (m *mailbox) threadIndex() (*threads, error) {
	if err := m.loadRows(); err != nil {
		return nil, err
	}
	v := &m.disk.view
	t := m.threads
	if t != nil && t.gen == m.gen {
		return t, nil
	}
	if t != nil && !t.drop(v) {
		t = nil
	}
	if t == nil {
		b, err := readWhole(m.fs, m.path(threadName), 1<<32)
		if err != nil {
			return nil, err
		}
		if t, _ = decodeThreads(b, v); t == nil {
			t = &threads{off: []uint32{0}}
		}
	}
	m.threads = nil
	if fresh := len(v.uid) - len(t.uid); fresh > len(t.uid)/2 {
		t = &threads{off: []uint32{0}}
	}
	had := len(t.uid)
	whole, err := m.addThreads(t)
	if err != nil {
		return nil, err
	}
	if whole { // else a message has gone: the next one to ask asks again
		if len(t.uid) > had || t.size == 0 {
			if err := m.saveThreads(t); err != nil {
				return nil, err
			}
		}
		t.gen, m.threads = m.gen, t
	}
	return t, nil
}

var threadFields = []string{"hdr.in-reply-to", "hdr.message-id", "hdr.references", "hdr.subject"}

// addThreads adds the rows behind those that t has.
func (m *mailbox) addThreads(t *threads) (whole bool, err error) {
	v := &m.disk.view
	had := len(t.uid)
	var rows []int32
	if had > 0 {
		for i := had; i < len(v.uid); i++ {
			rows = append(rows, int32(i))
		}
		if len(rows) == 0 {
			return true, nil
		}
	}
	n := len(v.uid) - had
	in := thread.NewInterner(n+n/8, 40*n)
	whole = true
	var text []byte
	var ends []int
	var refs []int32
	err = m.each(rows, threadFields, true, func(row int32, vals [][]byte) error {
		if vals[0] == nil {
			whole = false
		}
		var ok bool
		text, ends, ok = m.appendIDs(text[:0], ends[:0], headerValue(vals[0]), headerValue(vals[1]), headerValue(vals[2]))
		own := int32(-1)
		if ok {
			k := len(ends) - 1
			from := 0
			if k > 0 {
				from = ends[k-1]
			}
			own, ends = in.Intern(text[from:ends[k]]), ends[:k]
		}
		from := 0
		refs = refs[:0]
		for _, end := range ends {
			refs = append(refs, in.Intern(text[from:end]))
			from = end
		}
		t.uid, t.id = append(t.uid, v.uid[row]), append(t.id, own)
		t.ref = append(t.ref, refs...)
		t.off = append(t.off, uint32(len(t.ref)))
		return nil
	})
	if err != nil {
		return false, err
	}
	crc := make([]uint32, in.Len())
	for i := range crc {
		crc[i] = crc32.ChecksumIEEE(in.Bytes(int32(i)))
	}
	global := make([]int32, in.Len()) // number in t, -1: a new one
	for i := range global {
		global[i] = -1
	}
	if had > 0 {
		gone, err := m.match(t, had, in, crc, global)
		if err != nil {
			return false, err
		}
		whole = whole && !gone
	}
	give := func(p *int32) uint32 {
		local := *p
		if global[local] < 0 {
			global[local] = int32(t.n)
			if t.fileOf != nil || t.next != uint32(t.n) {
				if t.fileOf == nil {
					t.fileOf = make([]uint32, t.n)
					for i := range t.fileOf {
						t.fileOf[i] = uint32(i)
					}
				}
				t.fileOf = append(t.fileOf, t.next)
			}
			t.n++
			t.next++
		}
		*p = global[local]
		return crc[local]
	}
	for i := had; i < len(t.uid); i++ {
		c := uint32(0)
		if t.id[i] >= 0 {
			c = give(&t.id[i])
		}
		t.idCRC = append(t.idCRC, c)
		for k := t.off[i]; k < t.off[i+1]; k++ {
			t.refCRC = append(t.refCRC, give(&t.ref[k]))
		}
	}
	return whole, nil
}

// match finds which of the new ids in are ids that the first had messages of t
// have: those of equal CRC are compared with what the cache says.
func (m *mailbox) match(t *threads, had int, in *thread.Interner, crc []uint32, global []int32) (gone bool, err error) {
	fresh := make(map[uint32][]int32, len(crc)) // by CRC
	for i, c := range crc {
		fresh[c] = append(fresh[c], int32(i))
	}
	asked := make([]bool, t.n)
	ask := map[int32][]int32{} // row -> ids of t to look at there
	see := func(row int, id int32, c uint32) {
		if !asked[id] && fresh[c] != nil {
			asked[id] = true
			ask[int32(row)] = append(ask[int32(row)], id)
		}
	}
	for i := range had {
		if t.id[i] >= 0 {
			see(i, t.id[i], t.idCRC[i])
		}
		for k := t.off[i]; k < t.off[i+1]; k++ {
			see(i, t.ref[k], t.refCRC[k])
		}
	}
	rows := make([]int32, 0, len(ask))
	for r := range ask {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	var text []byte
	var ends []int
	err = m.each(rows, threadFields[:3], true, func(row int32, vals [][]byte) error {
		gone = gone || vals[0] == nil
		var own bool
		text, ends, own = m.appendIDs(text[:0], ends[:0], headerValue(vals[0]), headerValue(vals[1]), headerValue(vals[2]))
		refs := t.ref[t.off[row]:t.off[row+1]]
		if n := len(refs); len(ends) != n && !(own && len(ends) == n+1) || own != (t.id[row] >= 0) {
			return nil // they do not belong together: a new number for the same id
		}
		compare := func(id int32, s []byte) {
			if slices.Contains(ask[row], id) {
				if l, ok := in.Lookup(s); ok {
					global[l] = id
				}
			}
		}
		from := 0
		for k, end := range ends {
			if k < len(refs) {
				compare(refs[k], text[from:end])
			} else {
				compare(t.id[row], text[from:end])
			}
			from = end
		}
		return nil
	})
	return gone, err
}

// saveThreads appends what the file has not, or writes it anew.
func (m *mailbox) saveThreads(t *threads) error {
	return m.extend(func() error {
		if in, err := m.fs.Stat(m.path(threadName)); err != nil || in.Size < t.size || t.size == 0 || t.dead > len(t.uid) {
			return m.writeThreads(t)
		}
		f, err := m.fs.OpenFile(m.path(threadName), os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		b := t.encode(t.inFile)
		if _, err := f.WriteAt(b, t.size); err != nil {
			return m.lose(err)
		}
		t.size += int64(len(b))
		t.inFile = len(t.uid)
		return m.noteThreads(t)
	})
}

// noteThreads tells the index how far the thread file goes.
func (m *mailbox) noteThreads(t *threads) error {
	tr := newTrans()
	tr.intro(&m.disk.view, extThread, 0, 0)
	tr.extHdr(le.AppendUint64(le.AppendUint64(nil, uint64(t.fileID)), uint64(t.size)))
	return m.appendLog(tr, false)
}

// writeThreads writes the file anew. The lock is held.
func (m *mailbox) writeThreads(t *threads) error {
	t.fileOf, t.next, t.fileID = nil, uint32(t.n), rand.Uint32()|1
	b := make([]byte, threadHeader)
	le.PutUint32(b, threadVersion)
	le.PutUint32(b[4:], m.disk.hdr.uidValidity)
	le.PutUint32(b[8:], m.disk.hdr.indexID)
	le.PutUint32(b[12:], t.fileID)
	if len(t.uid) > 0 {
		b = append(b, t.encode(0)...)
	}
	err := fsys.WriteFileAtomic(m.fs, m.path(threadName), func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return m.lose(err)
	}
	t.size, t.dead, t.inFile = int64(len(b)), 0, len(t.uid)
	return m.noteThreads(t)
}

// compactThreads rewrites a thread file with records of expunged messages. The
// lock is held.
func (m *mailbox) compactThreads() error {
	v := &m.disk.view
	b, err := readWhole(m.fs, m.path(threadName), 1<<32)
	if err != nil || b == nil {
		return err
	}
	t, ok := decodeThreads(b, v)
	if !ok {
		m.threads = nil
		return m.remove(threadName)
	}
	if t.dead == 0 {
		return nil
	}
	m.threads = nil
	return m.writeThreads(t)
}
