package linked

import (
	"mailbench/index"
)

const (
	logMajor  = 1
	logHeader = 40
)

// Types of log records.
const (
	recBoundary = 1 + iota
	recAppend
	recExpunge
	recFlags
	recHeader
	recExtIntro
	recExtReset
	recExtHdr
	recExtRec
	recModSeq
)

// A log record that destroys must say so twice.
const protect = 0xcd90

// logHead is the header of a log file.
type logHead struct {
	indexID, seq        uint32
	prevSeq, prevOffset uint32
	created             uint32
	modseq              uint64 // highest when the file was begun
}

func (h *logHead) encode() []byte {
	b := make([]byte, logHeader)
	b[0], b[1] = logMajor, 3
	le.PutUint16(b[2:], logHeader)
	for i, x := range []uint32{h.indexID, h.seq, h.prevSeq, h.prevOffset, h.created} {
		le.PutUint32(b[4+4*i:], x)
	}
	le.PutUint64(b[24:], h.modseq)
	b[32] = 1
	return b
}

func (h *logHead) decode(b []byte) bool {
	if len(b) < logHeader || b[0] != logMajor || le.Uint16(b[2:]) != logHeader || b[32] != 1 {
		return false
	}
	*h = logHead{indexID: le.Uint32(b[4:]), seq: le.Uint32(b[8:]), prevSeq: le.Uint32(b[12:]), prevOffset: le.Uint32(b[16:]), created: le.Uint32(b[20:]), modseq: le.Uint64(b[24:])}
	return h.indexID != 0 && h.seq != 0
}

// A trans is a transaction in the making: a boundary and its records.
type trans struct{ b []byte }

func newTrans() *trans {
	t := &trans{}
	t.record(recBoundary, le.AppendUint32(nil, 0))
	return t
}

// bytes finishes the transaction.
func (t *trans) bytes() []byte {
	le.PutUint32(t.b[8:], uint32(len(t.b)))
	return t.b
}

func (t *trans) empty() bool { return len(t.b) <= 12 }

// begin starts a record; end gives it its size.
func (t *trans) begin(typ uint32) int {
	at := len(t.b)
	t.b = le.AppendUint32(t.b, 0)
	t.b = le.AppendUint32(t.b, typ)
	return at
}

func (t *trans) end(at int) {
	for len(t.b)%4 != 0 {
		t.b = append(t.b, 0)
	}
	le.PutUint32(t.b[at:], uint32(len(t.b)-at))
}

func (t *trans) record(typ uint32, body []byte) {
	at := t.begin(typ)
	t.b = append(t.b, body...)
	t.end(at)
}

func (t *trans) modSeq(m uint64) { t.record(recModSeq, le.AppendUint64(nil, m)) }

// Places of header updates.
const (
	hdrUIDValidity = 24
	hdrUIDNext     = 28
	hdrDay         = 72 // stamp and eight UIDs
)

func (t *trans) header(offset int, values ...uint32) {
	at := t.begin(recHeader)
	t.b = le.AppendUint16(t.b, uint16(offset))
	t.b = le.AppendUint16(t.b, uint16(4*len(values)))
	for _, x := range values {
		t.b = le.AppendUint32(t.b, x)
	}
	t.end(at)
}

// intro says which extension the records after it are about: by number, or,
// when v has no such, by name.
func (t *trans) intro(v *view, name string, reset uint32, recSize int) {
	id := ^uint32(0)
	for i := range v.exts {
		if v.exts[i].name == name {
			id = uint32(i)
		}
	}
	at := t.begin(recExtIntro)
	t.b = le.AppendUint32(t.b, id)
	t.b = le.AppendUint32(t.b, reset)
	t.b = le.AppendUint32(t.b, 0)
	t.b = le.AppendUint16(t.b, uint16(recSize))
	t.b = le.AppendUint16(t.b, uint16(recSize))
	t.b = le.AppendUint16(t.b, 1)
	if id != ^uint32(0) {
		t.b = le.AppendUint16(t.b, 0)
	} else {
		t.b = le.AppendUint16(t.b, uint16(len(name)))
		t.b = append(t.b, name...)
	}
	t.end(at)
}

func (t *trans) reset(id uint32) { t.record(recExtReset, le.AppendUint32(le.AppendUint32(nil, id), 0)) }

func (t *trans) extHdr(data []byte) {
	at := t.begin(recExtHdr)
	t.b = le.AppendUint32(t.b, 0)
	t.b = le.AppendUint32(t.b, uint32(len(data)))
	t.b = append(t.b, data...)
	t.end(at)
}

// walk calls fn for the records of each whole transaction in b and returns the
// bytes of whole transactions. What follows them is torn.
func walk(b []byte, fn func(typ uint32, body []byte) bool) (whole int) {
	for {
		r := b[whole:]
		if len(r) < 12 || le.Uint32(r) != 12 || le.Uint32(r[4:]) != recBoundary {
			return whole
		}
		size := le.Uint32(r[8:])
		if size < 12 || uint64(size) > uint64(len(r)) || size%4 != 0 {
			return whole
		}
		body := r[12:size]
		for at := 0; at < len(body); { // first: does it hold together?
			if len(body)-at < 8 {
				return whole
			}
			n := le.Uint32(body[at:])
			if n < 8 || uint64(n) > uint64(len(body)-at) || n%4 != 0 {
				return whole
			}
			at += int(n)
		}
		for at := 0; at < len(body); {
			n := int(le.Uint32(body[at:]))
			if fn != nil && !fn(le.Uint32(body[at+4:]), body[at+8:at+n]) {
				return whole
			}
			at += n
		}
		whole += int(size)
	}
}

// structural reports whether b has records that change rows a client sees.
func structural(b []byte) (yes bool) {
	walk(b, func(typ uint32, _ []byte) bool {
		if typ == recAppend || typ == recExpunge|protect<<16 || typ == recFlags {
			yes = true
		}
		return !yes
	})
	return yes
}

// apply brings v up to date with whole transactions. With rows not loaded only
// what concerns headers counts. An error: v is of no use any more.
func (v *view) apply(b []byte) error {
	var cur *ext   // of the last intro
	stale := false // its reset id is not the extension's
	var seq uint64 // MODSEQ of this transaction's changes, 0: none
	bad := ""
	whole := walk(b, func(typ uint32, r []byte) bool {
		if typ == recExtIntro { // a transaction's first record resets nothing else
			cur, stale, bad = v.intro(r)
			return bad == ""
		}
		switch typ {
		case recModSeq:
			if len(r) != 8 {
				bad = "modseq"
				break
			}
			seq = le.Uint64(r)
			v.hdr.modseq = max(v.hdr.modseq, seq)
			if len(v.uid) == 0 && v.rows && v.hdr.baseModSeq == 0 {
				v.hdr.baseModSeq = seq
			}
		case recAppend:
			bad = v.applyAppend(r, seq)
		case recExpunge | protect<<16:
			bad = v.applyExpunge(r)
		case recFlags:
			bad = v.applyFlags(r, seq)
		case recHeader:
			bad = v.applyHeader(r)
		case recExtReset:
			if cur == nil || len(r) != 8 {
				bad = "reset"
				break
			}
			cur.reset, stale = le.Uint32(r), false
			v.hdr.resets++
			clear(cur.rec)
			if cur.name == extCache {
				v.live = 0
			}
		case recExtHdr:
			if cur == nil || len(r) < 8 || int64(le.Uint32(r[4:])) > int64(len(r)-8) || le.Uint32(r) != 0 {
				bad = "extension header"
				break
			}
			cur.hdr = append(cur.hdr[:0:0], r[8:8+le.Uint32(r[4:])]...)
		case recExtRec:
			if cur == nil || len(r)%8 != 0 {
				bad = "extension records"
				break
			}
			if stale || !v.rows {
				break
			}
			if cur.rec == nil {
				cur.rec = make([]uint32, len(v.uid), cap(v.uid))
			}
			v.applyRecs(cur, r, seq)
		case recBoundary:
		default:
			bad = "type"
		}
		return bad == ""
	})
	if bad != "" || whole != len(b) {
		return corrupt(logFile, "record: %s", bad)
	}
	return nil
}

func (v *view) intro(r []byte) (e *ext, stale bool, bad string) {
	if len(r) < 20 {
		return nil, false, "intro"
	}
	id, reset, size, name := le.Uint32(r), le.Uint32(r[4:]), int(le.Uint16(r[12:])), int(le.Uint16(r[18:]))
	if size != 0 && size != 4 || name > len(r)-20 {
		return nil, false, "intro"
	}
	if id == ^uint32(0) {
		n := string(r[20 : 20+name])
		if e = v.ext(n); e == nil {
			if len(v.exts) == maxExtNumber || n == "" || n == extModSeq {
				return nil, false, "intro"
			}
			v.exts = append(v.exts, ext{name: n, reset: reset, size: size})
			e = &v.exts[len(v.exts)-1]
		}
	} else {
		if uint64(id) >= uint64(len(v.exts)) {
			return nil, false, "intro"
		}
		e = &v.exts[id]
	}
	e.size = max(e.size, size)
	return e, e.reset != reset, ""
}

// lookup is a cursor over ascending UIDs: mostly the next row is meant.
func (v *view) seek(from int, uid uint32) (int, bool) {
	if from < len(v.uid) && v.uid[from] == uid {
		return from, true
	}
	return v.row(uid)
}

func (v *view) applyRecs(e *ext, r []byte, seq uint64) {
	at := 0
	for ; len(r) > 0; r = r[8:] {
		i, ok := v.seek(at, le.Uint32(r))
		if !ok || v.flags[i] == deadRow {
			continue // expunged meanwhile
		}
		x := le.Uint32(r[4:])
		if e.name == extCache && v.live > 0 {
			if x != 0 {
				v.live++
			}
			if e.rec[i] != 0 {
				v.live--
			}
		}
		e.rec[i] = x
		if seq != 0 && e.name == extKeywords {
			v.touch(i, seq)
		}
		at = i + 1
	}
}

func (v *view) applyAppend(r []byte, seq uint64) (bad string) {
	if len(r)%recordBase != 0 {
		return "append"
	}
	for ; len(r) > 0; r = r[recordBase:] {
		uid, f := le.Uint32(r), r[4]
		n := len(v.uid)
		if uid == 0 || uid == ^uint32(0) || n > 0 && uid <= v.uid[n-1] || uid < v.hdr.uidNext && v.hdr.uidNext > 1 || f>>6 > index.DirNone {
			return "append"
		}
		if v.rows {
			v.append(uid, f)
			v.counted(f, 1)
			if seq != 0 {
				v.touch(n, seq)
			}
		}
		v.hdr.uidNext = uid + 1
	}
	return ""
}

func (v *view) applyExpunge(r []byte) (bad string) {
	if len(r)%8 != 0 {
		return "expunge"
	}
	var cached []uint32
	if v.live > 0 {
		cached = v.recs(extCache)
	}
	last := -1
	for ; len(r) > 0; r = r[8:] {
		from, to := le.Uint32(r), le.Uint32(r[4:])
		i, _ := v.row(from)
		for ; i < len(v.uid) && v.uid[i] <= to; i++ {
			if i <= last {
				return "expunge"
			}
			if last = i; v.flags[i] == deadRow {
				continue
			}
			v.counted(v.flags[i], -1)
			v.flags[i] = deadRow
			v.dead = append(v.dead, i)
			if cached != nil && cached[i] != 0 {
				v.live--
			}
		}
	}
	return ""
}

// flagNoModSeq marks a change that no client sees: of the folder.
const flagNoModSeq = 1

func (v *view) applyFlags(r []byte, seq uint64) (bad string) {
	if len(r)%12 != 0 {
		return "flags"
	}
	for ; len(r) > 0; r = r[12:] {
		from, to, add, remove, how := le.Uint32(r), le.Uint32(r[4:]), r[8], r[9], le.Uint16(r[10:])
		i, _ := v.row(from)
		for ; i < len(v.uid) && v.uid[i] <= to; i++ {
			if v.flags[i] == deadRow {
				continue
			}
			v.counted(v.flags[i], -1)
			v.flags[i] = v.flags[i]&^remove | add
			v.counted(v.flags[i], 1)
			if v.flags[i]>>6 > index.DirNone {
				return "flags"
			}
			if seq != 0 && how&flagNoModSeq == 0 {
				v.touch(i, seq)
			}
		}
	}
	return ""
}

func (v *view) applyHeader(r []byte) (bad string) {
	if len(r) < 4 {
		return "header"
	}
	at, size := int(le.Uint16(r)), int(le.Uint16(r[2:]))
	r = r[4:]
	if size > len(r) || size%4 != 0 || at%4 != 0 {
		return "header"
	}
	for ; size > 0; at, size, r = at+4, size-4, r[4:] {
		x := le.Uint32(r)
		switch {
		case at == hdrUIDValidity:
			v.hdr.uidValidity = x
		case at == hdrUIDNext:
			v.hdr.uidNext = max(v.hdr.uidNext, x)
		case at == hdrDay:
			v.hdr.dayStamp = x
		case at > hdrDay && at < hdrDay+36:
			v.hdr.dayFirst[(at-hdrDay)/4-1] = x
		default:
			return "header"
		}
	}
	return ""
}
