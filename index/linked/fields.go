package linked

import (
	"bytes"
	"strings"

	"mailbench/internal/rfc5322"
)

// Types of cached fields, as in the original.
const (
	typeFixed    = iota // size is the field's
	typeVariable        // binary
	typeString          //
	typeBitmask         // fixed, new bits are ORed in
	typeHeader          // line numbers u32..., 0, then the lines as they stand in the mail
	numTypes
)

// A decision says whether a field gets cached.
type decision uint8

// The decisions.
const (
	decideNo   decision = iota // nobody wants it
	decideTemp                 // of mail of the last week
	decideYes                  // of all mail
	decided    = 3             // mask
	forced     = 0x80          // by an option: use does not change it
)

func (d decision) String() string {
	s := [...]string{"no", "temp", "yes", "?"}[d&decided]
	if d&forced != 0 {
		s += " forced"
	}
	return s
}

// field is one entry of the registry.
type field struct {
	name     string
	typ      uint8
	size     int // of fixed ones and bitmasks
	decision decision
	lastUsed uint32 // unix seconds, at most a day old

	high uint32 // highest UID asked for in this session
	std  stdField
}

// stdField is the rfc5322.Field of a header, -1 when it has none.
type stdField int8

func (s stdField) Field() rfc5322.Field { return rfc5322.Field(s) }

func stdFieldOf(name string) stdField {
	for f := range rfc5322.NumFields {
		if strings.EqualFold(f.String(), name) {
			return stdField(f)
		}
	}
	return -1
}

func (f *field) fixed() bool { return f.typ == typeFixed || f.typ == typeBitmask }

// fromHeader reports whether reading the mail's header gives the field.
func (f *field) fromHeader() bool {
	return f.typ == typeHeader || strings.HasPrefix(f.name, fieldSent)
}

// Names of fields that are no headers.
const (
	fieldFlags    = "flags"
	fieldSent     = "date.sent"     // int64 unix seconds; noDate: the field cannot be used. With ":dovecot" as Dovecot reads dates
	fieldReceived = "date.received" // u32
	fieldVSize    = "size.virtual"  // u64
)

const (
	headerPrefix = "hdr."
	fieldDate    = "hdr.date"
)

// standard are the fields that a new cache file registers, used or not.
var standard = []field{
	{name: fieldFlags, typ: typeBitmask, size: 4},
	{name: fieldSent, typ: typeFixed, size: 8},
	{name: fieldReceived, typ: typeFixed, size: 4},
	{name: "date.save", typ: typeFixed, size: 4},
	{name: fieldVSize, typ: typeFixed, size: 8},
	{name: "size.physical", typ: typeFixed, size: 8},
	{name: "imap.body", typ: typeString},
	{name: "imap.bodystructure", typ: typeString},
	{name: "imap.envelope", typ: typeString},
	{name: "pop3.uidl", typ: typeString},
	{name: "pop3.order", typ: typeFixed, size: 4},
	{name: "guid", typ: typeString},
	{name: "mime.parts", typ: typeVariable},
	{name: "binary.parts", typ: typeVariable},
	{name: "body.snippet", typ: typeVariable},
}

// newField is the field of a name.
func newField(name string) field {
	for _, f := range standard {
		if f.name == name {
			return f
		}
	}
	if strings.HasPrefix(name, fieldSent) {
		return field{name: name, typ: typeFixed, size: 8}
	}
	return field{name: name, typ: typeHeader, std: stdFieldOf(strings.TrimPrefix(name, headerPrefix))}
}

const (
	day          = 86400
	maxFields    = 1000
	registryHead = 12 // next u32, size u32, fields u32
)

// encodeRegistry makes a registry block:
//
//	next u32, size u32, n u32, n * last used u32, n * size u32,
//	n * type u8, n * decision u8, names with NUL at the end; padded to 4
func encodeRegistry(fields []field) []byte {
	n := len(fields)
	b := make([]byte, registryHead, registryHead+10*n+24*n)
	for i := range fields {
		b = le.AppendUint32(b, fields[i].lastUsed)
	}
	for i := range fields {
		size := uint32(fields[i].size)
		if !fields[i].fixed() {
			size = ^uint32(0)
		}
		b = le.AppendUint32(b, size)
	}
	for i := range fields {
		b = append(b, fields[i].typ)
	}
	for i := range fields {
		b = append(b, byte(fields[i].decision))
	}
	for i := range fields {
		b = append(append(b, fields[i].name...), 0)
	}
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	le.PutUint32(b[4:], uint32(len(b)))
	le.PutUint32(b[8:], uint32(n))
	return b
}

// decodeRegistry reads the block at the start of b.
func decodeRegistry(b []byte) (fields []field, next uint32, ok bool) {
	if len(b) < registryHead {
		return nil, 0, false
	}
	size, n := le.Uint32(b[4:]), int(le.Uint32(b[8:]))
	if uint64(size) > uint64(len(b)) || n > maxFields || int(size) < registryHead+10*n {
		return nil, 0, false
	}
	next = le.Uint32(b)
	b = b[:size]
	names := b[registryHead+10*n:]
	fields = make([]field, n)
	for i := range fields {
		f := &fields[i]
		f.lastUsed = le.Uint32(b[registryHead+4*i:])
		f.typ = b[registryHead+8*n+i]
		f.decision = decision(b[registryHead+9*n+i])
		end := bytes.IndexByte(names, 0)
		if end <= 0 || f.typ >= numTypes || f.decision&decided == decided {
			return nil, 0, false
		}
		f.name, names = string(names[:end]), names[end+1:]
		if f.fixed() {
			f.size = int(le.Uint32(b[registryHead+4*n+4*i:]))
			if f.size > 1024 {
				return nil, 0, false
			}
		}
		want := newField(f.name)
		if want.typ != f.typ || want.size != f.size || f.typ == typeHeader && !strings.HasPrefix(f.name, headerPrefix) {
			return nil, 0, false
		}
		f.std = want.std
	}
	return fields, next, true
}

// use is the state machine of decisions: a field is asked for, of the mail with
// this UID. weekOld is the first UID of the last week; random: by a command
// that takes mail in any order (THREAD, SORT). It reports a change.
//
//	no    first use: temp
//	temp  use of mail older than a week, or out of order: yes
//
// What a client that keeps copies wants it asks for once, in ascending order.
func (f *field) use(uid, weekOld, now uint32, random bool) (changed bool) {
	if f.lastUsed+day <= now || f.lastUsed > now+day {
		f.lastUsed, changed = now, true
	}
	if f.decision&forced != 0 {
		return changed
	}
	if f.decision == decideNo {
		f.decision, changed = decideTemp, true
	}
	if f.decision == decideTemp && (random || uid < weekOld || uid < f.high) {
		f.decision, changed = decideYes, true
	}
	f.high = max(f.high, uid)
	return changed
}

// age is the other half, at a purge: a field that has not been used for a while
// is cached for new mail only, after twice that not at all. due: purging now
// would change something.
func (f *field) age(now uint32, after int64) (next decision, due bool) {
	unused := int64(now) - int64(f.lastUsed)
	switch {
	case f.decision&forced != 0:
		return f.decision, false
	case f.decision == decideYes && unused > after:
		if unused > 2*after {
			return decideNo, true
		}
		return decideTemp, true
	case f.decision == decideTemp && unused > 2*after:
		return decideNo, true
	}
	return f.decision, false
}
