package column

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/fsys"
	"mailbench/internal/rfc5322"
)

// TailFile has what Cache was told of messages that are not in the cache yet.
const TailFile = "mailbench.tail"

// The tail is a header and frames, one for each call of Cache:
//
//	header  magic "mbtail\0\1", id of the index u64, salt u64, uidvalidity u32, 0 u32, xxhash64 of these
//	frame   length of it all u32, raw length u32 (0: not compressed), xxhash64 of salt, both lengths and payload, payload
//	payload records, as one zstd frame if that is shorter
//
//	record  uid, INTERNALDATE (zigzag), stored size, 1 + RFC822.SIZE or 0: varints
//	        share in the hash of the set (index.Base.Hash) u64 * 2
//	        which of tailFields are there u16, then length (varint) and raw value of each
//	        1 + length of the BODYSTRUCTURE or 0 (varint), its bytes
//
// Records ascend by UID. A frame that does not check ends the file: it was
// torn, or the mail is read instead. The share in the hash of the set says of
// which message a record is, so one of another history of the index is not used.
//
// When there are enough of them (tailBounds), or a question needs them, the records
// become rows of the cache like mail that is read; the next frame then begins
// the file anew, under another salt.
const (
	tailMagic = "mbtail\x00\x01"
	tailHead  = 40
	frameHead = 16

	tailRows  = 2048
	tailBytes = 2 << 20
	tailShare = 24       // of so many rows one may be a record instead, if that is more
	tailMost  = 64 << 20 // where rows before it are missing in the cache, too
	maxTail   = 256 << 20
)

// tailFields are kept raw, as they stand after the colon.
var tailFields = [...]rfc5322.Field{
	rfc5322.Date, rfc5322.Subject, rfc5322.From, rfc5322.Sender, rfc5322.ReplyTo, rfc5322.To,
	rfc5322.Cc, rfc5322.Bcc, rfc5322.InReplyTo, rfc5322.MessageID, rfc5322.References,
}

var tailMask = func() (m rfc5322.Mask) {
	for _, f := range tailFields {
		m |= f.Mask()
	}
	return m
}()

// tail is the tail file in memory.
type tail struct {
	name  string
	ident identity // without compat
	salt  uint64
	end   int64 // of the last whole frame; 0: there is no file, or not one of this index
	recs  []tailRec
	bytes int        // of them
	f     index.File // for writing; nil: nothing has been written
	info  fsys.Info  // of the file that was read
}

// tailRec is one message's.
type tailRec struct {
	uid         uint32
	date        int64
	size, vsize int64
	hash        index.SetHash
	fields      uint16
	rest        []byte // lengths and values, then the BODYSTRUCTURE
}

// appendRec writes the record of a message.
func appendRec(b []byte, c *index.Cached, hash index.SetHash, h *rfc5322.Header) []byte {
	b = appendUint(b, uint64(c.UID))
	b = appendInt(b, c.Date)
	b = appendUint(b, uint64(max(c.Size, 0)))
	b = appendUint(b, uint64(max(c.VSize, -1)+1))
	b = appendSetHash(b, hash)
	var fields uint16
	for i, f := range tailFields {
		if h.Present.Has(f) {
			fields |= 1 << i
		}
	}
	b = le.AppendUint16(b, fields)
	for i, f := range tailFields {
		if fields&(1<<i) != 0 {
			v := h.Raw(c.Header, f)
			b = appendUint(b, uint64(len(v)))
			b = append(b, v...)
		}
	}
	if c.BodyStructure == nil {
		return appendUint(b, 0)
	}
	b = appendUint(b, uint64(len(c.BodyStructure))+1)
	return append(b, c.BodyStructure...)
}

// next reads the record at c.
func (r *tailRec) next(c *cursor) bool {
	uid := c.uint()
	*r = tailRec{uid: uint32(uid), date: c.int(), size: int64(c.uint()), vsize: int64(c.uint()) - 1}
	k := c.bytes(18)
	if c.bad || uid == 0 || uid >= 1<<32 {
		return false
	}
	r.hash, r.fields = index.SetHash{le.Uint64(k), le.Uint64(k[8:])}, le.Uint16(k[16:])
	from := c.off
	for i := range tailFields {
		if r.fields&(1<<i) != 0 {
			c.bytes(c.uint())
		}
	}
	if n := c.uint(); n > 0 {
		c.bytes(n - 1)
	}
	if c.bad {
		return false
	}
	r.rest = c.b[from:c.off:c.off]
	return true
}

// each calls fn with the raw value of each field that is there, and returns the
// BODYSTRUCTURE, nil if that is not known.
func (r *tailRec) each(fn func(f rfc5322.Field, raw []byte)) (body []byte) {
	c := cursor{b: r.rest}
	for i, f := range tailFields {
		if r.fields&(1<<i) == 0 {
			continue
		}
		if v := c.bytes(c.uint()); fn != nil {
			fn(f, v)
		}
	}
	if n := c.uint(); n > 0 {
		return c.bytes(n - 1)
	}
	return nil
}

// header appends a header that has the fields as the mail has them.
func (r *tailRec) header(dst []byte) []byte {
	r.each(func(f rfc5322.Field, raw []byte) {
		dst = append(append(append(dst, f.String()...), ':'), raw...)
		dst = append(dst, '\n')
	})
	return append(dst, '\n')
}

// find finds the record of a message.
func (t *tail) find(uid uint32, hash index.SetHash) *tailRec {
	if t == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(t.recs, uid, func(r tailRec, uid uint32) int { return cmp.Compare(r.uid, uid) })
	if !ok || t.recs[i].hash != hash {
		return nil
	}
	return &t.recs[i]
}

// last is the UID of the last record, 0: there is none.
func (t *tail) last() uint32 {
	if len(t.recs) == 0 {
		return 0
	}
	return t.recs[len(t.recs)-1].uid
}

// loadTail reads a tail file; one of another index, or none, is an empty tail.
func loadTail(fsy index.FS, name string, ident identity) (t *tail, damaged error, err error) {
	ident.compat = 0
	t = &tail{name: name, ident: ident}
	f, err := fsy.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil, nil
	}
	if err != nil {
		return t, nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil || size > maxTail {
		return t, nil, err
	}
	b := make([]byte, size)
	n, err := f.ReadAt(b, 0)
	if err != nil && int64(n) < size {
		return t, nil, err
	}
	bad := func(off int, what string) error {
		return &index.CorruptError{File: name, Off: int64(off), What: what}
	}
	if len(b) < tailHead || string(b[:8]) != tailMagic || le.Uint64(b[32:]) != xxhash.Sum64(b[:32]) {
		return t, bad(0, "header of the tail"), nil
	}
	if le.Uint64(b[8:]) != ident.id || le.Uint32(b[24:]) != ident.uidValidity {
		return t, nil, nil
	}
	t.salt = le.Uint64(b[16:])
	at := tailHead
	for at < len(b) {
		n := t.frame(b[at:])
		if n == 0 {
			break
		}
		at += n
	}
	t.end = int64(at)
	if t.later(b[at:]) {
		return t, bad(at, "frame of the tail"), nil
	}
	return t, nil, nil
}

// later reports whether a whole frame lies somewhere behind the begin of rest:
// what is there was no torn write then. It gives up, as if there were none, when
// what looks like frames is many times what there is.
func (t *tail) later(rest []byte) bool {
	budget := 8*len(rest) + 1<<20
	for i := 1; i+frameHead < len(rest) && budget > 0; i++ {
		n := int(le.Uint32(rest[i:]))
		if n <= frameHead || n > len(rest)-i {
			continue
		}
		if budget -= n; le.Uint64(rest[i+8:]) == t.sum(rest[i:i+n]) {
			return true
		}
	}
	return false
}

// sum is the checksum of a frame.
func (t *tail) sum(frame []byte) uint64 {
	d := xxhash.NewWithSeed(t.salt)
	d.Write(frame[:8])
	d.Write(frame[frameHead:])
	return d.Sum64()
}

// frame takes the records of the frame at the begin of b, and returns its length;
// 0: it does not check.
func (t *tail) frame(b []byte) int {
	if len(b) < frameHead {
		return 0
	}
	n, raw := int(le.Uint32(b)), int(le.Uint32(b[4:]))
	if n < frameHead || n > len(b) || raw > maxTail || le.Uint64(b[8:]) != t.sum(b[:n]) {
		return 0
	}
	payload := b[frameHead:n]
	if raw > 0 {
		var err error
		if payload, err = exactDecoder().DecodeAll(payload, make([]byte, 0, raw)); err != nil || len(payload) != raw {
			return 0
		}
	}
	if !t.take(payload) {
		return 0
	}
	return n
}

// take adds the records of a payload, which is kept.
func (t *tail) take(payload []byte) bool {
	before := len(t.recs)
	for c := (cursor{b: payload}); c.left() > 0; {
		var r tailRec
		if !r.next(&c) || r.uid <= t.last() {
			t.recs = t.recs[:before]
			return false
		}
		t.recs = append(t.recs, r)
	}
	t.bytes += len(payload)
	return true
}

// append puts a payload of records on disk; reset: in a file without the records
// of before. One write and one fdatasync.
func (t *tail) append(fsy index.FS, payload []byte, reset bool) error {
	fresh := false
	if t.f == nil {
		f, err := fsy.OpenFile(t.name, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			fresh = true
			f, err = fsy.OpenFile(t.name, os.O_RDWR|os.O_CREATE, 0o600)
		}
		if err != nil {
			return err
		}
		t.f = f
	}
	var b []byte
	at := t.end
	if reset || at == 0 {
		t.salt, at = rand.Uint64(), 0
		t.recs, t.bytes, t.end = nil, 0, 0
		b = append(b, tailMagic...)
		b = le.AppendUint64(b, t.ident.id)
		b = le.AppendUint64(b, t.salt)
		b = le.AppendUint32(b, t.ident.uidValidity)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, xxhash.Sum64(b))
		if err := t.f.Truncate(0); err != nil {
			return err
		}
	} else if size, err := t.f.Size(); err != nil {
		return err
	} else if size < at || !t.same() {
		return index.ErrStale // another handle has begun it anew
	} else if size > at { // torn
		if err := t.f.Truncate(at); err != nil {
			return err
		}
	}
	from := len(b)
	b = append(b, make([]byte, frameHead)...)
	b = tailEncoder(b, payload)
	if len(b)-from-frameHead < len(payload) {
		le.PutUint32(b[from+4:], uint32(len(payload)))
	} else {
		b = append(b[:from+frameHead], payload...)
	}
	le.PutUint32(b[from:], uint32(len(b)-from))
	le.PutUint64(b[from+8:], t.sum(b[from:]))
	if _, err := t.f.WriteAt(b, at); err != nil {
		return err
	}
	if err := t.f.Datasync(); err != nil {
		return err
	}
	if fresh {
		if err := fsy.SyncDir(filepath.Dir(t.name)); err != nil {
			return err
		}
	}
	t.end = at + int64(len(b))
	if !t.take(payload) {
		return errors.New("column: records that are told do not ascend")
	}
	return nil
}

// tailEncoder appends payload compressed, if it is long enough to be worth it.
func tailEncoder(dst, payload []byte) []byte {
	const few = 512
	if len(payload) < few {
		return append(dst, payload...)
	}
	return envEncoder().EncodeAll(payload, dst)
}

// same reports whether the file has the salt that t knows.
func (t *tail) same() bool {
	var b [8]byte
	_, err := t.f.ReadAt(b[:], 16)
	return err == nil && le.Uint64(b[:]) == t.salt
}

func (t *tail) close() {
	if t != nil && t.f != nil {
		t.f.Close()
		t.f = nil
	}
}
