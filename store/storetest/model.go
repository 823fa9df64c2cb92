package storetest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"mailbench/index"
	"mailbench/store"
)

// A message is what the model knows of one.
type message struct {
	key      string
	body     []byte
	flags    index.Flags
	keywords uint32
	date     int64
}

// A model is a mailbox as a slice, in the order of append, and every key that
// was ever in it.
type model struct {
	msgs []message
	used map[string]bool
	ever map[string]message // as they were appended
}

func newModel() *model { return &model{used: map[string]bool{}, ever: map[string]message{}} }

func (m *model) clone() *model {
	c := newModel()
	c.msgs = slices.Clone(m.msgs)
	c.used, c.ever = maps.Clone(m.used), maps.Clone(m.ever)
	return c
}

func (m *model) find(key string) int {
	return slices.IndexFunc(m.msgs, func(x message) bool { return x.key == key })
}

// append takes in what a Store acknowledged.
func (m *model) append(msgs []store.Message, keys []string) error {
	for i, key := range keys {
		if key == "" || m.used[key] {
			return fmt.Errorf("key %q was used before", key)
		}
		m.used[key] = true
		x := message{key, msgs[i].Body, msgs[i].Flags, msgs[i].Keywords, msgs[i].Date}
		m.msgs, m.ever[key] = append(m.msgs, x), x
	}
	return nil
}

func (m *model) setFlags(changes []store.Change) {
	for _, c := range changes {
		if i := m.find(c.Key); i >= 0 {
			m.msgs[i].flags, m.msgs[i].keywords = c.Flags, c.Keywords
		}
	}
}

func (m *model) expunge(keys []string) {
	for _, key := range keys {
		if i := m.find(key); i >= 0 {
			m.msgs = slices.Delete(m.msgs, i, i+1)
		}
	}
}

// wrong compares a Store with the model; "" if all is the same.
func (m *model) wrong(s store.Store, looseFlags bool) string {
	src := s.Source()
	var l index.Listing
	if err := src.List(&l); err != nil {
		return fmt.Sprintf("list: %v", err)
	}
	if len(l.Problems) > 0 {
		return fmt.Sprintf("list: %v", l.Problems[0])
	}
	src.Order(l.Entries)
	if len(l.Entries) != len(m.msgs) || l.Digest.N != len(m.msgs) {
		return fmt.Sprintf("%d entries, digest of %d, want %d", len(l.Entries), l.Digest.N, len(m.msgs))
	}
	var buf []byte
	for i := range m.msgs {
		e, want := &l.Entries[i], &m.msgs[i]
		if e.Key != want.key {
			return fmt.Sprintf("message %d is %s, want %s: a message is missing, or the order is wrong", i, e.Key, want.key)
		}
		if !looseFlags && (e.Flags != want.flags || e.Keywords != want.keywords) {
			return fmt.Sprintf("message %s has flags %v %x, want %v %x", e.Key, e.Flags, e.Keywords, want.flags, want.keywords)
		}
		if what := reads(src, e, want, &buf); what != "" {
			return fmt.Sprintf("message %s: %s", e.Key, what)
		}
	}
	return ""
}

// reads compares what can be read of a message.
func reads(src index.Source, e *index.Entry, want *message, buf *[]byte) string {
	b, err := src.ReadMessage(e, *buf)
	if err != nil {
		return err.Error()
	}
	*buf = b
	if !bytes.Equal(b, want.body) {
		return fmt.Sprintf("read back as %d bytes %.60q, want %d %.60q", len(b), b, len(want.body), want.body)
	}
	h, err := src.ReadHeader(e, nil)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(h, want.body[:headerLen(want.body)]) {
		return fmt.Sprintf("header of %d bytes, want %d", len(h), headerLen(want.body))
	}
	size, date, err := src.Stat(e)
	if err != nil {
		return err.Error()
	}
	if size != int64(len(want.body)) || e.Size >= 0 && e.Size != size || date != want.date || e.MTimeOK && e.MTime != date {
		return fmt.Sprintf("size %d, %d, date %d, %d; want %d, %d", size, e.Size, date, e.MTime, len(want.body), want.date)
	}
	if v := crlfLen(want.body); e.VSize >= 0 && e.VSize != v {
		return fmt.Sprintf("CRLF size %d, want %d", e.VSize, v)
	}
	return ""
}

// headerLen is the plain way to find where the body begins.
func headerLen(b []byte) int {
	for i := 0; i < len(b); {
		line := b[i:]
		if j := bytes.IndexByte(line, '\n'); j >= 0 {
			line = line[:j+1]
		}
		i += len(line)
		if s := string(line); s == "\n" || s == "\r\n" {
			return i
		}
	}
	return len(b)
}

func crlfLen(b []byte) (n int64) {
	for i, c := range b {
		if c == '\n' && (i == 0 || b[i-1] != '\r') {
			n++
		}
		n++
	}
	return n
}

// newMessage makes a message of which no two are alike.
func (k *kit) newMessage(r *rand.Rand) store.Message {
	m := store.Message{Flags: index.Flags(r.IntN(64)), Date: 1 + r.Int64N(2e9)}
	if r.IntN(3) == 0 {
		m.Keywords = r.Uint32N(1 << 26)
	}
	if r.IntN(2) == 0 {
		m.Flags = 0
	}
	m.Body = k.newBody(r)
	return m
}

func (k *kit) newBody(r *rand.Rand) []byte {
	id := r.Uint64()
	nl := "\n"
	if r.IntN(4) == 0 {
		nl = "\r\n"
	}
	subject := []string{"Re: plan", "plan", "other", "[list] Re: other"}[r.IntN(4)]
	b := fmt.Sprintf("Message-ID: <%x@example.net>%sDate: %d Jan 2020 10:%02d:00 +0000%sFrom: a%d@example.org%sSubject: %s%s",
		id, nl, 1+r.IntN(28), r.IntN(60), nl, r.IntN(9), nl, subject, nl)
	switch n := r.IntN(12); n {
	case 0: // a header alone
	case 1:
		b += nl
	case 2:
		b += nl + "From the start\nFrom x\n>From y\n>>From z" + nl
	case 3:
		b += nl + "nul \x00 and \xff\xfe, a dbox mark \x01\x02N 0000\n\x01\x03\nR1\n" + nl
	case 4:
		b += nl + strings.Repeat("a line that is long enough to fill a page or two. ", r.IntN(400)) + nl
	case 5:
		b += nl + "\n\n\n\n" + nl
	case 6:
		b = strings.Repeat("X-Long: "+strings.Repeat("y", 70)+nl, r.IntN(200)) + b + nl + "body" + nl
	default:
		b += nl + strings.Repeat("text"+nl, r.IntN(30))
	}
	if !k.o.TextOnly {
		switch r.IntN(12) {
		case 0:
			b = strings.TrimRight(b, "\r\n") // no end of the last line
		case 1:
			if r.IntN(3) == 0 {
				b = ""
			}
		}
	}
	return []byte(b)
}
