package linked

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"mailbench/index"
	"mailbench/internal/fsys"
)

const (
	cacheMajor  = 1
	cacheHeader = 32
	maxChain    = 1000    // records of one message
	maxBlocks   = 100     // registry blocks
	maxCache    = 1 << 32 // offsets are u32
)

// cache is the cache file, or what is to become one.
type cache struct {
	f     index.File // nil: no file yet
	m     *fsys.Mapping
	pages *pages // instead of a map
	stale bool   // the file has grown since
	data  []byte // nil: not mapped
	size  int64  // of the file, as far as this handle knows
	seq   uint32 // file sequence: the reset id of the index's offsets
	conts uint32 // records that continue others
	count uint32 // messages that got a record
	first uint32 // offset of the first registry block

	fields []field
	ids    map[string]int
	block  uint32 // offset of the last registry block; its arrays are overwritten in place
	stored int    // fields in it
	blocks int
	dirty  bool // decisions or last uses have changed
}

func (c *cache) close() {
	if c.m != nil {
		c.m.Close()
	}
	if c.f != nil {
		c.f.Close()
	}
	*c = cache{}
}

// add registers a field in memory.
func (c *cache) add(f field) int {
	c.ids[f.name] = len(c.fields)
	c.fields = append(c.fields, f)
	return len(c.fields) - 1
}

// openCache makes m.cache ready: from the file when that belongs to the index,
// else with nothing in it.
func (m *mailbox) openCache() error {
	if m.cache != nil {
		return nil
	}
	c, err := m.readCache()
	if err != nil {
		return err
	}
	fresh := c == nil
	if fresh {
		c = &cache{ids: map[string]int{}}
		for _, f := range standard {
			c.add(f)
		}
		for _, name := range m.opt.cacheFields {
			if i, ok := c.ids[name]; ok {
				c.fields[i].decision = decideTemp
			} else {
				f := newField(name)
				f.decision = decideTemp
				c.add(f)
			}
		}
	}
	if fresh && m.cfg.Options.Fields == "envelope" { // as if every client asked for it
		for _, name := range index.EnvelopeFields {
			name = headerPrefix + strings.ToLower(name)
			i, ok := c.ids[name]
			if !ok {
				i = c.add(newField(name))
			}
			c.fields[i].decision, c.fields[i].lastUsed = decideYes, uint32(m.cfg.Now().Unix())
		}
	}
	force := func(names []string, d decision) {
		for _, name := range names {
			i, ok := c.ids[name]
			if !ok {
				i = c.add(newField(name))
			}
			c.fields[i].decision = d | forced
		}
	}
	for i := range c.fields {
		c.fields[i].decision &^= forced
	}
	force(m.opt.alwaysFields, decideYes)
	force(m.opt.neverFields, decideNo)
	m.cache = c
	return nil
}

// readCache reads the cache file's header and registry; nil: there is none that
// belongs to the index.
func (m *mailbox) readCache() (*cache, error) {
	e := m.disk.ext(extCache)
	if e == nil || e.reset == 0 {
		return nil, nil
	}
	f, err := m.fs.Open(m.path(cacheName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &cache{f: f}
	if m.opt.pread {
		c.pages = &pages{f: f}
	}
	ok := false
	defer func() {
		if !ok {
			c.close()
		}
	}()
	if err := c.remap(); err != nil {
		return nil, err
	}
	b := c.data
	if len(b) < cacheHeader || !c.need(0, cacheHeader) || b[0] != cacheMajor || le.Uint32(b[4:]) != m.disk.hdr.indexID || le.Uint32(b[8:]) != e.reset {
		return nil, nil
	}
	c.seq, c.conts, c.count, c.first = e.reset, le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint32(b[28:])
	for at := c.first; at != 0; c.blocks++ {
		if uint64(at) < cacheHeader || uint64(at)+registryHead > uint64(len(b)) || c.blocks == maxBlocks {
			return nil, nil
		}
		if !c.need(uint64(at), 8) || !c.need(uint64(at), uint64(le.Uint32(b[at+4:]))) {
			return nil, nil
		}
		fields, next, good := decodeRegistry(b[at:])
		if !good || next != 0 && next <= at || len(fields) < len(c.fields) {
			return nil, nil
		}
		c.fields, c.block, c.stored = fields, at, len(fields)
		at = next
	}
	c.ids = make(map[string]int, len(c.fields))
	for i := range c.fields {
		c.ids[c.fields[i].name] = i
	}
	if len(c.ids) != len(c.fields) || c.blocks == 0 {
		return nil, nil
	}
	// The log may have reached the disk and what it points to not. Were the
	// file to grow over those places, others' records would lie there.
	last := uint32(0)
	for _, off := range e.rec {
		last = max(last, off)
	}
	if last > 0 {
		if _, _, good := c.record(last); !good {
			return nil, nil
		}
	}
	ok = true
	return c, nil
}

// remap makes data the whole file as it is now.
func (c *cache) remap() error {
	size, err := c.f.Size()
	if err != nil || size > maxCache || size == 0 {
		c.data = nil
		return err
	}
	c.stale = false
	if c.pages != nil {
		c.data, c.size = c.pages.extend(c.data, size), size
		return nil
	}
	m, err := c.f.Map()
	if err != nil {
		return err
	}
	if c.m != nil {
		c.m.Close()
	}
	c.m, c.data, c.size = m, m.Data, int64(len(m.Data))
	return nil
}

// mapped makes data the file, if it is not.
func (c *cache) mapped() error {
	if len(c.data) > 0 && !c.stale || c.f == nil {
		return nil
	}
	return c.remap()
}

// unmap is for a file that has grown and may not be looked at for a while.
func (c *cache) unmap() {
	if c.stale = true; c.pages != nil {
		return
	}
	if c.m != nil {
		c.m.Close()
	}
	c.m, c.data = nil, nil
}

// A record is previous offset u32, size u32 and fields: id u32, size u32 unless
// the type has a fixed one, data padded to 4.
const recordHead = 8

// record returns the record at off, without its head.
func (c *cache) record(off uint32) (body []byte, prev uint32, ok bool) {
	if uint64(off)+recordHead > uint64(len(c.data)) || off < cacheHeader || off%4 != 0 || !c.need(uint64(off), recordHead) {
		return nil, 0, false
	}
	prev = le.Uint32(c.data[off:])
	size := le.Uint32(c.data[off+4:])
	if size < recordHead || size%4 != 0 || uint64(off)+uint64(size) > uint64(len(c.data)) || prev >= off && prev != 0 || !c.need(uint64(off), uint64(size)) {
		return nil, 0, false
	}
	end := off + size
	if hole(c.data[off:end], uint64(off)) {
		return nil, 0, false
	}
	return c.data[off+recordHead : end : end], prev, true
}

// next takes the first field off a record's body. loose: sizes are always there.
func (c *cache) next(body []byte, loose bool) (id int, data, rest []byte, ok bool) {
	if len(body) < 4 {
		return 0, nil, nil, false
	}
	u := le.Uint32(body)
	if uint64(u) >= uint64(len(c.fields)) {
		return 0, nil, nil, false
	}
	id, body = int(u), body[4:]
	size := 0
	if f := &c.fields[id]; !loose && f.fixed() {
		size = f.size
	} else {
		if len(body) < 4 || le.Uint32(body) > uint32(len(body)) {
			return 0, nil, nil, false
		}
		size, body = int(le.Uint32(body)), body[4:]
	}
	padded := align(size, 4)
	if padded > len(body) {
		return 0, nil, nil, false
	}
	return id, body[:size:size], body[padded:], true
}

// lookup walks the chain at off and sets out[slot[id]] of each field that is
// wanted; the newest record of a field counts. It returns how many of want were
// found; ok false: the chain makes no sense.
func (c *cache) lookup(off uint32, slot []int8, out [][]byte, want int, n *counts) (found int, ok bool) {
	for depth := 0; off != 0; depth++ {
		body, prev, good := c.record(off)
		if !good || depth == maxChain {
			return found, false
		}
		n.records++
		for len(body) > 0 {
			id, data, rest, good := c.next(body, false)
			if !good {
				return found, false
			}
			body = rest
			if s := slot[id]; s >= 0 && out[s] == nil {
				out[s] = data
				n.decoded += int64(len(data))
				if found++; found == want {
					return found, true
				}
			}
		}
		off = prev
	}
	return found, true
}

// present sets have[id] for each field in the chain at off.
func (c *cache) present(off uint32, have []bool) (ok bool) {
	clear(have)
	for depth := 0; off != 0; depth++ {
		body, prev, good := c.record(off)
		if !good || depth == maxChain {
			return false
		}
		for len(body) > 0 {
			id, _, rest, good := c.next(body, false)
			if !good {
				return false
			}
			have[id], body = true, rest
		}
		off = prev
	}
	return true
}

// appendField appends a field to a record's body.
func (c *cache) appendField(b []byte, id int, data []byte, loose bool) []byte {
	b = le.AppendUint32(b, uint32(id))
	if loose || !c.fields[id].fixed() {
		b = le.AppendUint32(b, uint32(len(data)))
	}
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// header makes the file's first 32 bytes.
func (c *cache) header(indexID uint32) []byte {
	b := make([]byte, cacheHeader)
	b[0], b[1], b[2] = cacheMajor, 8, 1
	for i, x := range []uint32{indexID, c.seq, c.conts, c.count, 0, 0, c.first} {
		le.PutUint32(b[4+4*i:], x)
	}
	return b
}

// openWrite opens the cache file for writing.
func (m *mailbox) openWrite() (index.File, error) {
	return m.fs.OpenFile(m.path(cacheName), os.O_RDWR, 0o600)
}
