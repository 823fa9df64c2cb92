package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Describe says which Dovecot it is. What its cache holds is read from the
// cache as it is now: empty before the first THREAD.
func (x *dovecotInstance) Describe() Description {
	d := x.desc
	wanted := x.o.CacheFields
	if wanted == "" {
		wanted = "Dovecot's own default, each field as it is first asked for"
	}
	d.Cached = wanted
	if c, err := x.cache(); err == nil {
		d.Cached = strings.Join(c.fields, ", ")
		d.Notes = append(d.Notes, fmt.Sprintf("cache: %d records, %d of them dead; mail_cache_fields: %s", c.records, c.deleted, wanted))
	}
	d.Notes = append(d.Notes,
		"each process reads its configuration through doveconf first (see noop)",
		"compact: doveadm mailbox cache purge of the cache as it is after threading and sorting; no record in it is dead, fields that are only kept for a while may go")
	if !x.maildir() {
		d.Notes = append(d.Notes, "the indexes of "+x.o.Format+" say which mail there is: no first select and no resync")
	}
	if x.o.WithIndex != "" {
		d.Notes = append(d.Notes, "starts from a copy of an index that was in use: no first select; thread-first finds what its cache holds")
	}
	return d
}

// cache reads the head of the cache of INBOX, wherever the format has it.
func (x *dovecotInstance) cache() (*dovecotCache, error) {
	for _, name := range []string{
		filepath.Join("index", dovecotInbox, "dovecot.index.cache"),
		filepath.Join("index", "mailboxes", "INBOX", "dovecot.index.cache"),
		filepath.Join("index", "mailboxes", "INBOX", "dbox-Mails", "dovecot.index.cache"),
	} {
		f, err := os.Open(x.dir(name))
		if err != nil {
			continue
		}
		defer f.Close()
		return readDovecotCache(f)
	}
	return nil, os.ErrNotExist
}

// A dovecotCache is what the head of a dovecot.index.cache says.
type dovecotCache struct {
	records, deleted uint32
	fields           []string // those that are cached, sorted
}

var errDovecotCache = errors.New("dovecot.index.cache: not as expected")

// The layout of version 1 (Dovecot 1.0 to 2.4), little-endian on the machines
// that this is for: a header of 32 bytes whose last word is where the fields
// are named, in the encoding of dovecotOffset; there three words (the next such
// place or 0, the length, the number of fields), then per field a word (last
// used), a word (size), a byte (type) and a byte (decision), and the names, each
// ended by a NUL.
const (
	dovecotCacheHeader = 32
	dovecotFieldsHead  = 12
	dovecotFieldsMost  = 1 << 20 // bytes of a list of fields
)

// readDovecotCache reads which fields are cached. It reads a few hundred bytes,
// at most 1 MiB a list and 100 lists.
func readDovecotCache(f io.ReaderAt) (*dovecotCache, error) {
	var head [dovecotCacheHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if head[0] != 1 {
		return nil, fmt.Errorf("%w: version %d", errDovecotCache, head[0])
	}
	word := func(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	c := &dovecotCache{records: word(head[:], 4), deleted: word(head[:], 6)}
	next := [4]byte(head[28:32])
	for range 100 {
		off := dovecotOffset(next)
		if off == 0 {
			return c, nil // the fields of the last list count
		}
		var fh [dovecotFieldsHead]byte
		if _, err := f.ReadAt(fh[:], off); err != nil {
			return nil, err
		}
		size, n := int64(word(fh[:], 1)), int64(word(fh[:], 2))
		if size < dovecotFieldsHead+10*n || size > dovecotFieldsMost {
			return nil, fmt.Errorf("%w: %d fields in %d bytes", errDovecotCache, n, size)
		}
		b := make([]byte, size-dovecotFieldsHead)
		if _, err := f.ReadAt(b, off+dovecotFieldsHead); err != nil {
			return nil, err
		}
		decisions, names := b[9*n:10*n], strings.Split(string(b[10*n:]), "\x00")
		if int64(len(names)) < n {
			return nil, fmt.Errorf("%w: %d fields, %d names", errDovecotCache, n, len(names))
		}
		c.fields = nil
		for i, d := range decisions {
			const no, forced = 0, 0x80
			if d&^forced != no {
				c.fields = append(c.fields, names[i])
			}
		}
		slices.Sort(c.fields)
		next = [4]byte(fh[0:4])
	}
	return nil, fmt.Errorf("%w: lists of fields without an end", errDovecotCache)
}

// dovecotOffset decodes an offset: 7 bits in each byte, the high ones first, the
// top bit of each set; in words of 4 bytes. 0 when there is none.
func dovecotOffset(b [4]byte) int64 {
	var off int64
	for _, c := range b {
		if c&0x80 == 0 {
			return 0
		}
		off = off<<7 | int64(c&0x7f)
	}
	return off << 2
}
