package mbox

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/mbox"
	"mailbench/store/catalog"
)

// find is the place of a message: that of the row, or, when the file has been
// written anew since, what the catalog tells now. m.swap is held.
func (m *mailbox) find(r *catalog.Row) (from, stored int64, err error) {
	from, stored, ok := m.at(r)
	if !ok {
		if *r, ok = m.cat.Get(r.Key); !ok {
			return 0, 0, fmt.Errorf("store/mbox: %s: the message was expunged: %w", m.path, fs.ErrNotExist)
		}
		from, stored, _ = m.at(r)
	}
	return from, stored, nil
}

// ReadHead reads the header and perhaps something of the body.
func (m *mailbox) ReadHead(r catalog.Row, buf []byte) ([]byte, error) {
	m.swap.RLock()
	defer m.swap.RUnlock()
	from, stored, err := m.find(&r)
	if err != nil {
		return buf[:0], err
	}
	buf, err = catalog.ReadHeadAt(m.f, from, stored, buf)
	if err != nil {
		return buf[:0], m.corrupt(&r, err)
	}
	if stored > r.Size {
		if int64(len(buf)) < stored {
			buf = buf[:wholeQuotes(buf)]
		}
		buf = mbox.Unquote(buf[:0], buf, mbox.MboxRD) // never longer: in place
	}
	return buf, nil
}

// wholeQuotes is the length of b, the begin of a quoted message, without a last
// line of which it cannot be told whether its first '>' is of the quoting.
func wholeQuotes(b []byte) int {
	line := bytes.LastIndexByte(b, '\n') + 1
	rest := bytes.TrimLeft(b[line:], ">")
	if len(rest) < len(b)-line && len(rest) < len("From ") && strings.HasPrefix("From ", string(rest)) {
		return line
	}
	return len(b)
}

// ReadMessage reads a message and compares its SUM.
func (m *mailbox) ReadMessage(r catalog.Row, buf []byte) ([]byte, error) {
	m.swap.RLock()
	defer m.swap.RUnlock()
	from, stored, err := m.find(&r)
	if err != nil {
		return buf[:0], err
	}
	prefix := int(from - r.Off)
	n := prefix + int(stored)
	buf = slices.Grow(buf[:0], n)[:n]
	if err := catalog.ReadFullAt(m.f, buf, r.Off); err != nil {
		return buf[:0], m.corrupt(&r, err)
	}
	rec := record{off: r.Off}
	if !rec.parse(buf[:prefix]) || rec.row(m.gen).Key != r.Key || rec.stored() != stored || rec.sum != xxhash.Sum64(buf[prefix:]) {
		return buf[:0], m.corrupt(&r, ErrCorrupt)
	}
	if rec.quoted > 0 {
		return mbox.Unquote(buf[:0], buf[prefix:], mbox.MboxRD), nil // downwards: what is read is not yet overwritten
	}
	return buf[:copy(buf, buf[prefix:])], nil
}

func (m *mailbox) corrupt(r *catalog.Row, err error) error {
	return fmt.Errorf("store/mbox: %s: UID %s at offset %d: %w", m.path, r.Key, r.Off, err)
}
