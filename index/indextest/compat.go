package indextest

import (
	"fmt"
	"path/filepath"
	"slices"

	"mailbench/index"
	"mailbench/internal/oracle"
)

// readTwoWays are headers of which the RFC and Dovecot read something else:
// the sent date, the base subject, the mailbox of an address, a display name.
var readTwoWays = []string{
	"Date: Sat, 5 Sep 2020 10:00:00\nSubject: Topic A\nFrom: ann@example.net\n",
	"Date: 5 Sep 20 09:00 EST\nSubject: [list] Re:  Topic\tA [fwd: x]\nFrom: Bob\n",
	"Subject: =?utf-8?q?Re=3A?= [fwd: Topic B]\nFrom: carl at example <carl>\nTo: dora\n",
	"Subject: Re: Topic  \t B\nFrom: =?utf-8?q?=C7=85?= <z@example.org>\nCc: a b c\n",
	"Date: Sat, 5 Sep 2020 1:2:3 GMT\nSubject: Topic B\nFrom: erik\nTo: Bob\n",
}

// compat: an index that was made and asked under one Options.Compat, opened
// under the other, answers as that one reads, and so back, under the UIDs that
// it gave.
func compat(t T, k *kit) {
	m := newMailbox(t, k.rand(350))
	for i := range 15 {
		if m.deliver(); i%3 == 0 {
			m.deliverText(func(id string) string {
				return fmt.Sprintf("Message-ID: <%s>\n%s\nbody\n", id, readTwoWays[i/3])
			})
		}
	}
	m.settle()
	dir := filepath.Join(t.TempDir(), "index")
	seen := newUIDsSeen()
	for i, dovecot := range []bool{false, true, true, false, true, false} {
		o, as := k.o.Index, "the RFC"
		o.Compat, m.compat = index.CompatRFC, oracle.RFC
		if dovecot {
			o.Compat, m.compat, as = index.CompatDovecot, oracle.Dovecot, "Dovecot"
		}
		if i >= 3 { // rows that are new to one of the two
			m.mutate()
			m.deliver()
			m.settle()
		}
		when := fmt.Sprintf("opening %d, Compat as %s has it", i, as)
		box, err := k.openWith(m, dir, quick, o)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if c := mustSync(t, box); c.Rebuilt && i > 0 {
			t.Fatalf("%s: rebuilt: Compat changes no UID", when)
		}
		m.mustAnswer(t, box, i == 4, when)
		if wrong := seen.wrong(box); wrong != "" {
			t.Fatalf("%s: %s", when, wrong)
		}
		mustCheck(t, box, when)
		mustClose(t, box)
	}
	m.differs(t)
}

// differs holds that the two readings could have been told apart.
func (m *mailbox) differs(t T) {
	t.Helper()
	uid := map[string]uint32{}
	for i, x := range m.msgs {
		uid[x.key] = uint32(i + 1)
	}
	m.compat = oracle.RFC
	rfc := m.oracle(uid, nil)
	m.compat = oracle.Dovecot
	dovecot := m.oracle(uid, nil)
	for _, keys := range sortKeys {
		if !slices.Equal(rfc.Sort(keys), dovecot.Sort(keys)) {
			return
		}
	}
	t.Fatal("kit: no order tells the RFC's reading from Dovecot's")
}
