package bboltidx

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// The engine trusts its pages: a child that leads back to its parent makes it
// recurse until the process dies, which nothing can catch, and a page in the
// list of free pages that is not free, or lies far behind the end, gets
// written. So before a file is handed to it, verify walks the branch pages,
// which are one in a hundred, and leaves alone what costs at worst an answer.

// The file format, bbolt's version 2.
const (
	pageHead     = 16 // id u64, flags u16, count u16, overflow u32
	branchElem   = 16 // position u32, key length u32, page u64
	leafElem     = 16 // flags u32, position u32, key length u32, value length u32
	bucketHead   = 16 // root page u64 (0: the bucket's page follows), sequence u64
	flagBranch   = 1
	flagLeaf     = 2
	flagFreelist = 16
	leafBucket   = 1
	noFreelist   = 1<<64 - 1
	metaLen      = 64
	magic        = 0xED0CDAED
	maxDepth     = 24
	pageSize     = 4096 // of a database made without the option
)

var le = binary.LittleEndian

// A verifier reads the pages of one file.
type verifier struct {
	r      io.ReaderAt
	size   int64  // of the file
	page   int64  // bytes
	high   uint64 // pages
	txid   uint64
	branch map[uint64]bool // branch pages seen
	leaves []uint64        // pages that must not be branch pages
	buf    []byte
}

// damage is what is wrong with a file.
type damage string

func (d damage) Error() string { return string(d) }

func broken(format string, args ...any) error { return damage(fmt.Sprintf(format, args...)) }

// verify checks the trees of the named buckets (nil: of all) and, free, the
// list of free pages; full: leaf pages too, which reads the whole file. Its
// error says what is damaged; errors of r come as they are.
func verify(r io.ReaderAt, size int64, buckets [][]byte, free, full bool) error {
	v := &verifier{r: r, size: size, branch: map[uint64]bool{}}
	root, freelist, err := v.meta()
	if err != nil {
		return err
	}
	if free && freelist != noFreelist {
		if err := v.freelist(freelist); err != nil {
			return err
		}
	}
	var roots []uint64
	err = v.tree(root, 0, func(p []byte, id uint64) error {
		return v.elems(p, id, func(flags uint32, key, value []byte) error {
			if flags&leafBucket == 0 || buckets != nil && !slices.ContainsFunc(buckets, func(b []byte) bool { return string(b) == string(key) }) {
				return nil
			}
			if len(value) < bucketHead {
				return broken("bucket %q of page %d is too short", key, id)
			}
			if at := le.Uint64(value); at != 0 {
				roots = append(roots, at)
				return nil
			}
			p := value[bucketHead:]
			if len(p) < pageHead || le.Uint16(p[8:]) != flagLeaf {
				return broken("bucket %q of page %d has no leaf page", key, id)
			}
			return v.elems(p, id, noBuckets(id))
		})
	})
	if err != nil {
		return err
	}
	var leaf func([]byte, uint64) error
	if full {
		leaf = func(p []byte, id uint64) error { return v.elems(p, id, noBuckets(id)) }
	}
	for _, at := range roots {
		if err := v.tree(at, 0, leaf); err != nil {
			return err
		}
	}
	for _, id := range v.leaves {
		if v.branch[id] {
			return broken("page %d is in a tree twice", id)
		}
	}
	return nil
}

// transaction is the number of the last transaction in the file.
func transaction(r io.ReaderAt, size int64) (uint64, error) {
	v := &verifier{r: r, size: size}
	_, _, err := v.meta()
	return v.txid, err
}

func noBuckets(id uint64) func(uint32, []byte, []byte) error {
	return func(flags uint32, _, _ []byte) error {
		if flags != 0 {
			return broken("page %d has an element with flags %#x", id, flags)
		}
		return nil
	}
}

// meta finds the meta page that the engine will take.
func (v *verifier) meta() (root, freelist uint64, err error) {
	found := false
	for i := range int64(2) {
		at := i * v.page
		if i == 1 && v.page == 0 {
			at = int64(pageSize) // the first one is damaged
		}
		var b [pageHead + metaLen]byte
		if at+int64(len(b)) > v.size {
			return 0, 0, broken("the file ends in a meta page")
		}
		if _, err := v.r.ReadAt(b[:], at); err != nil {
			return 0, 0, err
		}
		m := b[pageHead:]
		if le.Uint32(m) != magic || le.Uint32(m[4:]) != 2 || le.Uint64(m[56:]) != fnv(m[:56]) {
			continue
		}
		size := int64(le.Uint32(m[8:]))
		if size < 512 || size > 1<<20 || v.page != 0 && size != v.page {
			return 0, 0, broken("pages of %d bytes", size)
		}
		v.page = size
		if id := le.Uint64(m[48:]); !found || id > v.txid {
			found, v.txid = true, id
			root, freelist, v.high = le.Uint64(m[16:]), le.Uint64(m[32:]), le.Uint64(m[40:])
		}
	}
	if !found {
		return 0, 0, broken("no meta page is whole")
	}
	if v.high < 4 || v.high > uint64(v.size/v.page) {
		return 0, 0, broken("%d pages in a file of %d bytes", v.high, v.size)
	}
	return root, freelist, nil
}

// fnv is the engine's checksum, FNV-1a.
func fnv(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// read returns page id with what overflows of it: valid until the next read.
func (v *verifier) read(id uint64) ([]byte, error) {
	if id < 2 || id >= v.high {
		return nil, broken("page %d of %d", id, v.high)
	}
	v.buf = slices.Grow(v.buf[:0], int(v.page))[:v.page]
	at := int64(id) * v.page
	if _, err := v.r.ReadAt(v.buf, at); err != nil {
		return nil, err
	}
	n := uint64(le.Uint32(v.buf[12:])) + 1
	if le.Uint64(v.buf) != id || n > v.high-id {
		return nil, broken("page %d says that it is page %d and has %d pages", id, le.Uint64(v.buf), n)
	}
	if n == 1 {
		return v.buf, nil
	}
	v.buf = slices.Grow(v.buf[:0], int(n)*int(v.page))[:int(n)*int(v.page)]
	_, err := v.r.ReadAt(v.buf, at)
	return v.buf, err
}

// tree walks the tree of id; leaf, when not nil, gets its leaf pages. All leaf
// pages are equally deep, so that their parents' children need no look.
func (v *verifier) tree(id uint64, depth int, leaf func(p []byte, id uint64) error) error {
	deep := 0
	for at := id; ; deep++ {
		p, err := v.read(at)
		if err != nil {
			return err
		}
		if flags := le.Uint16(p[8:]); flags == flagLeaf {
			break
		} else if flags != flagBranch || deep > maxDepth {
			return broken("page %d in a tree has flags %#x", at, flags)
		}
		if at, err = v.child(p, at, 0); err != nil {
			return err
		}
	}
	return v.walk(id, deep, leaf)
}

func (v *verifier) walk(id uint64, deep int, leaf func(p []byte, id uint64) error) error {
	if deep == 0 {
		v.leaves = append(v.leaves, id)
		if leaf == nil {
			return nil
		}
		p, err := v.read(id)
		if err != nil {
			return err
		}
		if le.Uint16(p[8:]) != flagLeaf {
			return broken("page %d is no leaf page", id)
		}
		return leaf(p, id)
	}
	if v.branch[id] {
		return broken("page %d is in a tree twice", id)
	}
	v.branch[id] = true
	p, err := v.read(id)
	if err != nil {
		return err
	}
	n := int(le.Uint16(p[10:]))
	if le.Uint16(p[8:]) != flagBranch || n == 0 {
		return broken("page %d is no branch page", id)
	}
	children := make([]uint64, n)
	for i := range children {
		if children[i], err = v.child(p, id, i); err != nil {
			return err
		}
	}
	for _, c := range children {
		if err := v.walk(c, deep-1, leaf); err != nil {
			return err
		}
	}
	return nil
}

// child is the page of an element of a branch page.
func (v *verifier) child(p []byte, id uint64, i int) (uint64, error) {
	at := pageHead + branchElem*i
	if i >= int(le.Uint16(p[10:])) || at+branchElem > len(p) || uint64(at)+uint64(le.Uint32(p[at:]))+uint64(le.Uint32(p[at+4:])) > uint64(len(p)) {
		return 0, broken("element %d of page %d is outside of it", i, id)
	}
	c := le.Uint64(p[at+8:])
	if c < 2 || c >= v.high {
		return 0, broken("page %d leads to page %d of %d", id, c, v.high)
	}
	return c, nil
}

// elems calls fn for the elements of a leaf page.
func (v *verifier) elems(p []byte, id uint64, fn func(flags uint32, key, value []byte) error) error {
	n := int(le.Uint16(p[10:]))
	if pageHead+n*leafElem > len(p) {
		return broken("page %d has %d elements", id, n)
	}
	for i := range n {
		at := pageHead + leafElem*i
		key := uint64(at) + uint64(le.Uint32(p[at+4:]))
		value := key + uint64(le.Uint32(p[at+8:]))
		end := value + uint64(le.Uint32(p[at+12:]))
		if end > uint64(len(p)) || key == value {
			return broken("element %d of page %d is outside of it", i, id)
		}
		if err := fn(le.Uint32(p[at:]), p[key:value], p[value:end]); err != nil {
			return err
		}
	}
	return nil
}

// freelist checks the list of free pages: ascending, below the end.
func (v *verifier) freelist(id uint64) error {
	p, err := v.read(id)
	if err != nil {
		return err
	}
	ids, n := p[pageHead:], uint64(le.Uint16(p[10:]))
	if n == 0xffff { // the number is too long for its place
		n, ids = le.Uint64(ids), ids[8:]
	}
	if le.Uint16(p[8:]) != flagFreelist || n > uint64(len(ids)/8) {
		return broken("page %d is no list of free pages", id)
	}
	last := uint64(1)
	for i := range n {
		f := le.Uint64(ids[8*i:])
		if f <= last || f >= v.high {
			return broken("free page %d after %d", f, last)
		}
		last = f
	}
	return nil
}
