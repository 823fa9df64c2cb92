package linked

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"mailbench/index"
	"mailbench/internal/rfc5322"
)

// noDate is the date.sent of mail whose Date field is missing or cannot be
// read: INTERNALDATE counts (RFC 5256 section 2.2).
const noDate = math.MinInt64

// sentField is the name of date.sent: what a Date says depends on the reader.
func (m *mailbox) sentField() string {
	if m.cfg.Options.Compat == index.CompatDovecot {
		return fieldSent + ":dovecot"
	}
	return fieldSent
}

// findHeader finds the first field called name (lower case) for which package
// rfc5322 has no constant: its raw value is header[off:end].
func findHeader(header []byte, name string) (off, end int, ok bool) {
	for at := 0; at < len(header); {
		line := header[at:]
		if line[0] == '\n' || len(line) > 1 && line[0] == '\r' && line[1] == '\n' {
			break
		}
		next := at
		for {
			n := bytes.IndexByte(header[next:], '\n')
			if n < 0 {
				next = len(header)
				break
			}
			next += n + 1
			if next == len(header) || header[next] != ' ' && header[next] != '\t' {
				break
			}
		}
		if len(line) > len(name) && strings.EqualFold(string(line[:len(name)]), name) {
			v := bytes.TrimLeft(line[len(name):next-at], " \t")
			if len(v) > 0 && v[0] == ':' {
				end := next
				if header[end-1] == '\n' {
					if end--; end > 0 && header[end-1] == '\r' {
						end--
					}
				}
				off := next - len(v) + 1
				return off, max(off, end), true
			}
		}
		at = next
	}
	return 0, 0, false
}

// appendLines appends the cached form of the header field whose raw value is
// header[off:end] to dst: its line's number and 0, then "Name: value" and LF as
// they stand in the mail, CR before LF dropped.
func appendLines(dst, header []byte, off, end int) []byte {
	start := bytes.LastIndexByte(header[:off], '\n') + 1
	dst = le.AppendUint32(dst, uint32(1+bytes.Count(header[:start], []byte{'\n'})))
	dst = le.AppendUint32(dst, 0)
	for line := header[start:end]; ; {
		i := bytes.IndexByte(line, '\n')
		if i < 0 {
			dst = append(dst, line...)
			break
		}
		if i > 0 && line[i-1] == '\r' && (i < 2 || line[i-2] != '\r') {
			dst = append(dst, line[:i-1]...)
		} else {
			dst = append(dst, line[:i]...)
		}
		dst = append(dst, '\n')
		line = line[i+1:]
	}
	return append(dst, '\n')
}

// headerValue is the raw value (RFC 5322 section 2.2) in a cached header field;
// nil when the mail has no such field.
func headerValue(data []byte) []byte {
	for {
		if len(data) < 4 {
			return nil
		}
		line := le.Uint32(data)
		data = data[4:]
		if line == 0 {
			break
		}
	}
	i := bytes.IndexByte(data, ':')
	if i < 0 {
		return nil
	}
	return bytes.TrimSuffix(data[i+1:], []byte{'\n'})
}

// parsed is what one reader has made of messages: bodies of records. A
// message's fields to be stored come first, those that are not behind them
// with explicit sizes.
type parsed struct {
	b    []byte
	have []bool
	tmp  []byte
	head rfc5322.Header
}

type parsedAt struct {
	reader      int32
	gone        bool
	found       bool
	off, stored int // in its reader's b
	end         int
}

var entries = sync.Pool{New: func() any { return new(entryBuf) }}

type entryBuf struct {
	e   index.Entry
	buf []byte
}

// missing is a message whose mail must be read.
type missing struct {
	row int32
	off uint32 // its chain in the cache, 0: none, or none that makes sense
}

// readMail reads the mail of todo and makes out[i] of each. want are the
// fields asked for; what the header gives besides and somebody wants is added.
func (m *mailbox) readMail(todo []missing, want []int, out []parsedAt) error {
	if _, err := m.loadTable(); err != nil {
		return err
	}
	if err := m.track.Naming(m.cfg.Source); err != nil {
		return err
	}
	c := m.cache
	needHeader, needDate, needSize := false, false, false
	for _, id := range want {
		f := &c.fields[id]
		needHeader = needHeader || f.fromHeader()
		needDate = needDate || f.name == fieldReceived
		needSize = needSize || f.name == fieldVSize
	}
	mask := c.mask()
	for i := range m.readers {
		m.readers[i].b = m.readers[i].b[:0]
	}
	var first firstError
	src := m.cfg.Source
	index.ReadEach(len(todo), m.cfg.Options.Workers, func(i int, buf []byte) ([]byte, error) {
		eb := entries.Get().(*entryBuf)
		defer entries.Put(eb)
		e, b := m.track.EntryInto(int(todo[i].row), &eb.e, eb.buf)
		eb.buf = b
		if e == nil {
			return nil, fs.ErrNotExist
		}
		// buf: INTERNALDATE i64, CRLF size i64, header
		if cap(buf) < 16 {
			buf = make([]byte, 16, 16<<10)
		}
		date, size := e.MTime, e.VSize
		head := buf[:16]
		rest := buf[16:16:cap(buf)]
		var err error
		if needDate && !e.MTimeOK {
			if _, date, err = src.Stat(e); err != nil {
				return nil, err
			}
		}
		if needSize && size < 0 {
			msg, err := src.ReadMessage(e, rest)
			if err != nil {
				return nil, err
			}
			size = index.CRLFSize(msg)
		}
		if needHeader {
			if rest, err = src.ReadHeader(e, rest); err != nil {
				return nil, err
			}
		}
		if cap(rest) > cap(buf)-16 { // it grew out of buf
			head = make([]byte, 16, 16+cap(rest))
			rest = append(head[16:16], rest...)
		}
		le.PutUint64(head, uint64(date))
		le.PutUint64(head[8:], uint64(size))
		return head[:16+len(rest)], nil
	}, func(reader, i int, b []byte, err error) {
		at := &out[i]
		*at = parsedAt{reader: int32(reader), gone: true}
		if err != nil {
			first.put(err)
			return
		}
		m.make(&m.readers[reader], at, todo[i], want, needHeader, mask, b)
	})
	n := 0
	for i := range out {
		if out[i].found {
			n++
		}
	}
	m.counts.mails += int64(n)
	return first.err
}

// mask is the header fields that a scan finds for the registry.
func (c *cache) mask() rfc5322.Mask {
	mask := rfc5322.Date.Mask()
	for i := range c.fields {
		if f := &c.fields[i]; f.typ == typeHeader && f.std >= 0 {
			mask |= f.std.Field().Mask()
		}
	}
	return mask
}

// make appends to p what is to be stored of a message and what is wanted of it
// besides, from b: INTERNALDATE i64, CRLF size i64, header.
func (m *mailbox) make(p *parsed, at *parsedAt, of missing, want []int, needHeader bool, mask rfc5322.Mask, b []byte) {
	c, v := m.cache, &m.disk.view
	if len(p.have) < len(c.fields) {
		p.have = make([]bool, len(c.fields)+8)
	}
	c.present(of.off, p.have)
	at.gone, at.found, at.off = false, true, len(p.b)
	if needHeader {
		rfc5322.Scan(b[16:], mask, &p.head)
	}
	old := v.uid[of.row] < v.hdr.dayFirst[7]
	add := func(id int, loose bool) {
		p.tmp = p.tmp[:0]
		switch f := &c.fields[id]; {
		case f.typ == typeHeader:
			if s := p.head.Span; f.std < 0 {
				if off, end, ok := findHeader(b[16:], f.name[len(headerPrefix):]); ok {
					p.tmp = appendLines(p.tmp, b[16:], off, end)
				}
			} else if p.head.Present.Has(f.std.Field()) {
				p.tmp = appendLines(p.tmp, b[16:], int(s[f.std].Off), int(s[f.std].Off+s[f.std].Len))
			}
		case f.name == fieldReceived:
			p.tmp = le.AppendUint32(p.tmp, uint32(le.Uint64(b)))
		case f.name == fieldVSize:
			p.tmp = append(p.tmp, b[8:16]...)
		default:
			p.tmp = le.AppendUint64(p.tmp, uint64(m.sentDate(p.head.Raw(b[16:], rfc5322.Date))))
		}
		p.b = c.appendField(p.b, id, p.tmp, loose)
	}
	for id := range c.fields {
		f := &c.fields[id]
		if p.have[id] || !f.cached() {
			continue
		}
		wanted := slices.Contains(want, id)
		switch {
		case wanted && f.name == fieldReceived && uint64(uint32(le.Uint64(b))) != le.Uint64(b):
		case wanted, needHeader && f.typ == typeHeader && !(old && f.decision == decideTemp), needHeader && f.name == m.sentField() && !(old && f.decision == decideTemp):
			add(id, false)
			p.have[id] = true
		}
	}
	at.stored = len(p.b)
	for _, id := range want {
		switch {
		case p.have[id]:
		case c.fields[id].name == fieldReceived:
			p.b = c.appendField(p.b, id, b[:8], true)
		default:
			add(id, true)
		}
	}
	at.end = len(p.b)
}

// cached reports whether anybody wants the field.
func (f *field) cached() bool { return f.decision&decided != decideNo }

// sentDate is what date.sent holds for a raw Date field, nil for none.
func (m *mailbox) sentDate(raw []byte) int64 {
	if raw == nil {
		return noDate
	}
	d, ok := rfc5322.ParseDateCompat(raw, rfc5322.Compat(m.cfg.Options.Compat))
	if !ok {
		return noDate
	}
	return d
}

// firstError keeps the first error of several goroutines; mail that has gone is none.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) put(err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.mu.Lock()
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
}
