package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Truth is the answers that a spec's corpus must give, computed from the
// generator's decisions. It holds about 70 bytes a message. Message n is UID n,
// in an mbox as in a maildir. Its methods may be called from several
// goroutines.
//
// REFERENCES, ORDEREDSUBJECT and the sort keys follow RFC 5256 (DISPLAYFROM and
// DISPLAYTO RFC 5957), REFS is Dovecot's: REFERENCES without the gathering by
// subject, threads in the order of the latest sent date in them.
type Truth struct {
	Spec Spec
	Info Info

	pl       planner
	links    []refLink
	id       []int32 // by which others can name the message, noID
	subject  []uint32
	reply    []bool
	deleted  []bool
	bareTo   []bool
	sent     []int64
	internal []int64
	vsize    []uint32
	from     []who
	to, cc   []who

	// Ranks by collation. 0 is the empty string.
	subjects            []uint32 // of each number in subject
	mailbox, long, addr []uint32 // of each person: mailbox, display name or else address, address
	building            map[subjectKey]uint32
}

// ErrAnswer is wrapped by errors about questions that Truth cannot answer.
var ErrAnswer = errors.New("corpus: no such answer")

// NewTruth generates the corpus once and keeps the decisions: about 6
// microseconds a message. The error is that of spec.Check.
func NewTruth(spec Spec) (*Truth, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	g := Generate(spec)
	t := newTruth(g)
	for g.step() {
		t.add(g)
	}
	t.finish(g)
	return t, nil
}

func newTruth(g *Generator) *Truth {
	return &Truth{Spec: g.spec, pl: g.pl, building: make(map[subjectKey]uint32)}
}

// add takes note of the message that g made last.
func (t *Truth) add(g *Generator) {
	p := &g.plan
	key := p.baseKey()
	if key.kind() == subjEmpty {
		key = subjEmpty
	}
	number, ok := t.building[key]
	if !ok {
		number = uint32(len(t.building))
		t.building[key] = number
	}
	t.subject = append(t.subject, number)
	t.links = append(t.links, refLink{p.sid, p.parent, p.refs})
	t.id = append(t.id, p.id())
	t.reply = append(t.reply, p.reply)
	t.deleted = append(t.deleted, strings.Contains(g.flags, "T"))
	t.bareTo = append(t.bareTo, p.bareTo)
	t.sent = append(t.sent, p.sentOrInternal())
	t.internal = append(t.internal, p.internal)
	t.vsize = append(t.vsize, uint32(g.vsize))
	t.from = append(t.from, p.from)
	t.to, t.cc = append(t.to, p.to), append(t.cc, p.cc)
}

// finish ranks the texts.
func (t *Truth) finish(g *Generator) {
	t.Info = g.Info()
	texts := make([]string, len(t.building))
	var buf []byte
	for key, number := range t.building { // each to its own place: the map's order does not matter
		buf = key.appendText(buf[:0])
		texts[number] = collate(string(buf))
	}
	t.building = nil
	t.subjects = ranks(texts)

	n := len(g.w.people)
	mailbox, both := make([]string, n), make([]string, 2*n)
	for i := range g.w.people {
		p := &g.w.people[i]
		mailbox[i], both[i], both[n+i] = collate(p.mailbox), collate(p.display), collate(p.bare())
		if p.display == "" {
			both[i] = both[n+i]
		}
	}
	t.mailbox = ranks(mailbox)
	all := ranks(both)
	t.long, t.addr = all[:n], all[n:]
}

// ranks gives each string its place in octet order, equal ones the same, from
// 1 on; the empty string is 0.
func ranks(texts []string) []uint32 {
	order := make([]uint32, len(texts))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(texts[a], texts[b]) })
	rank := make([]uint32, len(texts))
	last, at := "", uint32(0)
	for _, i := range order {
		if texts[i] != last {
			last = texts[i]
			at++
		}
		rank[i] = at
	}
	return rank
}

// Messages returns how many messages there are.
func (t *Truth) Messages() int { return len(t.id) }

// Undeleted returns the UIDs of the messages without the flag T, ascending.
func (t *Truth) Undeleted() []uint32 {
	uids := make([]uint32, 0, len(t.deleted))
	for i, d := range t.deleted {
		if !d {
			uids = append(uids, uint32(i+1))
		}
	}
	return uids
}

// rows turns UIDs into row numbers; nil means all.
func (t *Truth) rows(uids []uint32) ([]int32, error) {
	n := len(t.id)
	if uids == nil {
		rows := make([]int32, n)
		for i := range rows {
			rows[i] = int32(i)
		}
		return rows, nil
	}
	rows := make([]int32, len(uids))
	for i, uid := range uids {
		if uid == 0 || int(uid) > n || i > 0 && uid <= uids[i-1] {
			return nil, fmt.Errorf("%w: UID %d (they must ascend, 1 to %d)", ErrAnswer, uid, n)
		}
		rows[i] = int32(uid - 1)
	}
	return rows, nil
}

// Answer returns the line that answers a question, "* THREAD ..." or
// "* SORT ...", without a line end. The question is "thread references",
// "thread refs", "thread orderedsubject", or "sort " and keys as for Sort.
// uids, ascending, are the messages that a search found; nil means all.
func (t *Truth) Answer(question string, uids []uint32) ([]byte, error) {
	kind, rest, _ := strings.Cut(question, " ")
	switch kind {
	case "thread":
		return t.thread(rest, uids)
	case "sort":
		order, err := t.Sort(rest, uids)
		if err != nil {
			return nil, err
		}
		line := []byte("* SORT")
		for _, uid := range order {
			line = appendInt(append(line, ' '), int(uid))
		}
		return line, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrAnswer, question)
}

// Digest returns AnswerDigest of the whole mailbox's Answer.
func (t *Truth) Digest(question string) (string, error) {
	line, err := t.Answer(question, nil)
	if err != nil {
		return "", err
	}
	return AnswerDigest(line), nil
}

// AnswerDigest is how answers are compared without keeping them: 32
// hexadecimal digits of the line's SHA-256, line end excluded.
func AnswerDigest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:16])
}

// Questions are those whose digests every Fixture carries.
var Questions = []string{
	"thread references", "thread refs", "thread orderedsubject",
	"sort arrival", "sort date", "sort subject", "sort from", "sort to", "sort cc", "sort size",
	"sort reverse date", "sort subject reverse date",
}

// Digests answers all Questions.
func (t *Truth) Digests() map[string]string {
	all := make(map[string]string, len(Questions))
	for _, q := range Questions {
		d, err := t.Digest(q)
		if err != nil {
			panic(err) // Questions are well-formed
		}
		all[q] = d
	}
	return all
}
