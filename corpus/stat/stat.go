// Package stat describes mail as numbers: how long messages and headers are,
// which fields there are, how messages hang together, what is odd. It is what
// `mailbench corpus info` prints, and how the generator is held against real
// lists.
package stat

import (
	"bytes"
	"fmt"
	"slices"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
	"mailbench/thread"
)

// Curve is the distribution of a number over messages or threads.
type Curve struct {
	N                       int
	Mean                    float64
	P10, P50, P90, P99, Max int
}

// Stats are the numbers of a mailbox. Shares are of messages, from 0 to 1,
// where not said otherwise.
type Stats struct {
	Messages int
	Bytes    int64
	Skipped  int // entries that could not be listed or read

	Size, Header, Body          Curve // octets as stored
	Over4K, Over8K              float64
	To, Cc, Subject, References Curve // octets of the field where present

	HasTo, HasCc, HasSubject, HasDate, HasID float64
	BadDate                                  float64 // a Date that cannot be used
	HasReferences, HasInReplyTo              float64
	HollowReferences                         float64 // References without any id
	ProseInReplyTo                           float64 // In-Reply-To without any id
	Refs                                     Curve   // ids of a message that names any

	Threads      int     // of THREAD=REFERENCES
	ThreadSize   Curve   // messages of a thread
	Depth        Curve   // levels of a thread, dummies not counted
	Single       float64 // threads of one message
	AbsentParent float64 // of the parents named
	EarlyChild   float64 // messages that come before their parent, of those whose parent is there
	DuplicateID  float64 // messages whose Message-ID an earlier one has

	Reply, EncodedSubject, Raw8Bit, NUL, BareCR, NoColon, DuplicateField, FromLine float64

	Fields   []Share // every field name, most frequent first
	Flags    []Share // flag sets of the names
	SizeHint float64 // names that tell the size (S=)
	New      float64 // in new/
}

// Share is a name and how many messages have it.
type Share struct {
	Name  string
	Share float64
}

// Read reads every message of src once, about 20 microseconds each, and keeps
// about 100 bytes of each. Messages that cannot be read are counted, not fatal.
func Read(src index.Source) (*Stats, error) {
	var l index.Listing
	if err := src.List(&l); err != nil {
		return nil, fmt.Errorf("stat: %w", err)
	}
	src.Order(l.Entries)
	r := &reader{ids: thread.NewInterner(0, 0), subjects: thread.NewInterner(0, 0), fields: map[string]int{}, flags: map[string]int{}}
	r.subjects.Intern(nil) // 0 is the empty base subject
	r.in.RefOff = append(r.in.RefOff, 0)
	r.stats.Skipped = len(l.Problems)
	for i := range l.Entries {
		e := &l.Entries[i]
		var err error
		if r.buf, err = src.ReadMessage(e, r.buf); err != nil {
			r.stats.Skipped++
			continue
		}
		_, mtime, err := src.Stat(e)
		if err != nil {
			mtime = 0
		}
		r.entry(e)
		r.message(r.buf, mtime)
	}
	r.finish()
	return &r.stats, nil
}

// reader gathers the numbers; the int counters become shares at the end.
type reader struct {
	stats         Stats
	buf, scratch  []byte
	text          []byte
	ids, subjects *thread.Interner
	in            thread.Input
	fields, flags map[string]int
	names         []string // of the message at hand, to count each once

	size, header, body                []int
	to, cc, subject, references, refs []int
	count                             struct {
		to, cc, subject, date, id, badDate, references, inReplyTo, hollow, prose     int
		reply, encoded, raw, nul, cr, noColon, duplicate, fromLine, hint, fresh, dup int
	}
}

func add(n *int, cond bool) {
	if cond {
		*n++
	}
}

func (r *reader) entry(e *index.Entry) {
	add(&r.count.hint, e.Size >= 0 && e.File != "")
	add(&r.count.fresh, e.Dir == index.DirNew)
	r.flags[e.Flags.String()]++
}

func (r *reader) message(b []byte, internal int64) {
	c := &r.count
	var h rfc5322.Header
	rfc5322.Scan(b, rfc5322.MaskAll, &h)
	h.Inspect(b)
	head, body := b[:h.BodyOff], b[h.BodyOff:]
	r.size, r.header, r.body = append(r.size, len(b)), append(r.header, len(head)), append(r.body, len(body))
	r.stats.Bytes += int64(len(b))

	length := func(f rfc5322.Field, list *[]int, n *int) []byte {
		raw := h.Raw(b, f)
		if h.Present.Has(f) {
			*list = append(*list, len(raw))
			*n++
		}
		return raw
	}
	length(rfc5322.To, &r.to, &c.to)
	length(rfc5322.Cc, &r.cc, &c.cc)
	subject := length(rfc5322.Subject, &r.subject, &c.subject)
	length(rfc5322.References, &r.references, &c.references)
	add(&c.encoded, bytes.Contains(subject, []byte("=?")) && bytes.Contains(subject, []byte("?=")))

	date := internal
	if h.Present.Has(rfc5322.Date) {
		c.date++
		unix, ok := rfc5322.ParseDate(h.Raw(b, rfc5322.Date))
		add(&c.badDate, !ok)
		if ok {
			date = unix
		}
	}
	base, reply := mailsort.SubjectKey(r.text[:0], subject)
	r.text = base
	add(&c.reply, reply)
	r.thread(&h, b, base, reply, date)

	add(&c.raw, h.Warn&rfc5322.Warn8Bit != 0)
	add(&c.noColon, h.Warn&rfc5322.WarnNoColon != 0)
	dup := false
	for f := rfc5322.Field(0); f < rfc5322.NumFields; f++ {
		dup = dup || h.Warn&rfc5322.WarnDuplicate(f) != 0
	}
	add(&c.duplicate, dup)
	add(&c.nul, bytes.IndexByte(b, 0) >= 0)
	add(&c.cr, bareCR(b))
	add(&c.fromLine, bytes.HasPrefix(body, []byte("From ")) || bytes.Contains(body, []byte("\nFrom ")))
	r.fieldNames(head)
}

// thread adds a row to the columns of THREAD.
func (r *reader) thread(h *rfc5322.Header, b, base []byte, reply bool, date int64) {
	c, in := &r.count, &r.in
	id := int32(-1)
	raw, scratch, ok := rfc5322.FirstID(h.Raw(b, rfc5322.MessageID), r.scratch)
	if r.scratch = scratch; ok {
		c.id++
		id = r.ids.Intern(raw)
	}
	in.ID = append(in.ID, id)
	start := len(in.Ref)
	r.scratch = rfc5322.EachID(h.Raw(b, rfc5322.References), r.scratch, func(id []byte) bool {
		in.Ref = append(in.Ref, r.ids.Intern(id))
		return true
	})
	add(&c.hollow, h.Present.Has(rfc5322.References) && len(in.Ref) == start)
	if h.Present.Has(rfc5322.InReplyTo) {
		c.inReplyTo++
		raw, scratch, ok := rfc5322.FirstID(h.Raw(b, rfc5322.InReplyTo), r.scratch)
		r.scratch = scratch
		add(&c.prose, !ok)
		if ok && len(in.Ref) == start {
			in.Ref = append(in.Ref, r.ids.Intern(raw))
		}
	}
	if n := len(in.Ref) - start; n > 0 {
		r.refs = append(r.refs, n)
	}
	in.RefOff = append(in.RefOff, uint32(len(in.Ref)))
	in.Subject = append(in.Subject, r.subjects.Intern(base))
	mark := uint8(0)
	if reply {
		mark = 1
	}
	in.Reply = append(in.Reply, mark)
	in.Date = append(in.Date, date)
	in.N++
}

// fieldNames counts each field name of a header once.
func (r *reader) fieldNames(head []byte) {
	r.names = r.names[:0]
	for len(head) > 0 {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line, head = head[:i], head[i+1:]
		} else {
			head = nil
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || colon > 76 || line[0] == ' ' || line[0] == '\t' || bytes.IndexByte(line[:colon], ' ') >= 0 {
			continue
		}
		name := string(bytes.ToLower(line[:colon]))
		if !slices.Contains(r.names, name) {
			r.names = append(r.names, name)
		}
	}
	for _, name := range r.names {
		if _, known := r.fields[name]; known || len(r.fields) < maxFieldNames {
			r.fields[name]++
		}
	}
}

// maxFieldNames bounds the table against mail that invents names.
const maxFieldNames = 10000

func bareCR(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			return false
		}
		if i+1 == len(b) || b[i+1] != '\n' {
			return true
		}
		b = b[i+2:]
	}
}
