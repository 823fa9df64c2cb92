package peer

import (
	"encoding/json"
	"fmt"
	"reflect"
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
		return c, c.known(rfc, compat, o)
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
func (c *Checked) known(rfc, compat answer, o VerifyOptions) error {
	c.Why = "as ours with -compat dovecot"
	c.Moved = rfc.moved(compat)
	c.First, _ = rfc.first(compat)
	const most = 2000 // messages that are looked at
	uids := rfc.suspects(compat)
	if len(uids) > most {
		uids = uids[:most]
	}
	one, err := o.RFC.Explain(uids)
	if err != nil {
		return err
	}
	two, err := o.Compat.Explain(uids)
	if err != nil {
		return err
	}
	sections := map[string]bool{}
	for i := range min(len(one), len(two)) {
		var a, b map[string]any
		if err := firstOf(json.Unmarshal(one[i], &a), json.Unmarshal(two[i], &b)); err != nil {
			return err
		}
		read := false
		for _, s := range differenceSections {
			for _, field := range s.fields {
				if !reflect.DeepEqual(a[field], b[field]) {
					sections[s.text], read = true, true
				}
			}
		}
		if read {
			uid, ok := a["uid"].(float64)
			if !ok {
				return fmt.Errorf("verify: an explanation without a uid: %.100s", one[i])
			}
			c.UIDs = append(c.UIDs, uint32(uid))
		}
	}
	for _, s := range differenceSections {
		if sections[s.text] {
			c.Sections = append(c.Sections, s.text)
		}
	}
	slices.Sort(c.UIDs)
	return nil
}

// differenceSections are the rows of docs/DIFFERENCES.md by the fields of an
// explanation that show them.
var differenceSections = []struct {
	fields []string
	text   string
}{
	{[]string{"base_subject", "is_reply"}, "subjects: white space and the order of the steps, RFC 5256 section 2.1 and RFC 5051"},
	{[]string{"sent_unix", "date_unix"}, "dates: RFC 5322 section 4.3, RFC 5256 section 2.2"},
	{[]string{"message_id", "references", "in_reply_to"}, "message ids: RFC 5322 section 3.2.3, References with more than 1,000 ids"},
	{[]string{"from", "to", "cc"}, "addresses: RFC 5322 section 4.4, RFC 2047 section 5"},
}

// String is the line of a report: "THREAD REFERENCES: same".
func (c Checked) String() string {
	s := c.Question + ": " + c.Result
	if c.Moved > 0 {
		s += fmt.Sprintf(", %d messages stand elsewhere", c.Moved)
	}
	if c.Why != "" {
		s += " (" + c.Why + ")"
	}
	return s
}
