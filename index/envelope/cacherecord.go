package envelope

import (
	"bytes"
	"encoding/binary"

	"mailbench/index"
)

// maxValue is the longest field value that is cached.
const maxValue = 32 << 10

// The nstrings of an envelope: 0 NIL, 1 too long to be cached, else length + 2.
const (
	valueNil  = 0
	valueLong = 1
	valueBase = 2
)

// Items of a cache record: each is its length (u32), its bytes and padding to 4.
const (
	itemEnvelope = iota
	itemHeaders
	itemFields
	numItems
)

// envelopeField is the position of a field in index.EnvelopeFields, -1.
func envelopeField(name string) int {
	for i, f := range index.EnvelopeFields {
		if equalFold(name, f) {
			return i
		}
	}
	return -1
}

// equalFold compares ASCII names in any case.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && equalFold(s[:len(prefix)], prefix)
}

var (
	listFields  = [...]string{"References", "Precedence", "Priority", "Newsgroups", "Followup-To", "Content-Type", "Content-Transfer-Encoding"}
	neverFields = [...]string{"Received", "Return-Path", "Delivery-Date", "Envelope-To", "MIME-Version", "DKIM-Signature", "DomainKey-Signature"}
	xFields     = [...]string{"X-Mailer", "X-Trace", "X-Priority", "X-MSMail-Priority", "X-Ref"}
)

// cachedField reports whether a field that is not of the envelope is cached.
func cachedField(name string, flavour uint32) bool {
	if flavour&flavourList != 0 {
		if hasPrefixFold(name, "List-") {
			return true
		}
		return among(name, listFields[:])
	}
	if hasPrefixFold(name, "X-") {
		return among(name, xFields[:])
	}
	return !among(name, neverFields[:])
}

func among(name string, list []string) bool {
	for _, f := range list {
		if equalFold(name, f) {
			return true
		}
	}
	return false
}

// eachField calls fn with the name and the raw value of each field of a
// header, as rfc5322.Get would find it.
func eachField(h []byte, fn func(name, raw []byte)) {
	for len(h) > 0 && h[0] != '\n' && !bytes.HasPrefix(h, []byte("\r\n")) {
		end := 0
		for {
			n := bytes.IndexByte(h[end:], '\n')
			if n < 0 {
				end = len(h)
				break
			}
			end += n + 1
			if end == len(h) || h[end] != ' ' && h[end] != '\t' {
				break
			}
		}
		line := h[:end]
		h = h[end:]
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			continue
		}
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 && nl < colon {
			continue // the colon of a continuation
		}
		if name := bytes.TrimRight(line[:colon], " \t"); len(name) > 0 {
			fn(name, line[colon+1:])
		}
	}
}

// A maker makes cache records. It is for one goroutine.
type maker struct {
	x       index.Extractor
	f       index.Fields
	flavour uint32
	value   []byte
	env     [10][2]int // of each envelope field: start and end in text; end < 0: none, too long
	text    []byte
	head    []byte
}

func newMaker(m *mailbox) *maker {
	return &maker{x: index.Extractor{Want: index.WantAll, Compat: m.cfg.Options.Compat}, flavour: m.flavour}
}

// append appends the cache record of a header to dst; mk.f has the fields.
func (mk *maker) append(dst, header []byte) []byte {
	mk.x.Extract(header, &mk.f)
	for i := range mk.env {
		mk.env[i] = [2]int{0, -1}
	}
	mk.text, mk.head = mk.text[:0], mk.head[:0]
	eachField(header, func(name, raw []byte) {
		if i := envelopeField(string(name)); i >= 0 {
			if e := &mk.env[i]; *e == [2]int{0, -1} {
				*e = [2]int{len(mk.text), -2}
				if v := index.AppendValue(mk.value[:0], raw); len(v) <= maxValue {
					mk.text = append(mk.text, v...)
					e[1] = len(mk.text)
					mk.value = v
				}
			}
			return
		}
		if len(name) > 255 || !cachedField(string(name), mk.flavour) {
			return
		}
		mk.head = append(append(mk.head, byte(len(name))), name...)
		v := index.AppendValue(mk.value[:0], raw)
		mk.value = v[:0]
		if len(v) > maxValue {
			mk.head = binary.AppendUvarint(mk.head, valueLong)
			return
		}
		mk.head = append(binary.AppendUvarint(mk.head, uint64(len(v)+valueBase)), v...)
	})
	dst, at := beginItem(dst)
	for _, e := range mk.env {
		switch {
		case e[1] >= 0:
			dst = binary.AppendUvarint(dst, uint64(e[1]-e[0]+valueBase))
			dst = append(dst, mk.text[e[0]:e[1]]...)
		case e[1] == -2:
			dst = append(dst, valueLong)
		default:
			dst = append(dst, valueNil)
		}
	}
	dst = endItem(dst, at)
	dst, at = beginItem(dst)
	dst = endItem(append(dst, mk.head...), at)
	dst, at = beginItem(dst)
	return endItem(index.AppendFields(dst, &mk.f), at)
}

func beginItem(dst []byte) ([]byte, int) {
	dst = append(dst, 0, 0, 0, 0)
	return dst, len(dst)
}

func endItem(dst []byte, at int) []byte {
	le.PutUint32(dst[at-4:], uint32(len(dst)-at))
	for (len(dst)-at)%4 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

// items cuts a cache record.
func items(b []byte) (item [numItems][]byte, ok bool) {
	for i := range item {
		if len(b) < 4 {
			return item, false
		}
		n := uint64(le.Uint32(b))
		padded := (n + 3) &^ 3
		if padded > uint64(len(b)-4) {
			return item, false
		}
		item[i], b = b[4:4+n:4+n], b[4+padded:]
	}
	return item, len(b) == 0
}

// nstring reads one: v nil: NIL; long: it is not cached.
func nstring(b []byte) (v, rest []byte, long, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n >= valueBase && n-valueBase > uint64(len(b)-k) {
		return nil, nil, false, false
	}
	b = b[k:]
	switch n {
	case valueNil:
		return nil, b, false, true
	case valueLong:
		return nil, b, true, true
	}
	n -= valueBase
	return b[:n:n], b[n:], false, true
}

// envelopeValues fills values with the ten nstrings; long has a bit for each
// that is not cached.
func envelopeValues(b []byte, values *[10][]byte) (long uint16, ok bool) {
	for i := range values {
		var isLong bool
		if values[i], b, isLong, ok = nstring(b); !ok {
			return 0, false
		}
		if isLong {
			long |= 1 << i
		}
	}
	return long, len(b) == 0
}

// headerValue finds the first field of a name in the item of headers.
func headerValue(b []byte, name string) (v []byte, long, ok bool) {
	for len(b) > 0 {
		n := int(b[0])
		if n >= len(b) {
			return nil, false, false
		}
		field := b[1 : 1+n]
		v, rest, long, ok := nstring(b[1+n:])
		if !ok || v == nil && !long {
			return nil, false, false
		}
		if equalFold(string(field), name) {
			return v, long, true
		}
		b = rest
	}
	return nil, false, true
}
