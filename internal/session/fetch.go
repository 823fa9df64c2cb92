package session

import (
	"errors"
	"io/fs"

	"mailbench/index"
	"mailbench/internal/mime"
)

// A kind is what a fetch item asks for.
type kind uint8

const (
	kindFlags kind = iota
	kindUID
	kindDate
	kindSize
	kindEnvelope
	kindStructure // BODYSTRUCTURE
	kindBody      // BODY without extensions
	kindSection   // BODY[...] and its old names
)

// An item is one thing to be told of each message.
type item struct {
	kind    kind
	section section
}

// chunk is how many messages are asked for at once.
const chunk = 256

// A fetch is a FETCH on its way.
type fetch struct {
	c     *conn
	items []item
	uid   bool // UID FETCH

	envelope, header, body, seen bool // what it needs
}

// run answers for the messages of uids. Some that are gone: refusal.
func (c *conn) fetch(uids []uint32, items []item, uid bool) error {
	t := &fetch{c: c, items: items, uid: uid}
	hasUID := false
	for _, it := range items {
		switch it.kind {
		case kindUID:
			hasUID = true
		case kindEnvelope:
			t.envelope = true
		case kindStructure, kindBody:
			t.body = true
		case kindSection:
			t.seen = t.seen || !it.section.peek
			if it.section.headerOnly() {
				t.header = true
			} else {
				t.body = true
			}
		}
	}
	if uid && !hasUID {
		t.items = append([]item{{kind: kindUID}}, items...)
	}
	t.seen = t.seen && !c.view.readOnly
	gone := false
	for len(uids) > 0 {
		n := min(chunk, len(uids))
		lost, err := t.some(uids[:n])
		if err != nil {
			return err
		}
		gone = gone || lost
		uids = uids[n:]
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	if gone {
		return refusal("[EXPUNGEISSUED] some of the messages are no longer there")
	}
	return nil
}

// some answers for up to chunk messages.
func (t *fetch) some(uids []uint32) (gone bool, err error) {
	v := t.c.view
	var told map[uint32]bool
	if t.seen {
		if told, err = t.setSeen(uids); err != nil {
			return false, err
		}
	}
	var mails []mail
	var envelopes map[uint32][]byte
	err = v.f.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		t.c.words = v.f.words
		if mails, err = v.mails(uids, mails[:0]); err != nil || !t.envelope || t.body {
			return err
		}
		envelopes, err = envelopesOf(m, uids)
		return err
	})
	if err != nil {
		return false, err
	}
	learnt := map[uint32]int64{}
	defer func() { v.f.learn(learnt) }()
	for i := range mails {
		c := candidate{mail: mails[i], s: &t.c.mail, size: mails[i].vsize}
		env, cached := envelopes[c.uid]
		err := t.one(&c, env, cached, told[c.uid])
		if errors.Is(err, fs.ErrNotExist) {
			gone = true
			continue
		}
		if err != nil {
			return false, err
		}
		if c.size >= 0 && c.vsize < 0 && c.entry.VSize < 0 {
			learnt[c.uid] = c.size
		}
		if len(t.c.out) > 1<<20 {
			t.c.mail, c = scratch{}, candidate{} // one copy is enough while it is written
		}
		// Nothing is held: this may take until the client reads.
		t.c.w.Write(t.c.out)
		if cap(t.c.out) > 1<<20 {
			t.c.out = nil // not for the rest of the connection
		}
	}
	return gone || len(mails) < len(uids), nil
}

// setSeen sets \Seen on those without, and tells of which the client must hear
// the flags.
func (t *fetch) setSeen(uids []uint32) (map[uint32]bool, error) {
	v := t.c.view
	told := map[uint32]bool{}
	var unseen []uint32
	err := v.f.ask(lookNot, func(m index.Mailbox) error {
		if err := v.load(m); err != nil {
			return err
		}
		unseen = unseen[:0]
		for _, uid := range uids {
			if i, ok := v.f.rows.find(uid); ok && v.f.rows.flags[i]&index.FlagSeen == 0 {
				unseen = append(unseen, uid)
			}
		}
		return nil
	})
	if err != nil || len(unseen) == 0 {
		return nil, err
	}
	err = v.f.setFlags(unseen, func(_ uint32, old index.Flags, words uint32) (index.Flags, uint32) {
		return old | index.FlagSeen, words
	})
	if err != nil {
		return nil, err
	}
	for _, uid := range unseen {
		told[uid] = true
	}
	return told, t.c.ask(lookNot, func(m index.Mailbox) error {
		return v.update(m, t.c, false, func(uid uint32) bool { return told[uid] })
	})
}

// mails are the messages of uids that are still there. f.mu is held.
func (v *view) mails(uids []uint32, dst []mail) ([]mail, error) {
	for _, uid := range uids {
		i, ok := v.f.rows.find(uid)
		seq, known := v.seq(uid)
		if !ok || !known {
			continue
		}
		dst = append(dst, mail{seq: seq})
		if err := v.f.entryOf(i, &dst[len(dst)-1]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// envelopesOf asks the index for the fields of ENVELOPE, as headers; nil where
// the design keeps none.
func envelopesOf(m index.Mailbox, uids []uint32) (map[uint32][]byte, error) {
	f, ok := m.(index.Fetcher)
	if !ok {
		return nil, nil
	}
	got := make(map[uint32][]byte, len(uids))
	err := f.Fetch(uids, index.EnvelopeFields, func(uid uint32, values [][]byte) error {
		var h []byte
		for i, v := range values {
			if v == nil {
				continue
			}
			h = append(h, index.EnvelopeFields[i]...)
			h = append(h, ": "...)
			h = append(h, v...)
			h = append(h, "\r\n"...)
		}
		got[uid] = append(h, "\r\n"...)
		return nil
	})
	return got, err
}

// one makes the answer for a message, c.out. An error that wraps fs.ErrNotExist:
// it is gone.
func (t *fetch) one(m *candidate, envelope []byte, cached, flags bool) error {
	f := t.c.view.f
	if err := f.ready(false); err != nil {
		return err
	}
	defer f.life.RUnlock()
	m.src = f.source()
	if t.body {
		if err := m.readBody(); err != nil {
			return err
		}
	} else if t.header || t.envelope && !cached {
		if err := m.readHeader(); err != nil {
			return err
		}
	}
	c := t.c
	out := append(c.out[:0], "* "...)
	out = appendUint(out, uint64(m.seq))
	out = append(out, " FETCH ("...)
	for i, it := range t.items {
		if i > 0 {
			out = append(out, ' ')
		}
		switch it.kind {
		case kindFlags:
			out = append(out, "FLAGS "...)
			out = c.words.appendFlags(out, m.flags, m.words)
			flags = false
		case kindUID:
			out = append(out, "UID "...)
			out = appendUint(out, uint64(m.uid))
		case kindDate:
			date, err := m.internalDate()
			if err != nil {
				return err
			}
			out = append(out, "INTERNALDATE "...)
			out = appendDate(out, date)
		case kindSize:
			n, err := m.rfc822Size()
			if err != nil {
				return err
			}
			out = append(out, "RFC822.SIZE "...)
			out = appendUint(out, uint64(n))
		case kindEnvelope:
			h := envelope
			if !cached {
				if err := m.readHeader(); err != nil {
					return err
				}
				h = m.header
			}
			out = append(out, "ENVELOPE "...)
			out = mime.AppendEnvelope(out, h)
		case kindStructure:
			out = append(out, "BODYSTRUCTURE "...)
			out = mime.AppendBodyStructure(out, m.body)
		case kindBody:
			out = append(out, "BODY "...)
			out = appendShort(out, mime.AppendBodyStructure(nil, m.body))
		case kindSection:
			out = it.section.append(out, m.onWire(t.body))
		}
	}
	if flags {
		out = append(out, " FLAGS "...)
		out = c.words.appendFlags(out, m.flags, m.words)
	}
	c.out = append(out, ")\r\n"...)
	return nil
}
