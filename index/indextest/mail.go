package indextest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mailbench/index"
	"mailbench/internal/oracle"
)

// mailbox is a scratch maildir or mbox and what is known of it: the plain model.
type mailbox struct {
	t    T
	r    *rand.Rand
	kind string // "maildir", "mbox", "shelf"
	path string
	now  int64 // seconds; each delivery is later, so that name order is arrival order
	msgs []*mail

	compat oracle.Compat // whose answers are wanted

	shelf *Shelf // of kind "shelf"
	plain bool   // it is opened as a source that can do its duty and no more
}

// mail is one message of the model.
type mail struct {
	key    string
	dir    string // "cur" or "new"; "" in an mbox
	flags  string // sorted capitals
	words  string // sorted keyword letters
	text   string // as delivered
	header []byte
	id     string
	date   int64 // INTERNALDATE
	size   int64 // CRLF
}

func newMailbox(t T, r *rand.Rand) *mailbox {
	t.Helper()
	m := &mailbox{t: t, r: r, kind: "maildir", path: filepath.Join(t.TempDir(), "maildir"), now: 1_600_000_000}
	for _, d := range []string{"cur", "new", "tmp"} {
		if err := os.MkdirAll(filepath.Join(m.path, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *mailbox) file(x *mail) string {
	name := x.key
	if x.dir == "cur" {
		name += ":2," + x.flags + x.words
	}
	return filepath.Join(m.path, x.dir, name)
}

// text makes a message that may answer one that is there, that has gone, or
// that never was; some headers are odd.
func (m *mailbox) text(id string) string {
	r := m.r
	var h strings.Builder
	field := func(name, value string) { fmt.Fprintf(&h, "%s: %s\n", name, value) }
	field("X-Serial", fmt.Sprint(m.now)) // no two headers are alike: an mbox tells messages apart by them
	if r.IntN(20) > 0 {
		field("Message-ID", "<"+id+">")
	}
	var refs []string
	for range r.IntN(4) {
		switch {
		case len(m.msgs) > 0 && r.IntN(8) > 0:
			refs = append(refs, "<"+m.msgs[r.IntN(len(m.msgs))].id+">")
		default:
			refs = append(refs, fmt.Sprintf("<gone%d@example.net>", r.IntN(5)))
		}
	}
	if len(refs) > 0 {
		if r.IntN(4) == 0 {
			field("In-Reply-To", "Your message of today "+refs[0])
		} else {
			field("References", strings.Join(refs, "\n "))
		}
	}
	subject := fmt.Sprintf("Topic %c", 'A'+rune(r.IntN(6)))
	switch r.IntN(8) {
	case 0:
		subject = "Re: " + subject
	case 1:
		subject = "=?utf-8?q?Re:_Gr=C3=BC=C3=9Fe?= " + subject
	case 2:
		subject = "[list] Fwd: " + subject + " (fwd)"
	case 3:
		subject = ""
	}
	if r.IntN(15) > 0 {
		field("Subject", subject)
	}
	switch r.IntN(12) {
	case 0:
	case 1:
		field("Date", "some time ago")
	default:
		field("Date", time.Unix(m.now-int64(r.IntN(5000)), 0).In(time.FixedZone("", 3600*(r.IntN(20)-10))).Format("Mon, 2 Jan 2006 15:04:05 -0700"))
	}
	people := []string{"Ann Example <ann@example.net>", "bob@EXAMPLE.org", `"C, Carl" <carl@example.com>`, "=?utf-8?b?RMO2cnRl?= <d@example.net>", "undisclosed-recipients:;", ""}
	for _, name := range []string{"From", "To", "Cc"} {
		if r.IntN(8) > 0 {
			field(name, people[r.IntN(len(people))])
		}
	}
	if r.IntN(10) == 0 {
		field("tO", "second@example.net") // the first counts, or there is no other
	}
	switch r.IntN(6) {
	case 0:
		field("X-Odd", " spread over\n\tthree lines \n  of text\t")
	case 1:
		field("x-oDD", "")
	case 2:
		field("Reply-To", people[r.IntN(3)])
	}
	h.WriteByte('\n')
	for range r.IntN(5) {
		h.WriteString(strings.Repeat("body ", r.IntN(9)) + "\n")
	}
	return h.String()
}

// deliver puts a new message into new/ or, as a reader does, into cur/.
func (m *mailbox) deliver() *mail {
	m.t.Helper()
	return m.deliverText(m.text)
}

// deliverText is deliver with a text of the caller's for a Message-ID.
func (m *mailbox) deliverText(textOf func(id string) string) *mail {
	m.t.Helper()
	r := m.r
	m.now += int64(1 + r.IntN(900))
	x := &mail{dir: "new", id: fmt.Sprintf("m%d.%d@example.net", m.now, r.IntN(1000)), date: m.now}
	text := textOf(x.id)
	x.text = text
	x.header = []byte(text[:strings.Index(text, "\n\n")+2])
	x.size = int64(len(text) + strings.Count(text, "\n"))
	switch m.kind {
	case "mbox":
		m.append(x)
		return x
	case "shelf":
		m.shelve(x)
		return x
	}
	x.key = fmt.Sprintf("%d.M%dP%d.host", m.now, r.IntN(1e6), r.IntN(3000))
	switch r.IntN(3) {
	case 0:
		x.key += fmt.Sprintf(",S=%d", len(text))
	case 1:
		x.key += fmt.Sprintf(",S=%d,W=%d", len(text), x.size)
	}
	if r.IntN(20) == 0 { // a file name may hold anything but NUL and a slash
		x.key += []string{"\nline", "\r", " blank", "\"quoted\"", "\xff\xfe", "%41", "\\n"}[r.IntN(7)]
	}
	if r.IntN(4) == 0 {
		x.dir, x.flags = "cur", "S"
	}
	tmp := filepath.Join(m.path, "tmp", x.key)
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Chtimes(tmp, time.Unix(x.date, 0), time.Unix(x.date, 0)); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(tmp, m.file(x)); err != nil {
		m.t.Fatal(err)
	}
	m.msgs = append(m.msgs, x)
	return x
}

// setFlags renames a message as a mail reader does; an mbox is changed in place.
func (m *mailbox) setFlags(x *mail, flags, words string) {
	m.t.Helper()
	switch m.kind {
	case "mbox":
		x.flags = strings.ReplaceAll(flags, "P", "") // an mbox has no letter for it
		m.mark()
		return
	case "shelf":
		x.flags, x.words = flags, words
		m.shelf.SetFlags(x.key, index.Flags(bitsOf(flags, "DFPRST")), bitsOf(words, alphabet))
		return
	}
	old := m.file(x)
	x.dir, x.flags, x.words = "cur", flags, words
	if err := os.Rename(old, m.file(x)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mailbox) expunge(x *mail) {
	m.t.Helper()
	m.msgs = slices.DeleteFunc(slices.Clone(m.msgs), func(y *mail) bool { return x == y })
	switch m.kind {
	case "mbox":
		m.rewrite()
		return
	case "shelf":
		m.shelf.Expunge(x.key)
		return
	}
	if err := os.Remove(m.file(x)); err != nil {
		m.t.Fatal(err)
	}
}

// mutate does one thing at random and says what.
func (m *mailbox) mutate() string {
	if len(m.msgs) == 0 || m.r.IntN(2) == 0 {
		return fmt.Sprintf("deliver %q", m.deliver().key)
	}
	x := m.msgs[m.r.IntN(len(m.msgs))]
	if m.r.IntN(3) > 0 {
		flags := ""
		for _, c := range "DFPRST" {
			if m.r.IntN(3) == 0 {
				flags += string(c)
			}
		}
		words := ""
		if m.r.IntN(3) == 0 {
			words = []string{"a", "bz", "c"}[m.r.IntN(3)]
		}
		m.setFlags(x, flags, words)
		return fmt.Sprintf("flag %q %s%s", x.key, flags, words)
	}
	if m.r.IntN(3) == 0 { // the highest UID is the one that is given again by mistake
		x = m.msgs[len(m.msgs)-1]
	}
	m.expunge(x)
	return fmt.Sprintf("expunge %q", x.key)
}

// settle makes the mailbox look as if nothing had happened for an hour.
func (m *mailbox) settle() {
	m.t.Helper()
	if m.kind == "shelf" {
		return
	}
	m.now++
	past := time.Now().Add(-time.Hour).Add(time.Duration(m.now) * time.Microsecond)
	dirs := []string{"cur", "new"}
	if m.kind == "mbox" {
		dirs = []string{""}
	}
	for _, d := range dirs {
		if err := os.Chtimes(filepath.Join(m.path, d), past, past); err != nil {
			m.t.Fatal(err)
		}
	}
}

// oracle is the model's answers for the messages that keep selects; uid names them.
func (m *mailbox) oracle(uid map[string]uint32, keep func(*mail) bool) *oracle.Mailbox {
	var in []oracle.Message
	for _, x := range m.msgs {
		if keep == nil || keep(x) {
			in = append(in, oracle.Message{UID: uid[x.key], Header: x.header, InternalDate: x.date, RFC822Size: x.size})
		}
	}
	return oracle.New(in, m.compat)
}
