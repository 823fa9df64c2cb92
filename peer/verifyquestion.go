package peer

import (
	"fmt"
	"slices"
	"strings"

	"mailbench/peer/imap"
)

// A question is a THREAD algorithm or the keys of a SORT.
type question struct{ thread, sort string }

// questions are everything that both sides may be asked.
var questions = func() (all []question) {
	for _, alg := range []string{"REFERENCES", "REFS", "ORDEREDSUBJECT"} {
		all = append(all, question{thread: alg})
	}
	keys := []string{"ARRIVAL", "DATE", "SUBJECT", "FROM", "TO", "CC", "SIZE", "DISPLAYFROM", "DISPLAYTO"}
	for _, key := range keys {
		all = append(all, question{sort: key})
	}
	for _, key := range keys {
		all = append(all, question{sort: "REVERSE " + key})
	}
	return append(all, question{sort: "SUBJECT REVERSE DATE"})
}()

func (q question) name() string {
	if q.thread != "" {
		return "THREAD " + q.thread
	}
	return "SORT (" + q.sort + ")"
}

// needs is the capability without which it is not asked.
func (q question) needs() string {
	switch {
	case q.thread != "":
		return "THREAD=" + q.thread
	case strings.Contains(q.sort, "DISPLAY"):
		return "SORT=DISPLAY"
	}
	return "SORT"
}

// theirs asks the system.
func (q question) theirs(s *asker) (answer, error) {
	if q.thread != "" {
		line, err := s.one("UID THREAD "+q.thread+" UTF-8 ALL", "THREAD")
		if err != nil {
			return answer{}, err
		}
		return threadAnswer(line)
	}
	line, err := s.one("UID SORT ("+q.sort+") UTF-8 ALL", "SORT")
	if err != nil {
		return answer{}, err
	}
	uids, err := imap.ParseNumbers(nil, line, "SORT")
	return answer{uids: uids}, err
}

// ours asks one of our readings.
func (q question) ours(a Answers) (answer, error) {
	if q.thread != "" {
		line, err := a.Thread(q.thread)
		if err != nil {
			return answer{}, err
		}
		return threadAnswer(line)
	}
	uids, err := a.Sort(q.sort)
	return answer{uids: uids}, err
}

// check asks everybody and compares.
func (q question) check(s *asker, o VerifyOptions) (Checked, error) {
	c := Checked{Question: q.name(), Result: NotAsked}
	if !s.has(q.needs()) {
		c.Why = "the server has no " + q.needs()
		return c, nil
	}
	theirs, err := q.theirs(s)
	if err != nil {
		return c, err
	}
	rfc, err := q.ours(o.RFC)
	if err != nil {
		return c, err
	}
	if theirs.equal(rfc) {
		c.Result = Same
		return c, nil
	}
	compat, err := q.ours(o.Compat)
	if err != nil {
		return c, err
	}
	if theirs.equal(compat) {
		c.Result = Known
		return c, c.known(q, rfc, compat, o)
	}
	if t, ok := o.System.(tieless); ok && t.ordersNoTies() && q.sort != "" {
		rfc.uids, compat.uids = slices.Clone(rfc.uids), slices.Clone(compat.uids)
		for _, side := range []struct {
			by      Answers
			forward answer
		}{{o.RFC, rfc}, {o.Compat, compat}} {
			only, err := q.butTies(side.by, theirs.uids, side.forward.uids)
			if err != nil {
				return c, err
			}
			if only {
				c.Result, c.Moved = Known, side.forward.moved(theirs)
				c.Why = "among messages with the same key, which this server leaves in no order (RFC 5256 section 3)"
				return c, nil
			}
		}
	}
	c.Result = Differs
	// Whose reading is the nearer one shows what is wrong besides what is known.
	nearer, reading, by := rfc, "RFC", o.RFC
	c.Moved = rfc.moved(theirs)
	if n := compat.moved(theirs); n < c.Moved {
		nearer, reading, by, c.Moved = compat, "Dovecot's reading", o.Compat, n
	}
	c.Why = "compared with ours by the " + reading
	if by == o.Compat {
		c.Why = "compared with ours in " + reading
	}
	at, uids := nearer.first(theirs)
	c.First = at
	lines, err := by.Explain(uids)
	for _, l := range lines {
		c.Explained = append(c.Explained, string(l))
	}
	return c, err
}

// known says which messages are read differently, and by which section of
// docs/DIFFERENCES.md.
func (c *Checked) known(q question, rfc, compat answer, o VerifyOptions) error {
	c.Why = "as ours with -compat dovecot"
	c.Moved = rfc.moved(compat)
	c.First, _ = rfc.first(compat)
	if o.Readings == nil {
		return nil
	}
	readings, err := o.Readings()
	if err != nil {
		return err
	}
	for _, part := range q.parts() {
		if uids := readings[part]; len(uids) > 0 {
			c.UIDs = append(c.UIDs, uids...)
			if s := differenceSections[part]; !slices.Contains(c.Sections, s) {
				c.Sections = append(c.Sections, s)
			}
		}
	}
	slices.Sort(c.UIDs)
	c.UIDs = slices.Compact(c.UIDs)
	return nil
}

// parts are what the answer is made of.
func (q question) parts() (parts []Part) {
	switch q.thread {
	case "REFERENCES":
		return []Part{PartIDs, PartSubject, PartDate}
	case "REFS":
		return []Part{PartIDs, PartDate}
	case "ORDEREDSUBJECT":
		return []Part{PartSubject, PartDate}
	}
	for _, key := range strings.Fields(q.sort) {
		parts = append(parts, Part(strings.ToLower(key))) // REVERSE, SIZE and ARRIVAL are none
	}
	return parts
}

// differenceSections are the rows of docs/DIFFERENCES.md by what they are about.
var differenceSections = map[Part]string{
	PartSubject:     "white space in subjects and the order of the steps, RFC 5256 section 2.1 and RFC 5051; encoded words, RFC 2047 section 5",
	PartDate:        "dates, RFC 5322 section 4.3 and RFC 5256 section 2.2",
	PartIDs:         "message ids, RFC 5322 section 3.2.3; References with more than 1,000 ids",
	PartFrom:        addressSection,
	PartTo:          addressSection,
	PartCc:          addressSection,
	PartDisplayFrom: displaySection,
	PartDisplayTo:   displaySection,
}

const (
	addressSection = "addresses, RFC 5322 section 4.4"
	displaySection = "encoded words inside other text and in unknown charsets, RFC 2047 section 5; addresses, RFC 5322 section 4.4"
)

// String is the line of a report: "THREAD REFERENCES: same".
func (c Checked) String() string {
	s := c.Question + ": " + c.Result
	switch {
	case c.Moved == 1:
		s += ", 1 message stands elsewhere"
	case c.Moved > 1:
		s += fmt.Sprintf(", %d messages stand elsewhere", c.Moved)
	}
	if c.Why != "" {
		s += " (" + c.Why + ")"
	}
	return s
}
