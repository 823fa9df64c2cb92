package column

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"mailbench/index"
	"mailbench/internal/oracle"
)

// fake is mail in memory.
type fake struct {
	mails map[string]*fakeMail
	next  int
	state uint64
	hide  map[string]bool // cannot be read now
}

type fakeMail struct {
	header string
	date   int64
	flags  index.Flags
}

func newFake() *fake { return &fake{mails: map[string]*fakeMail{}, hide: map[string]bool{}} }

func (f *fake) add(header string, date int64) string {
	f.next++
	f.state++
	key := fmt.Sprintf("%010d.M%06dP1.example", 1_500_000_000+f.next, f.next%1_000_000)
	f.mails[key] = &fakeMail{header: header, date: date}
	return key
}

func (f *fake) remove(key string) {
	delete(f.mails, key)
	f.state++
}

func (f *fake) keys() []string { return slices.Sorted(maps.Keys(f.mails)) }

func (f *fake) Kind() string                { return "maildir" }
func (f *fake) Path() string                { return "fake" }
func (f *fake) UIDList() (string, bool)     { return "", false }
func (f *fake) Close() error                { return nil }
func (f *fake) State() (index.State, error) { return index.State{A: f.state}, nil }

func (f *fake) List(l *index.Listing) error {
	l.Entries = l.Entries[:0]
	l.Digest = index.Digest{}
	for _, k := range f.keys() {
		m := f.mails[k]
		l.Entries = append(l.Entries, index.Entry{Key: k, File: k + ":2," + m.flags.String(), Folder: "cur", Flags: m.flags, Size: -1, VSize: -1, Off: -1})
		l.Digest.Sum[0] += xxhash.Sum64String(k + m.flags.String())
		l.Digest.N++
	}
	return nil
}

func (f *fake) Order(es []index.Entry) {
	slices.SortFunc(es, func(a, b index.Entry) int { return strings.Compare(a.Key, b.Key) })
}

func (f *fake) mail(e *index.Entry) (*fakeMail, error) {
	m := f.mails[e.Key]
	if m == nil || f.hide[e.Key] {
		return nil, fmt.Errorf("fake: %s: %w", e.Key, fs.ErrNotExist)
	}
	return m, nil
}

func (f *fake) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	m, err := f.mail(e)
	if err != nil {
		return buf[:0], err
	}
	return append(buf[:0], m.header...), nil
}

func (f *fake) ReadMessage(e *index.Entry, buf []byte) ([]byte, error) {
	return f.ReadHeader(e, buf)
}

func (f *fake) Stat(e *index.Entry) (int64, int64, error) {
	m, err := f.mail(e)
	if err != nil {
		return 0, 0, err
	}
	return int64(len(m.header)), m.date, nil
}

// named is a fake that makes entries of what an index knows, as a maildir does:
// the log of an index is enough for it.
type named struct{ *fake }

func (named) NameEntry(e *index.Entry, key []byte, flags index.Flags, dir uint8, keywords uint32, buf []byte) []byte {
	buf = append(buf[:0], key...)
	*e = index.Entry{Key: string(key), File: string(key) + ":2," + flags.String(), Folder: index.Folder(dir), Dir: dir, Flags: flags, Keywords: keywords, Size: -1, VSize: -1, Off: -1}
	return buf
}

// counted counts reads; it is apart because readers run side by side.
type counted struct {
	*fake
	ch chan struct{}
}

func (c *counted) ReadHeader(e *index.Entry, buf []byte) ([]byte, error) {
	c.ch <- struct{}{}
	return c.fake.ReadHeader(e, buf)
}

var subjects = []string{"a ship", "The harbour", "rope", "Re: rope", "RE[2]: a  ship", "[list] rope (fwd)", "Fwd: sails and wind",
	"=?utf-8?q?Segel_und_W=C3=B6rter?=", "re: =?utf-8?q?Segel_und_W=C3=B6rter?=", "", "[fwd: rope]", "zebra"}

var people = []string{"Ann <ann@example.org>", "bob@example.org", "\"Cyd, X\" <cyd@example.net>", "=?utf-8?q?=C3=84nne?= <zz@example.org>",
	"friends: ann@example.org, bob@example.org;", "", "dora@example.com (Dora)"}

// randomMail makes a header out of few ids, so that everything collides.
func randomMail(r *rand.Rand) (header string, date int64) { return mailOf(r, 60) }

// mailOf makes a header out of ids ids; with many of them most threads have
// nothing to do with each other.
func mailOf(r *rand.Rand, ids int) (header string, date int64) {
	id := func() string {
		if r.IntN(30) == 0 {
			return fmt.Sprintf("<id %d>", r.IntN(40))
		}
		return fmt.Sprintf("<m%d@example.org>", r.IntN(ids))
	}
	var b strings.Builder
	if r.IntN(20) > 0 {
		fmt.Fprintf(&b, "Message-ID: %s\n", id())
	}
	switch r.IntN(5) {
	case 0:
	case 1:
		fmt.Fprintf(&b, "In-Reply-To: %s\n", id())
	default:
		b.WriteString("References:")
		last := ""
		for range r.IntN(5) {
			last = id()
			fmt.Fprintf(&b, " %s", last)
			if r.IntN(4) == 0 {
				b.WriteString("\n\t")
			}
		}
		if last == "" {
			last = "prose"
		}
		fmt.Fprintf(&b, "\nIn-Reply-To: %s\n", last)
	}
	switch r.IntN(8) {
	case 0: // none
	case 1:
		b.WriteString("Date: yesterday\n")
	case 2:
		fmt.Fprintf(&b, "Date: %d May 2021 10:00:00 GMT\n", 1+r.IntN(5))
	default:
		fmt.Fprintf(&b, "Date: Mon, %02d May 2021 10:00:%02d +0%d00 (X)\n", 1+r.IntN(28), r.IntN(3), r.IntN(3))
	}
	if r.IntN(15) > 0 {
		s := subjects[r.IntN(len(subjects))]
		if r.IntN(6) == 0 || ids > 60 {
			s += fmt.Sprint(" ", r.IntN(1000))
		}
		fmt.Fprintf(&b, "Subject: %s\n", s)
	}
	for _, f := range []string{"From", "To", "Cc"} {
		if p := people[r.IntN(len(people))]; p != "" {
			if r.IntN(5) == 0 {
				p = fmt.Sprintf("n%d@example.org", r.IntN(500))
			}
			fmt.Fprintf(&b, "%s: %s\n", f, p)
		}
	}
	b.WriteString("\n")
	return b.String(), 1_600_000_000 + int64(r.IntN(50))
}

// box is the mailbox as the oracle sees it, under the UIDs that mb gave.
func (f *fake) box(mb index.Mailbox, pick func(index.Message) bool) ([]oracle.Message, error) {
	var out []oracle.Message
	err := mb.Messages(func(m index.Message) bool {
		if !pick(m) {
			return true
		}
		o := oracle.Message{UID: m.UID}
		if x := f.mails[m.Key]; x != nil && !f.hide[m.Key] {
			o.Header, o.InternalDate = []byte(x.header), x.date
			o.RFC822Size = int64(len(x.header) + strings.Count(x.header, "\n"))
		}
		out = append(out, o)
		return true
	})
	return out, err
}
