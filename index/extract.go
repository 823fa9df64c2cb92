package index

import (
	"mailbench/internal/rfc5322"
	mailsort "mailbench/sort"
)

// Want is a set of things to extract from a header.
type Want uint16

// The things.
const (
	WantIDs     Want = 1 << iota // Message-ID and references
	WantSubject                  // base subject
	WantDate                     // sent date
	WantFrom                     // address keys of SORT FROM, TO, CC
	WantTo
	WantCc
	WantDisplayFrom // RFC 5957
	WantDisplayTo
)

// WantThread is what THREAD and SORT DATE, SUBJECT take.
const WantThread = WantIDs | WantSubject | WantDate

// WantAll is everything.
const WantAll = WantThread | WantFrom | WantTo | WantCc | WantDisplayFrom | WantDisplayTo

// WantFor is what SORT needs from the headers for crit.
func WantFor(crit []mailsort.Criterion) Want {
	var w Want
	for _, c := range crit {
		switch c.Key {
		case mailsort.Date:
			w |= WantDate
		case mailsort.Subject:
			w |= WantSubject
		case mailsort.From:
			w |= WantFrom
		case mailsort.To:
			w |= WantTo
		case mailsort.Cc:
			w |= WantCc
		case mailsort.DisplayFrom:
			w |= WantDisplayFrom
		case mailsort.DisplayTo:
			w |= WantDisplayTo
		}
	}
	return w
}

func (w Want) mask() rfc5322.Mask {
	var m rfc5322.Mask
	add := func(has Want, f ...rfc5322.Field) {
		if w&has != 0 {
			for _, f := range f {
				m |= f.Mask()
			}
		}
	}
	add(WantIDs, rfc5322.MessageID, rfc5322.InReplyTo, rfc5322.References)
	add(WantSubject, rfc5322.Subject)
	add(WantDate, rfc5322.Date)
	add(WantFrom|WantDisplayFrom, rfc5322.From)
	add(WantTo|WantDisplayTo, rfc5322.To)
	add(WantCc, rfc5322.Cc)
	return m
}

// Fields is what SORT and THREAD want of one header. Slices are valid until
// the next Extract with the same Extractor.
type Fields struct {
	ID      []byte   // normalised Message-ID without brackets; nil: none or invalid
	Refs    [][]byte // References, or the first id of In-Reply-To
	Subject []byte   // base subject, casemapped
	Reply   bool     // something was removed from it that marks a reply or forward
	Date    int64    // Date field, unix seconds
	DateOK  bool     // false: INTERNALDATE counts instead (RFC 5256 section 2.2)
	From    []byte   // address keys and display keys, casemapped
	To      []byte
	Cc      []byte

	DisplayFrom []byte
	DisplayTo   []byte
}

// An Extractor turns headers into Fields. It is for one goroutine. With warm
// buffers it does not allocate.
type Extractor struct {
	Want   Want
	Compat Compat

	head  rfc5322.Header
	arena []byte // everything that Fields points to
	ends  []int  // ends of the references in arena
	raw   []byte // scratch of the id reader
}

// Extract reads header into f.
func (x *Extractor) Extract(header []byte, f *Fields) {
	*f = Fields{Refs: f.Refs[:0]}
	rfc5322.Scan(header, x.Want.mask(), &x.head)
	x.arena = x.arena[:0]
	// First everything is appended, then slices are cut: the arena may move.
	var cut [8]int
	if x.Want&WantIDs != 0 {
		x.ids(header)
	}
	cut[0] = len(x.arena)
	idLen := -1
	if x.Want&WantIDs != 0 {
		if id, s, ok := rfc5322.FirstID(x.head.Raw(header, rfc5322.MessageID), x.raw); ok {
			x.arena = append(x.arena, id...)
			idLen = len(id)
			x.raw = s
		} else {
			x.raw = s
		}
	}
	cut[1] = len(x.arena)
	if x.Want&WantSubject != 0 {
		x.arena, f.Reply = x.Compat.SubjectKey(x.arena, x.head.Raw(header, rfc5322.Subject))
	}
	cut[2] = len(x.arena)
	x.key(header, WantFrom, rfc5322.From, mailsort.Compat.AddressKey)
	cut[3] = len(x.arena)
	x.key(header, WantTo, rfc5322.To, mailsort.Compat.AddressKey)
	cut[4] = len(x.arena)
	x.key(header, WantCc, rfc5322.Cc, mailsort.Compat.AddressKey)
	cut[5] = len(x.arena)
	x.key(header, WantDisplayFrom, rfc5322.From, mailsort.Compat.DisplayKey)
	cut[6] = len(x.arena)
	x.key(header, WantDisplayTo, rfc5322.To, mailsort.Compat.DisplayKey)
	cut[7] = len(x.arena)

	part := func(i int) []byte { return x.arena[cut[i-1]:cut[i]:cut[i]] }
	if idLen >= 0 {
		f.ID = part(1)
	}
	f.Subject, f.From, f.To, f.Cc, f.DisplayFrom, f.DisplayTo = part(2), part(3), part(4), part(5), part(6), part(7)
	from := 0
	if x.Want&WantIDs != 0 {
		for _, end := range x.ends {
			f.Refs = append(f.Refs, x.arena[from:end:end])
			from = end
		}
	}
	if x.Want&WantDate != 0 && x.head.Present&rfc5322.Date.Mask() != 0 {
		f.Date, f.DateOK = rfc5322.ParseDateCompat(x.head.Raw(header, rfc5322.Date), rfc5322.Compat(x.Compat))
	}
}

// ids appends the references.
func (x *Extractor) ids(header []byte) {
	x.ends = x.ends[:0]
	// RFC 5256 section 3, REFERENCES step (1): the References header, or, if
	// it has no valid Message-ID, the first valid one of In-Reply-To.
	for raw := x.head.Raw(header, rfc5322.References); len(raw) > 0; {
		id, rest, s, ok := rfc5322.NextID(raw, x.raw)
		x.raw = s
		if !ok {
			break
		}
		x.arena = append(x.arena, id...)
		x.ends = append(x.ends, len(x.arena))
		raw = rest
	}
	if len(x.ends) > 0 {
		return
	}
	id, s, ok := rfc5322.FirstID(x.head.Raw(header, rfc5322.InReplyTo), x.raw)
	if ok {
		x.arena = append(x.arena, id...)
		x.ends = append(x.ends, len(x.arena))
	}
	x.raw = s
}

func (x *Extractor) key(header []byte, w Want, field rfc5322.Field, key func(c Compat, dst, raw []byte) []byte) {
	if x.Want&w != 0 && x.head.Present&field.Mask() != 0 {
		x.arena = key(x.Compat, x.arena, x.head.Raw(header, field))
	}
}
