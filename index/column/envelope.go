package column

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Envelopes are kept as blocks, each one zstd frame over the envelopes of the
// rows of one chunk: a window of a mailbox is one or two blocks to decode.
//
//	env      the frames, back to back
//	env.idx  per block: rows, stored bytes, raw bytes (varints)
type envelope struct {
	data, index []byte
}

type envBlock struct {
	rows, raw int
	data      []byte
}

func (e *envelope) take(c *chunk) {
	if c.packed != nil {
		e.block(envBlock{c.n, len(c.env), c.packed})
	}
	for _, b := range c.envBlocks {
		e.block(b)
	}
}

func (e *envelope) block(b envBlock) {
	e.data = append(e.data, b.data...)
	e.index = appendUint(e.index, uint64(b.rows))
	e.index = appendUint(e.index, uint64(len(b.data)))
	e.index = appendUint(e.index, uint64(b.raw))
}

// pack compresses the chunk's envelopes; readers do it, side by side.
func (c *chunk) pack() {
	c.packed = envEncoder().EncodeAll(c.env, c.packed[:0])
}

var envEncoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic("column: zstd encoder options: " + err.Error()) // constants: cannot happen
	}
	return e
})
