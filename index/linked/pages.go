package linked

import (
	"sync"

	"mailbench/index"
)

const pageSize = 16 << 10

// pages reads the cache file in place of a map: a page when something in it is
// looked at, which then stays, as the original does without mmap.
type pages struct {
	f  index.File
	mu sync.Mutex
	in []uint64 // bitmap: pages of data that were read
}

// extend makes data size bytes long: what was read of it stays.
func (p *pages) extend(data []byte, size int64) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := len(data)
	if size < int64(old) { // another file
		data, old, p.in = nil, 0, nil
	}
	if last := old / pageSize; old%pageSize != 0 && last/64 < len(p.in) {
		p.in[last/64] &^= 1 << (last % 64) // it has more now
	}
	for len(p.in) < int(size/pageSize/64)+1 {
		p.in = append(p.in, 0)
	}
	if int64(cap(data)) < size {
		grown := make([]byte, size, size+size/4)
		copy(grown, data)
		return grown
	}
	return data[:size]
}

// read makes sure that bytes off..off+n of data are those of the file.
func (p *pages) read(data []byte, off, n uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if off+n > uint64(len(data)) {
		return false
	}
	for at := off / pageSize; at*pageSize < off+n; at++ {
		if p.in[at/64]&(1<<(at%64)) != 0 {
			continue
		}
		end := min((at+1)*pageSize, uint64(len(data)))
		if k, err := p.f.ReadAt(data[at*pageSize:end], int64(at*pageSize)); uint64(k) < end-at*pageSize {
			_ = err // what cannot be read is no record: the mail is read (K4)
			return false
		}
		p.in[at/64] |= 1 << (at % 64)
	}
	return true
}

// need makes sure that data can be looked at there.
func (c *cache) need(off, n uint64) bool {
	return c.pages == nil || c.pages.read(c.data, off, n)
}
