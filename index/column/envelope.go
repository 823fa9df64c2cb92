package column

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/zstd"

	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
)

// Envelopes are kept in blocks, each one zstd frame over at most envRows
// neighbouring rows, the frames back to back in part env. Part env.idx has for
// each block: rows, stored bytes, raw bytes (varints). A block is
//
//	rows                varint
//	bits    length, then per row: the fields that are there, envParent, envDate (varint)
//	dates   length, then per row with envDate: code of its Date (see dateCode)
//	fields  for each of envelopeFields: length, then per row that has it the
//	        length of its bytes; length, then the bytes
//
// so that like stands beside like. With envParent In-Reply-To is "<id>" with
// the last of the row's references and is not in the block: the message that
// has this id has it in its Message-ID. Where no earlier row has the id, part
// env.irt has the text: per such row its distance to the one before (or to the
// segment's first row), length, bytes.
//
// Why 1,024 rows: a reply's lists of addresses are its parent's, and the
// parent is rarely nearer. 256 rows take 128 bytes per message where 1,024
// take 99 and 4,096 take 82 (377,307 list mails), but a single envelope costs
// the decoding of a block, about a millisecond for 1,024.
const envRows = 1024

// envelopeFields are kept as they stand, unfolded, with fields=envelope.
var envelopeFields = [...]rfc5322.Field{
	rfc5322.Date, rfc5322.Subject, rfc5322.From, rfc5322.Sender, rfc5322.ReplyTo,
	rfc5322.To, rfc5322.Cc, rfc5322.Bcc, rfc5322.InReplyTo, rfc5322.MessageID,
}

const (
	envFields    = len(envelopeFields)
	envParent    = 1 << envFields       // In-Reply-To is the last reference
	envDate      = 1 << (envFields + 1) // Date is a code and what stands behind it
	envInReplyTo = 8                    // place of In-Reply-To in envelopeFields
)

// An envChunk collects envelopes of neighbouring rows.
type envChunk struct {
	rows  int
	bits  []byte
	dates []byte
	lens  [envFields][]byte
	text  [envFields][]byte
	irt   mailsort.Arena // one string per row: In-Reply-To of those with envParent

	packed  []byte
	scratch []byte
	raw     []byte
}

func (e *envChunk) reset() {
	e.rows, e.bits, e.dates, e.packed = 0, e.bits[:0], e.dates[:0], e.packed[:0]
	for i := range e.lens {
		e.lens[i], e.text[i] = e.lens[i][:0], e.text[i][:0]
	}
	e.irt.Reset()
}

// add takes the envelope of a message: value(i) is field i unfolded, ok false
// when it is absent. date is the sent date and ok when it comes from Date;
// parent reports whether In-Reply-To is the row's last reference.
func (e *envChunk) add(value func(i int) (v []byte, ok bool), date int64, dateOK bool, parent bool) {
	var bits uint64
	e.rows++
	irt := false
	for i := range envelopeFields {
		v, ok := value(i)
		if !ok {
			continue
		}
		bits |= 1 << i
		switch {
		case i == 0 && dateOK:
			var code uint64
			code, v, e.scratch = dateCode(v, date, e.scratch)
			if code != 0 {
				bits |= envDate
				e.dates = appendUint(e.dates, code)
			}
		case i == envInReplyTo && parent:
			bits |= envParent
			e.irt.Append(v)
			irt = true
			continue
		}
		e.lens[i] = appendUint(e.lens[i], uint64(len(v)))
		e.text[i] = append(e.text[i], v...)
	}
	if !irt {
		e.irt.Append(nil)
	}
	e.bits = appendUint(e.bits, bits)
}

// pack compresses what was added; readers do it, side by side.
func (e *envChunk) pack() envBlock {
	b := appendUint(e.raw[:0], uint64(e.rows))
	put := func(s []byte) {
		b = appendUint(b, uint64(len(s)))
		b = append(b, s...)
	}
	put(e.bits)
	put(e.dates)
	for i := range e.lens {
		put(e.lens[i])
		put(e.text[i])
	}
	e.raw = b
	e.packed = envEncoder().EncodeAll(b, e.packed[:0])
	return envBlock{rows: e.rows, raw: len(b), data: e.packed}
}

// envBlock is a packed block.
type envBlock struct {
	rows, raw int
	data      []byte
}

// isParent reports whether raw, an In-Reply-To field unfolded, is "<id>".
func isParent(raw, id []byte) bool {
	return len(raw) == len(id)+2 && raw[0] == '<' && raw[len(raw)-1] == '>' && bytes.Equal(raw[1:len(raw)-1], id)
}

// envWriter makes the parts of a segment.
type envWriter struct {
	data, index, irt []byte
	last             int // row of the last irt
}

func (w *envWriter) block(b envBlock) {
	w.data = append(w.data, b.data...)
	w.index = appendUint(w.index, uint64(b.rows))
	w.index = appendUint(w.index, uint64(len(b.data)))
	w.index = appendUint(w.index, uint64(b.raw))
}

// orphan keeps the In-Reply-To of a row (counted within the segment) whose
// parent is not among the earlier rows.
func (w *envWriter) orphan(row int, v []byte) {
	w.irt = appendUint(w.irt, uint64(row-w.last))
	w.irt = appendUint(w.irt, uint64(len(v)))
	w.irt = append(w.irt, v...)
	w.last = row
}

func (w *envWriter) parts(rows int) []part {
	return []part{{name: "env", rows: rows, b: w.data}, {name: "env.idx", rows: rows, b: w.index}, {name: "env.irt", rows: rows, b: w.irt}}
}

var envEncoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(2))
	if err != nil {
		panic("column: zstd encoder options: " + err.Error()) // constants: cannot happen
	}
	return e
})
