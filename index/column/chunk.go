package column

import (
	"errors"
	"io/fs"

	"mailbench/index"
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
)

// chunkRows is how many mails are read and parsed between two meetings of the
// readers: enough that nobody waits, little enough that the chunks in flight
// are small against the columns.
const chunkRows = 256

// The string keys of SORT beside Subject, in the order of their columns.
var addressKeys = [...]struct {
	key     mailsort.Key
	field   rfc5322.Field
	display bool
	name    string
}{
	{mailsort.From, rfc5322.From, false, "from"},
	{mailsort.To, rfc5322.To, false, "to"},
	{mailsort.Cc, rfc5322.Cc, false, "cc"},
	{mailsort.DisplayFrom, rfc5322.From, true, "dispfrom"},
	{mailsort.DisplayTo, rfc5322.To, true, "dispto"},
}

// wants says what to take from a message.
type wants struct {
	thread   bool // id, references, date, subject
	address  bool // the five string keys
	envelope bool // with thread only
	arrival  bool // INTERNALDATE
	size     bool // RFC822.SIZE
}

func (w wants) header() bool { return w.thread || w.address || w.envelope }

func (w wants) mask() rfc5322.Mask {
	var m rfc5322.Mask
	if w.thread {
		m |= rfc5322.MaskThread
	}
	if w.address {
		m |= rfc5322.From.Mask() | rfc5322.To.Mask() | rfc5322.Cc.Mask()
	}
	if w.envelope {
		for _, f := range envelopeFields {
			m |= f.Mask()
		}
	}
	return m
}

// A chunk is what some neighbouring mails gave. It is reused.
type chunk struct {
	seq, n  int
	ctl     []uint8
	date    []int64
	refs    []uint32 // references of the row; its hashes are own id (with ctlIDNew), then these
	hash    []idHash
	subject mailsort.Arena
	address [len(addressKeys)]mailsort.Arena
	env     envChunk
	packed  envBlock   // env, when the chunk is full
	packs   []envBlock // instead in a chunk made of chunks
	arrival []int64
	size    []int64
	body    mailsort.Arena // BODYSTRUCTUREs, of a reader with a tail

	buf, key, scratch []byte

	entry index.Entry // made by a Namer, in name
	name  []byte
}

// newChunk makes room for what rows mails mostly have, so that a chunk's
// buffers are grown once and not step by step.
func newChunk(w wants, rows int) *chunk {
	c := &chunk{buf: make([]byte, 0, 16<<10), key: make([]byte, 0, 1<<10), scratch: make([]byte, 0, 1<<10)}
	arena := func(a *mailsort.Arena, bytes int) {
		a.Data, a.Off = make([]byte, 0, bytes*rows), make([]uint32, 0, rows+1)
	}
	if w.thread {
		c.ctl, c.date, c.refs, c.hash = make([]uint8, 0, rows), make([]int64, 0, rows), make([]uint32, 0, rows), make([]idHash, 0, 6*rows)
		arena(&c.subject, 80)
	}
	if w.address {
		for i := range c.address {
			arena(&c.address[i], 32)
		}
	}
	if w.arrival {
		c.arrival = make([]int64, 0, rows)
	}
	if w.size {
		c.size = make([]int64, 0, rows)
	}
	if w.envelope {
		c.env.bits, c.env.dates = make([]byte, 0, 2*rows), make([]byte, 0, 3*rows)
		arena(&c.env.irt, 80)
		for i, f := range envelopeFields {
			bytes := 64
			switch f {
			case rfc5322.Cc, rfc5322.To:
				bytes = 512
			case rfc5322.Bcc, rfc5322.Sender, rfc5322.ReplyTo, rfc5322.Date, rfc5322.InReplyTo:
				bytes = 8
			}
			c.env.lens[i], c.env.text[i] = make([]byte, 0, 2*rows), make([]byte, 0, bytes*rows)
		}
		c.env.raw, c.env.packed = make([]byte, 0, 1<<20), make([]byte, 0, 256<<10)
	}
	return c
}

func (c *chunk) reset(seq int) {
	c.seq, c.n = seq, 0
	c.ctl, c.date, c.refs, c.hash = c.ctl[:0], c.date[:0], c.refs[:0], c.hash[:0]
	c.subject.Reset()
	for i := range c.address {
		c.address[i].Reset()
	}
	c.arrival, c.size = c.arrival[:0], c.size[:0]
	c.body.Reset()
	c.env.reset()
	c.packed = envBlock{}
}

// A reader takes wanted values out of messages.
type reader struct {
	src    countedSource
	want   wants
	mask   rfc5322.Mask
	compat mailsort.Compat
	key    hashKey
	phases *index.Phases

	// What is known of messages without reading them, see told.
	tail *tail
	uids []uint32
	hash func(uid uint32, key []byte) index.SetHash
}

// read adds message e, the i-th that is read, to c. A message that cannot be found (or may not be
// read) is added without values; any other failure to read is an error.
func (r *reader) read(c *chunk, i int, e *index.Entry) error {
	c.n++
	rec := r.told(i, e)
	var head []byte
	var err error
	absent, denied := false, false
	if e == nil {
		e, err = &nowhere, fs.ErrNotExist
	}
	internal := e.MTime
	known := e.MTimeOK
	size := e.VSize
	var h rfc5322.Header
	var body []byte
	switch {
	case rec != nil:
		internal, known = rec.date, true
		if rec.vsize >= 0 {
			size = rec.vsize
		}
		c.buf = rec.header(c.buf[:0])
		head, body = c.buf, rec.each(nil)
		r.scan(head, &h)
	case err == nil && r.want.header():
		err = r.header(c, e, &h)
		head = c.buf
	}
	if r.tail != nil {
		c.body.Append(body)
	}
	if err == nil && r.want.size && size < 0 {
		c.key, err = r.src.ReadMessage(e, c.key)
		size = crlfSize(c.key)
	}
	if err == nil && r.want.arrival && !known {
		_, internal, err = r.src.Stat(e)
		known = true
	}
	if err != nil {
		if !gone(err) {
			return err
		}
		denied = errors.Is(err, fs.ErrPermission) // and has an INTERNALDATE all the same
		absent, head, size, h = true, nil, 0, rfc5322.Header{}
	}
	if r.want.arrival {
		c.arrival = append(c.arrival, internal)
	}
	if r.want.size {
		c.size = append(c.size, max(size, 0))
	}
	if !r.want.header() {
		return nil
	}
	defer r.phases.Begin(index.PhaseParse).End()
	if r.want.thread {
		ctl := uint8(0)
		if absent {
			ctl = ctlAbsent
		}
		date, ok := r.compat.SentDate(h.Raw(head, rfc5322.Date), 0)
		if ok {
			ctl |= ctlDateOK
		} else if !absent || denied {
			if !known {
				if _, internal, err = r.src.Stat(e); err != nil {
					if !gone(err) {
						return err
					}
					ctl, internal = ctl|ctlAbsent, 0
				}
			}
			date = internal
		}
		c.date = append(c.date, date)
		ctl |= r.links(c, head, &h)
		var reply bool
		if c.key, reply = r.compat.SubjectKey(c.key[:0], h.Raw(head, rfc5322.Subject)); reply {
			ctl |= ctlReply
		}
		c.subject.Append(c.key)
		c.ctl = append(c.ctl, ctl)
	}
	if r.want.address {
		for i, k := range addressKeys {
			raw := h.Raw(head, k.field)
			if k.display {
				c.key = r.compat.DisplayKey(c.key[:0], raw)
			} else {
				c.key = r.compat.AddressKey(c.key[:0], raw)
			}
			c.address[i].Append(c.key)
		}
	}
	if r.want.envelope {
		r.envelope(c, head, &h)
	}
	return nil
}

// header reads the header of a message into c.buf and finds the fields in it.
func (r *reader) header(c *chunk, e *index.Entry, h *rfc5322.Header) (err error) {
	if c.buf, err = r.src.ReadHead(e, c.buf); err != nil {
		return err
	}
	_, more := r.src.Source.(index.HeadReader)
	if r.scan(c.buf, h) || !more {
		return nil
	}
	// A header without an empty line after it: rare, and what is read of it is
	// what ReadHeader says.
	if c.buf, err = r.src.ReadHeader(e, c.buf); err == nil {
		r.scan(c.buf, h)
	}
	return err
}

func (r *reader) scan(b []byte, h *rfc5322.Header) bool {
	defer r.phases.Begin(index.PhaseParse).End()
	return rfc5322.Scan(b, r.mask, h)
}

var nowhere = index.Entry{VSize: -1} // a message that the source has no more

// links adds the message's ids: its own, and the references of RFC 5256
// section 3, REFERENCES step (1): References, or the first id of In-Reply-To
// when References has no valid id.
func (r *reader) links(c *chunk, head []byte, h *rfc5322.Header) (ctl uint8) {
	var id []byte
	var ok bool
	if id, c.scratch, ok = rfc5322.FirstID(h.Raw(head, rfc5322.MessageID), c.scratch); ok {
		ctl = ctlIDNew
		c.hash = append(c.hash, r.key.hash(id))
	}
	before := len(c.hash)
	for raw := h.Raw(head, rfc5322.References); len(raw) > 0; {
		if id, raw, c.scratch, ok = rfc5322.NextID(raw, c.scratch); !ok {
			break
		}
		c.hash = append(c.hash, r.key.hash(id))
	}
	if len(c.hash) == before {
		if id, c.scratch, ok = rfc5322.FirstID(h.Raw(head, rfc5322.InReplyTo), c.scratch); ok {
			c.hash = append(c.hash, r.key.hash(id))
		}
	}
	c.refs = append(c.refs, uint32(len(c.hash)-before))
	return ctl
}

// envelope adds the message's envelope; its links and date were added before.
func (r *reader) envelope(c *chunk, head []byte, h *rfc5322.Header) {
	row := len(c.ctl) - 1
	parent := false
	value := func(i int) ([]byte, bool) {
		f := envelopeFields[i]
		if h.Present&f.Mask() == 0 {
			return nil, false
		}
		c.key = rfc5322.Unfold(c.key[:0], h.Raw(head, f))
		return c.key, true
	}
	if v, ok := value(envInReplyTo); ok && c.refs[row] > 0 {
		var id []byte
		if id, c.scratch, ok = rfc5322.FirstID(v, c.scratch); ok && isParent(v, id) {
			parent = r.key.hash(id) == c.hash[len(c.hash)-1]
		}
	}
	c.env.add(value, c.date[row], c.ctl[row]&ctlDateOK != 0, parent)
}

// gone reports errors that concern one message and not the disk.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// crlfSize is the length of b with every line end as CRLF: RFC822.SIZE.
func crlfSize(b []byte) int64 {
	n := int64(len(b))
	prev := byte(0)
	for _, c := range b {
		if c == '\n' && prev != '\r' {
			n++
		}
		prev = c
	}
	return n
}
