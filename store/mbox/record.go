package mbox

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"mailbench/mbox"
	"mailbench/store/catalog"
)

const (
	fromStart = "From MAILER-DAEMON "
	fromLen   = int64(len(fromStart) + len(time.ANSIC) + 1)
	sector    = 512
	maxPrefix = 1 << 10 // more than a prefix can have, see parse
)

// A record is what stands before a message, and where.
type record struct {
	off    int64 // of the From_ line
	prefix int64 // from there to the message
	state  int64 // from off to the state
	uid    uint32
	date   int64
	size   int64 // of the message
	vsize  int64 // with CRLF line ends
	quoted int64 // bytes that the quoting added
	open   int64 // 1: a line end was added
	width  int   // of the keywords
	sum    uint64
	now    state
	odd    bool // the state is damaged
}

// stored is the length of the message in the file.
func (r *record) stored() int64 { return r.size + r.quoted }

// end is where the next record begins.
func (r *record) end() int64 { return r.off + r.prefix + r.stored() + r.open + 1 }

// row is the record in the catalog.
func (r *record) row(gen int64) catalog.Row {
	return catalog.Row{Key: strconv.FormatUint(uint64(r.uid), 10), Flags: r.now.flags, Keywords: r.now.keywords, Dir: dirNone,
		Size: r.size, VSize: r.vsize, Date: r.date, Off: r.off, File: placeOf(gen, r)}
}

// errPrefix cannot happen: package mbox's writer has made something else of a
// record than was foreseen.
var errPrefix = errors.New("store/mbox: a record has come out in another length")

// writer writes records into b.
type writer struct {
	b      bytes.Buffer
	w      *mbox.Writer
	text   []byte // prefix and message
	quoted []byte
}

// message appends the record of a message that goes to r.off, and fills in what
// r has not: all but off, uid, date and the state.
func (w *writer) message(r *record, body []byte) error {
	w.quoted = mbox.Quote(w.quoted[:0], body)
	r.size, r.quoted = int64(len(body)), int64(len(w.quoted)-len(body))
	r.sum = xxhash.Sum64(w.quoted)
	r.open = 0
	if len(body) > 0 && body[len(body)-1] != '\n' {
		r.open = 1
	}
	return w.record(r, body)
}

// record appends a record of which all is known but the place of its parts.
func (w *writer) record(r *record, body []byte) error {
	if w.w == nil {
		w.w = mbox.NewWriter(&w.b)
	}
	w.text = append(r.lines(w.text[:0]), body...)
	before := w.b.Len()
	if err := w.w.Write("", time.Unix(r.date, 0), w.text); err != nil {
		return err
	}
	if int64(w.b.Len()-before) != r.end()-r.off {
		return errPrefix
	}
	return nil
}

// lines appends the prefix without the From_ line, and sets prefix and state.
func (r *record) lines(dst []byte) []byte {
	from := len(dst)
	dst = fmt.Appendf(dst, "X-UID: %d\nX-Mailbench: %d %d %d %d %d %016x ", r.uid, r.size, r.vsize, r.quoted, r.open, r.width, r.sum)
	dst = fmt.Appendf(dst, "%08x", r.headSum(appendFrom(nil, r.date), dst[from:]))
	length := int64(stateFixed + r.width)
	r.state = fromLen + int64(len(dst)-from) + 1
	if at := (r.off + r.state) % sector; at+length > sector { // B3
		for range sector - at {
			dst = append(dst, ' ')
		}
		r.state += sector - at
	}
	dst = append(dst, '\n')
	dst = r.now.append(dst, r.uid, r.width)
	r.prefix = r.state + length
	return dst
}

// headSum is 32 bits of the hash of the From_ line and the fields.
func (*record) headSum(from, fields []byte) uint32 {
	var d xxhash.Digest
	d.Reset()
	d.Write(from)
	d.Write(fields)
	return uint32(d.Sum64())
}

// appendFrom appends the From_ line of a date, as package mbox's writer does.
func appendFrom(dst []byte, date int64) []byte {
	dst = append(dst, fromStart...)
	dst = time.Unix(date, 0).UTC().AppendFormat(dst, time.ANSIC)
	return append(dst, '\n')
}

// The dates that a From_ line can have.
var (
	minDate = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	maxDate = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
)

// parse reads the prefix at the begin of b, of which maxPrefix bytes are enough.
// ok is false for everything that is none; nothing behind the prefix is looked at.
func (r *record) parse(b []byte) (ok bool) {
	if len(b) < int(fromLen) || string(b[:len(fromStart)]) != fromStart || b[fromLen-1] != '\n' {
		return false
	}
	date, err := time.Parse(time.ANSIC, string(b[len(fromStart):fromLen-1]))
	if err != nil {
		return false
	}
	p := fieldReader{b: b, at: int(fromLen), ok: true}
	p.literal("X-UID: ")
	uid := p.number(10, '\n')
	p.literal("X-Mailbench: ")
	size, vsize, quoted := p.number(18, ' '), p.number(18, ' '), p.number(18, ' ')
	open, width := p.number(1, ' '), p.number(3, ' ')
	sum := p.hex(16, ' ')
	fields := b[fromLen:max(p.at, int(fromLen))]
	headSum := p.hex(8, 0)
	for p.at < len(b) && b[p.at] == ' ' {
		p.at++
	}
	p.literal("\n")
	if !p.ok || uid == 0 || uid >= 1<<32 || open > 1 || width > maxWidth || size+quoted >= 1<<60 || vsize >= 1<<60 ||
		r.headSum(b[:fromLen], fields) != uint32(headSum) {
		return false
	}
	length := stateFixed + int(width)
	if len(b) < p.at+length {
		return false
	}
	*r = record{off: r.off, prefix: int64(p.at + length), state: int64(p.at), uid: uint32(uid), date: date.Unix(),
		size: int64(size), vsize: int64(vsize), quoted: int64(quoted), open: int64(open), width: int(width), sum: sum}
	r.now, ok = parseState(b[p.at:p.at+length], r.uid, r.width)
	r.odd = !ok
	return true
}

// A fieldReader takes a line apart; after the first thing that is not as it
// should be ok is false.
type fieldReader struct {
	b  []byte
	at int
	ok bool
}

func (p *fieldReader) literal(s string) {
	if p.ok = p.ok && bytes.HasPrefix(p.b[p.at:], []byte(s)); p.ok {
		p.at += len(s)
	}
}

// number reads up to so many digits and the byte behind them.
func (p *fieldReader) number(digits int, end byte) uint64 {
	from := p.at
	for p.at < len(p.b) && p.at-from < digits && p.b[p.at]-'0' <= 9 {
		p.at++
	}
	v, err := strconv.ParseUint(string(p.b[from:p.at]), 10, 64)
	p.ok = p.ok && err == nil
	p.literal(string(rune(end)))
	return v
}

// hex reads so many digits and, unless it is 0, the byte behind them.
func (p *fieldReader) hex(digits int, end byte) uint64 {
	from := p.at
	if p.ok = p.ok && from+digits <= len(p.b); !p.ok {
		return 0
	}
	p.at += digits
	v, err := strconv.ParseUint(string(p.b[from:p.at]), 16, 64)
	p.ok = p.ok && err == nil
	if end != 0 {
		p.literal(string(rune(end)))
	}
	return v
}
