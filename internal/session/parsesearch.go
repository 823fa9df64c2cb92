package session

import (
	"math"
	"slices"
	"strings"

	"mailbench/index"
)

// The bounds of a search program.
const (
	maxKeys   = 10_000
	maxNested = 100
)

// A searcher reads a search program for a view.
type searcher struct {
	*parser
	plan  *plan
	f     *folder
	seqs  bool // the program has sequence numbers in it
	total int
	depth int

	greatest, uid uint32 // sequence number and UID that * is
}

// charset reads and checks the name of a charset.
func (p *parser) charset() {
	switch name := strings.ToUpper(p.astring()); name {
	case "US-ASCII", "UTF-8":
	default:
		if p.err == nil {
			p.err = refusal("[BADCHARSET (US-ASCII UTF-8)] no charset " + line(bad(name)))
		}
		p.at = len(p.b)
	}
}

// program reads the search keys up to the end.
func (s *searcher) program() *plan {
	s.plan = &plan{}
	root := &node{op: opAnd, field: -1}
	for {
		root.kids = append(root.kids, s.key())
		if s.err != nil || s.at == len(s.b) {
			break
		}
		s.sp()
	}
	root.order()
	s.plan.root = root
	return s.plan
}

func (s *searcher) flagged(f index.Flags) *node { return &node{op: opFlags, flags: f, field: -1} }

func not(n *node) *node { return &node{op: opNot, kids: []*node{n}, field: -1} }

// searchFlags are the keys that ask for a flag, or with UN before them for none.
var searchFlags = map[string]index.Flags{
	"ANSWERED": index.FlagAnswered, "DELETED": index.FlagDeleted, "DRAFT": index.FlagDraft,
	"FLAGGED": index.FlagFlagged, "SEEN": index.FlagSeen,
}

// singleFields are those that a message has once at most (RFC 5322 section 3.6):
// the index, which knows the first of a name, can answer for them.
var singleFields = []string{"date", "subject", "from", "sender", "reply-to", "to", "cc", "bcc", "in-reply-to", "message-id"}

func (s *searcher) key() *node {
	s.total++
	if s.depth++; s.depth > maxNested || s.total > maxKeys {
		s.fail("the search program is too large")
	}
	defer func() { s.depth-- }()
	none := &node{op: opNone, field: -1}
	if s.err != nil {
		return none
	}
	switch c := s.peek(); {
	case c == '(':
		and := &node{op: opAnd, field: -1}
		s.list(func() { and.kids = append(and.kids, s.key()) })
		if len(and.kids) == 0 {
			s.fail("an empty list of search keys")
		}
		return and
	case c == '*' || c >= '0' && c <= '9':
		s.seqs = true
		return &node{op: opSeq, set: starred(s.set(), s.greatest), field: -1}
	}
	name := s.upper()
	if f, ok := searchFlags[name]; ok {
		return s.flagged(f)
	}
	if f, ok := searchFlags[strings.TrimPrefix(name, "UN")]; ok {
		return not(s.flagged(f))
	}
	switch name {
	case "ALL":
		return &node{op: opAll, field: -1}
	case "OLD":
		return &node{op: opAll, field: -1} // no message is \Recent
	case "NEW", "RECENT":
		return none
	case "KEYWORD", "UNKEYWORD":
		s.sp()
		n := s.keyword(s.atom())
		if name == "UNKEYWORD" {
			n = not(n)
		}
		return n
	case "NOT":
		s.sp()
		return not(s.key())
	case "OR":
		s.sp()
		a := s.key()
		s.sp()
		return &node{op: opOr, kids: []*node{a, s.key()}, field: -1}
	case "UID":
		s.sp()
		return &node{op: opUID, set: starred(s.set(), s.uid), field: -1}
	case "SINCE", "SENTSINCE", "BEFORE", "SENTBEFORE", "ON", "SENTON":
		return s.day(name)
	case "LARGER", "SMALLER":
		s.sp()
		n := &node{op: opSize, from: math.MinInt64, to: math.MaxInt64, field: -1}
		if size := int64(s.number()); name == "LARGER" {
			n.from = size
		} else {
			n.to = size
		}
		return n
	case "SUBJECT", "FROM", "TO", "CC", "BCC":
		s.sp()
		return s.header(name, s.astring())
	case "HEADER":
		s.sp()
		field := s.astring()
		s.sp()
		return s.header(field, s.astring())
	case "BODY", "TEXT":
		s.sp()
		n := &node{op: opBody, needle: newNeedle(s.astring()), field: -1}
		if name == "TEXT" {
			n.op = opText
		}
		if len(n.needle) == 0 {
			n.op = opAll
		}
		return n
	}
	s.fail("nothing is known of search key %s", name)
	return none
}

func (s *searcher) keyword(name string) *node {
	if f, ok := flagOf(name); ok && f == index.FlagForwarded {
		return s.flagged(f)
	}
	if bits, ok := s.f.words.bit(name); ok {
		return &node{op: opWords, words: bits, field: -1}
	}
	return &node{op: opNone, field: -1}
}

func (s *searcher) day(name string) *node {
	s.sp()
	day := s.date()
	n := &node{op: opDate, field: -1}
	kind, sent := strings.CutPrefix(name, "SENT")
	if sent {
		n.op, n.name = opSent, "date"
		n.field = s.field("date")
	}
	switch kind {
	case "SINCE":
		n.from, n.to = day, lastDay
	case "BEFORE":
		n.from, n.to = firstDay, day
	default:
		n.from, n.to = day, day+1
	}
	return n
}

func (s *searcher) header(name, value string) *node {
	name = strings.ToLower(name)
	n := &node{op: opHeader, name: name, needle: newNeedle(strings.ReplaceAll(value, "\t", " ")), field: -1}
	if slices.Contains(singleFields, name) {
		n.field = s.field(name)
	}
	return n
}

// field is the place of a field among those that the index is asked for.
func (s *searcher) field(name string) int {
	i := slices.Index(s.plan.fields, name)
	if i < 0 {
		i = len(s.plan.fields)
		s.plan.fields = append(s.plan.fields, name)
	}
	return i
}
