package column

// parentIDs keeps the Message-IDs of the blocks that were decoded last. An
// In-Reply-To is stored as whose Message-ID it is, and parents lie all over a
// mailbox: without this, reading envelopes in UID order decodes a block for
// every fifth message or so instead of for every thousandth.
type parentIDs struct {
	blocks map[int]idBlock // by first row
	order  []int           // oldest first
	bytes  int
}

// idBlock is the ids of a block: row first+i has text[off[i]:off[i+1]].
type idBlock struct {
	text []byte
	off  []uint32
}

// parentBytes bounds what is kept: the ids of about 300,000 messages.
const parentBytes = 16 << 20

func (b *idBlock) bytes() int { return len(b.text) + 4*len(b.off) }

// keep takes the ids of a decoded block.
func (p *parentIDs) keep(first int, rows []envRow) {
	if _, ok := p.blocks[first]; ok {
		return
	}
	n := 0
	for i := range rows {
		n += len(rows[i].v[envFields-1])
	}
	b := idBlock{text: make([]byte, 0, n), off: make([]uint32, 1, len(rows)+1)}
	for i := range rows {
		b.text = append(b.text, rows[i].v[envFields-1]...)
		b.off = append(b.off, uint32(len(b.text)))
	}
	if p.blocks == nil {
		p.blocks = map[int]idBlock{}
	}
	p.blocks[first] = b
	p.order = append(p.order, first)
	for p.bytes += b.bytes(); p.bytes > parentBytes && len(p.order) > 1; p.order = p.order[1:] {
		old := p.blocks[p.order[0]]
		p.bytes -= old.bytes()
		delete(p.blocks, p.order[0])
	}
}

// of is the raw Message-ID of a row of the block that begins with first.
func (p *parentIDs) of(first, row int) (raw []byte, ok bool) {
	b, ok := p.blocks[first]
	if !ok || row-first+1 >= len(b.off) {
		return nil, false
	}
	return b.text[b.off[row-first]:b.off[row-first+1]], true
}
