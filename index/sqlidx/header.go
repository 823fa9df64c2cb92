package sqlidx

import (
	"crypto/sha256"
	"encoding/binary"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// value is a row of headervalue to be. Bytes are pieces of a reader's arena.
type value struct {
	there         bool
	text          []byte
	sort, display []byte // nil: NULL
	date          int64
	hasDate       bool
	reply         bool
}

// hash names a value: the same text under another name has other keys, so the
// keys are part of it. 128 bits of SHA-256: nobody makes two values of one hash.
func (v *value) hash(scratch []byte) ([]byte, [16]byte) {
	b := scratch[:0]
	for _, s := range [][]byte{v.text, v.sort, v.display} {
		n := len(s) + 1
		if s == nil {
			n = 0
		}
		b = binary.AppendUvarint(b, uint64(n))
		b = append(b, s...)
	}
	if v.hasDate {
		b = binary.LittleEndian.AppendUint64(b, uint64(v.date))
	}
	if v.reply {
		b = append(b, 1)
	}
	sum := sha256.Sum256(b)
	return b, [16]byte(sum[:16])
}

// args are the columns after id.
func (v *value) args(hash []byte) []any {
	a := []any{hash, v.text, nil, nil, nil, nil}
	if v.sort != nil {
		a[2] = v.sort
	}
	if v.display != nil {
		a[3] = v.display
	}
	if v.hasDate {
		a[4] = v.date
	}
	if v.reply {
		a[5] = 1
	}
	return a
}

// A reader makes values of headers. It is for one goroutine.
type reader struct {
	compat index.Compat
	ids    index.Extractor
	idsOf  index.Fields
	head   rfc5322.Header
	arena  []byte
}

// cut returns what was appended to the arena since from. Earlier pieces stay
// valid when the arena moves: nothing is written there again.
func (r *reader) cut(from int) []byte { return r.arena[from:len(r.arena):len(r.arena)] }

func (r *reader) keep(b []byte) []byte {
	from := len(r.arena)
	r.arena = append(r.arena, b...)
	return r.cut(from)
}

// read fills it with the fields of header that it.want names.
func (r *reader) read(header []byte, it *item) {
	if r.arena == nil {
		r.arena = make([]byte, 0, 64<<10) // pieces of nothing would be NULL
	}
	rfc5322.Scan(header, it.want, &r.head)
	for f := range rfc5322.NumFields {
		if it.want&r.head.Present&f.Mask() == 0 {
			continue
		}
		raw, v := r.head.Raw(header, f), &it.values[f]
		v.there = true
		from := len(r.arena)
		r.arena = index.AppendValue(r.arena, raw)
		v.text = r.cut(from)
		from = len(r.arena)
		switch f {
		case rfc5322.Subject:
			r.arena, v.reply = r.compat.SubjectKey(r.arena, raw)
			v.sort = r.cut(from)
		case rfc5322.From, rfc5322.To, rfc5322.Cc:
			r.arena = r.compat.AddressKey(r.arena, raw)
			v.sort = r.cut(from)
			from = len(r.arena)
			r.arena = r.compat.DisplayKey(r.arena, raw)
			v.display = r.cut(from)
		case rfc5322.Date:
			v.date, v.hasDate = rfc5322.ParseDateCompat(raw, rfc5322.Compat(r.compat))
		}
	}
	if it.want&rfc5322.MessageID.Mask() == 0 {
		return
	}
	r.ids.Want, r.ids.Compat = index.WantIDs, r.compat
	r.ids.Extract(header, &r.idsOf)
	if r.idsOf.ID != nil {
		it.values[rfc5322.MessageID].sort = r.keep(r.idsOf.ID)
	}
	for _, ref := range r.idsOf.Refs {
		it.refs = append(it.refs, r.keep(ref))
	}
}
